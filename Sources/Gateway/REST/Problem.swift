/// What a client did wrong, or what cannot be answered now: `application/problem+json` (RFC 9457).

import HTTPTypes
import Market

package struct Problem: Error, Sendable, Hashable {
  /// What is wrong with one parameter, header or member of a body.
  package struct Fault: Sendable, Hashable {
    package let field: String
    package let expected: String
    package let found: String

    package init(field: String, expected: String, found: String) {
      self.field = field
      self.expected = expected
      self.found = String(found.prefix(Self.foundCharactersMax))
    }

    /// A long value is shown by its beginning.
    private static let foundCharactersMax = 80
  }

  package let status: HTTPResponse.Status
  /// For programs; documented, never changed.
  package let code: String
  /// For people.
  package let title: String
  package var faults: [Fault] = []
  /// Symbols that may have been meant.
  package var nearest: [String]?
  package var headers: HTTPFields = [:]

  package init(
    _ status: HTTPResponse.Status, code: String, title: String, faults: [Fault] = [],
    nearest: [String]? = nil, headers: HTTPFields = [:]
  ) {
    self.status = status
    self.code = code
    self.title = title
    self.faults = faults
    self.nearest = nearest
    self.headers = headers
  }

  package static func invalid(_ faults: [Fault]) -> Problem {
    Problem(
      .badRequest, code: "invalid_argument", title: "An argument is not valid.", faults: faults)
  }

  package static func invalid(_ field: String, expected: String, found: String) -> Problem {
    invalid([Fault(field: field, expected: expected, found: found)])
  }

  /// Of a body, whose first fault alone is told.
  static func invalidBody(
    _ fault: Fault, status: HTTPResponse.Status = .badRequest
  ) -> Problem {
    Problem(
      status, code: "invalid_argument", title: "\(fault.field): expected \(fault.expected)",
      faults: [fault])
  }

  static let bodyIncomplete = Problem(
    .badRequest, code: "body_incomplete", title: "The body ended before it was whole.")

  static let hostExpected = Problem(
    .badRequest, code: "invalid_argument", title: "A request has one Host header.")

  static let otherContent = Problem(
    .unsupportedMediaType, code: "unsupported_media_type",
    title: "The body must be JSON: send Content-Type: application/json.")

  package static let notFound = Problem(
    .notFound, code: "not_found", title: "There is nothing at this path.")

  static func unknownSymbol(_ spelling: String, in directory: InstrumentDirectory) -> Problem {
    Problem(
      .notFound, code: "unknown_symbol", title: "No instrument has this symbol.",
      nearest: directory.nearest(to: spelling))
  }

  /// The database cannot answer now.
  package static let storeAway = Problem(
    .serviceUnavailable, code: "store_away",
    title: "The database cannot answer now; try again later.", headers: [.retryAfter: "2"])

  /// The gateway stands before a standby.
  package static let readOnly = Problem(
    .serviceUnavailable, code: "read_only",
    title: "This gateway reads a standby, which takes no writes: send this to one of the primary.")

  package static let internalError = Problem(
    .internalServerError, code: "internal_error",
    title: "The request failed in the gateway; its log has the reason.")

  /// - Parameter error: what a query met. What is refused for the rows there are carries the
  ///   database's own sentence.
  package init(_ error: StoreError) {
    if error.sqlState == Self.invalidParameter {
      self.init(.conflict, code: "unanswerable", title: error.message)
    } else if error.isTransient || error.sqlState == Self.timedOut {
      self = .storeAway
    } else {
      self = .internalError
    }
  }

  private static let invalidParameter = "22023"
  private static let timedOut = "57014"

  /// Whether the same request may succeed later.
  var isForNow: Bool { status == .tooManyRequests || status == .serviceUnavailable }

  static let contentType = "application/problem+json"

  var json: [UInt8] { JSONWriter.encode { $0.write(self, as: Self.shape) } }

  static let shape = Shape<Problem>(
    "Problem",
    fields: [
      .string("type") { _ in "about:blank" }, .integer("status") { Int64($0.status.code) },
      .string("code") { $0.code }, .string("title") { $0.title },
      .objects("errors", as: Fault.shape) { $0.faults }.present { !$0.faults.isEmpty },
      .strings("nearest") { $0.nearest ?? [] }.present { $0.nearest != nil },
    ])
}

extension Problem.Fault {
  fileprivate static let shape = Shape<Problem.Fault>(
    fields: [
      .string("field") { $0.field }, .string("expected") { $0.expected },
      .string("found") { $0.found },
    ])
}

extension JSONWriter {
  mutating func strings(_ texts: [String]) {
    array { list in
      for text in texts { list.string(text) }
    }
  }
}
