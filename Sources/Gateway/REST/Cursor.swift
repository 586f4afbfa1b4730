/// Where the next page begins, in a text that clients must not read. It holds one key and fits
/// one request: a damaged one, or that of another request, is refused. No secret: a forged one
/// gives no more than a place in a list that everybody may read.

import Foundation
import HTTPTypes
import Market

enum Cursor {
  static func text(_ value: Int64, of request: String) -> String {
    text(key: String(value, radix: 36), of: request)
  }

  static func read(_ text: String, of request: String) -> Int64? {
    guard let key = key(in: text, of: request), let value = Int64(key, radix: 36),
      String(value, radix: 36) == key
    else { return nil }
    return value
  }

  /// - Parameter key: means the same to every gateway.
  static func text(key: String, of request: String) -> String {
    Data("\(key).\(check(key, request))".utf8).base64EncodedString()
      .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
  }

  static func key(in text: String, of request: String) -> String? {
    var padded = text.replacing("-", with: "+").replacing("_", with: "/")
    while padded.count % 4 != 0 { padded.append("=") }
    guard let data = Data(base64Encoded: padded) else { return nil }
    let parts = String(decoding: data, as: UTF8.self)
    guard let dot = parts.lastIndex(of: ".") else { return nil }
    let key = String(parts[..<dot])
    return self.text(key: key, of: request) == text ? key : nil
  }

  static let unknown = Problem(
    .notFound, code: "unknown_cursor", title: "No page of this request has this cursor.")

  private static func check(_ key: String, _ request: String) -> String {
    var hash = StableHash(of: "cursor 1")
    hash.combine(key)
    hash.combine("\0")
    hash.combine(request)
    return String(hash.value, radix: 36)
  }
}

extension Arguments {
  /// The key that the cursor of a request holds; nil where the first page is asked for.
  /// - Parameter range: the keys that there may be: anybody can make a cursor.
  /// - Throws: `Cursor.unknown`.
  func cursor(
    of request: String, in range: ClosedRange<Int64> = Int64.min...Int64.max
  ) throws(Problem) -> Int64? {
    guard let text = self["cursor"] else { return nil }
    guard let key = Cursor.read(text, of: request), range.contains(key) else {
      throw Cursor.unknown
    }
    return key
  }
}
