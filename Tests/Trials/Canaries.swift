import Foundation

/// Secrets that must be found nowhere but in their files and on the wire, in all the forms a
/// careless line may give them.
package struct Canaries: Sendable {
  static let licence = "CANARY+licence=7f3a99"
  static let keyID = "PKCANARYID0123456789"
  static let keySecret = "CANARYsecret+abc/def0123456789"
  /// What follows `cndl_` in a token of the gateway that is in force, and in one that is not.
  static let token = "CANARYtokenInForce0123456789abcdefghijkLMNO"
  static let refusedToken = "CANARYtokenRefused0123456789abcdefghijkLMNO"
  /// Of the database's URL.
  static let password = "CANARYpassword+xyz/uvw=42"

  private static let all = [
    licence, keyID, keySecret, token, refusedToken, password,
  ]

  static let forms: [(name: String, bytes: [UInt8])] = all.flatMap { canary in
    forms(of: canary).map { (canary, Array($0.utf8)) }
  }

  static func percentEncoded(_ text: String) -> String {
    text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? text
  }

  private static func forms(of canary: String) -> Set<String> {
    let percent = percentEncoded(canary)
    let hex = canary.utf8.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }
    return [
      canary, percent, lowercasedEscapes(percent), hex.joined(), hex.joined().uppercased(),
      base64(canary, after: 0), base64(canary, after: 1), base64(canary, after: 2),
    ]
  }

  private static func lowercasedEscapes(_ text: String) -> String {
    var left = 0
    return String(
      text.map { character in
        if character == "%" { left = 3 }
        left -= 1
        return left >= 0 ? Character(character.lowercased()) : character
      })
  }

  /// What stands in any Base64 text in which the canary follows so many other bytes: the groups it
  /// fills alone.
  private static func base64(_ canary: String, after bytes: Int) -> String {
    let text = (Data(count: bytes) + Data(canary.utf8)).base64EncodedString()
    return String(text.dropFirst(bytes == 0 ? 0 : 4).prefix(canary.utf8.count * 4 / 3 - 8))
  }

  /// The canaries that stand in it. One pass over the bytes: a day's journal is searched.
  static func found(in bytes: Data) -> Set<String> {
    var found: Set<String> = []
    bytes.withUnsafeBytes { bytes in
      beginnings.withUnsafeBufferPointer { beginnings in
        var place = 0
        while place + 1 < bytes.count {
          if beginnings[Int(bytes[place]) << 8 | Int(bytes[place + 1])] {
            let rest = bytes[place...]
            for form in forms where rest.starts(with: form.bytes) { found.insert(form.name) }
          }
          place += 1
        }
      }
    }
    return found
  }

  /// By its first two bytes, whether a form begins so.
  private static let beginnings: [Bool] = {
    var beginnings = Array(repeating: false, count: 1 << 16)
    for form in forms { beginnings[Int(form.bytes[0]) << 8 | Int(form.bytes[1])] = true }
    return beginnings
  }()
}
