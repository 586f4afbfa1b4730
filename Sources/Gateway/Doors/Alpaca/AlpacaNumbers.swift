/// Alpaca's clients send amounts as JSON numbers, `"qty": 100.0`. Read as binary numbers they could
/// lose digits: here each literal becomes a string of the same characters.

import Foundation
import HTTPTypes

enum AlpacaNumbers {
  /// - Throws: 400 of what is no JSON object.
  static func requireObject(_ json: [UInt8]) throws(Problem) {
    guard (try? JSONSerialization.jsonObject(with: Data(json))) is [String: Any] else {
      throw Problem(
        .badRequest, code: "invalid_argument", title: "The body is not the JSON that is expected.")
    }
  }

  /// The object with every number in quotes.
  /// - Throws: 400 of what is no JSON.
  static func quoted(_ json: [UInt8]) throws(Problem) -> Data {
    try requireObject(json)
    var quoted: [UInt8] = []
    quoted.reserveCapacity(json.count + 64)
    var (isText, isEscaped, isNumber) = (false, false, false)
    for byte in json {
      // Of JSON that is well formed: a number begins with a digit or a minus.
      let belongs = isNumber ? isOfNumber(byte) : byte == UInt8(ascii: "-") || isDigit(byte)
      if !isText, belongs != isNumber {
        quoted.append(UInt8(ascii: "\""))
        isNumber = belongs
      }
      quoted.append(byte)
      if isText {
        isText = isEscaped || byte != UInt8(ascii: "\"")
        isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
      } else {
        isText = byte == UInt8(ascii: "\"")
      }
    }
    return Data(quoted)
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }

  private static func isOfNumber(_ byte: UInt8) -> Bool {
    isDigit(byte) || "+-.eE".utf8.contains(byte)
  }

  static func decode<Body: Decodable>(_ type: Body.Type, from json: [UInt8]) throws(Problem) -> Body
  {
    let data = try quoted(json.isEmpty ? Array("{}".utf8) : json)
    return try JSONBody.decode(type, from: data, orElse: .unprocessableContent)
  }

  /// A number in the document: what generators make of it is exact in binary.
  static func schema(_ pattern: TextPattern) -> Schema {
    .either(
      .matching(pattern),
      .encoded(#"{"type":"number","minimum":1,"maximum":999999,"multipleOf":1}"#))
  }
}
