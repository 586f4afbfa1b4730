import AppStore
import Foundation
import HTTPTypes
import Hummingbird
import Market

/// A request of a known user, as the routes of trading see it.
struct TradingRequest: Sendable {
  let identity: Principal.Identity
  let arguments: Arguments

  /// The account that it names; nil for the user's first.
  var account: Int64? { arguments.integer("account") }

  /// Of the path.
  var id: Int64 { arguments.integer("id") ?? 0 }

  /// Of the client.
  var key: String? { arguments["Idempotency-Key"] }

  /// - Throws: 400 where it is not the JSON that is expected.
  func body<Body: Decodable>(_ type: Body.Type) throws(Problem) -> Body {
    let json = arguments.body.isEmpty ? Array("{}".utf8) : arguments.body
    return try JSONBody.decode(type, from: Data(json))
  }
}

extension String {
  /// The decimal that this is.
  /// - Throws: 400 where it has another form.
  func decimal(_ field: String, _ pattern: TextPattern) throws(Problem) -> ExactDecimal {
    guard pattern.matches(self), let value = try? ExactDecimal(self) else {
      throw .invalid(field, expected: pattern.expectation, found: self)
    }
    return value
  }
}

extension TextPattern {
  /// Up to 10^13, to the cent, above 0.
  static let amount = TextPattern(
    "^([1-9][0-9]{0,11}([.][0-9]{1,2})?|0[.](0[1-9]|[1-9][0-9]?))$",
    expectation: "an amount above 0, to the cent, in a string such as \"1000.00\"")

  /// Shares, or parts of them; the decimal has 18 digits.
  static let quantity = TextPattern(
    "^([1-9][0-9]{0,8}([.][0-9]{1,9})?|0[.][0-9]{0,8}[1-9])$",
    expectation: "a number of shares above 0 in a string such as \"100\"")

  static let key = TextPattern(
    "^[A-Za-z0-9._:-]{1,128}$", expectation: "1 to 128 letters, digits, dots, colons, dashes")
}

extension Answer {
  /// Of a user's own things: kept nowhere on the way.
  static func own(
    _ status: HTTPResponse.Status = .ok, location: String? = nil,
    write: (inout JSONWriter) -> Void
  ) -> Answer {
    var text = JSONWriter(capacity: 1_024)
    write(&text)
    var answer = Answer(json: text.bytes, caching: "no-store")
    answer.status = status
    if let location { answer.headers[.location] = location }
    return answer
  }

  static var done: Answer {
    var answer = Answer(json: [], caching: "no-store")
    answer.status = .noContent
    answer.headers[.contentType] = nil
    return answer
  }
}
