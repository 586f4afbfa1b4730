/// Where the next page begins, in a text that clients must not read. It holds one number and fits
/// one request: a damaged one, or that of another request, is refused. No secret: a forged one
/// gives no more than a place in a list that everybody may read.

import Foundation
import HTTPTypes
import Market

enum Cursor {
  static func text(_ value: Int64, of request: String) -> String {
    let number = String(value, radix: 36)
    return Data("\(number).\(check(number, request))".utf8).base64EncodedString()
      .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
  }

  static func read(_ text: String, of request: String) -> Int64? {
    var padded = text.replacing("-", with: "+").replacing("_", with: "/")
    while padded.count % 4 != 0 { padded.append("=") }
    guard let data = Data(base64Encoded: padded) else { return nil }
    let parts = String(decoding: data, as: UTF8.self).split(separator: ".")
    guard parts.count == 2, parts[1] == check(String(parts[0]), request),
      let value = Int64(parts[0], radix: 36), Cursor.text(value, of: request) == text
    else { return nil }
    return value
  }

  static let unknown = Problem(
    .notFound, code: "unknown_cursor", title: "No page of this request has this cursor.")

  private static func check(_ number: String, _ request: String) -> String {
    var hash = StableHash(of: "cursor 1")
    hash.combine(number)
    hash.combine("\0")
    hash.combine(request)
    return String(hash.value, radix: 36)
  }
}
