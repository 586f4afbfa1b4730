import Market

/// Why a request about what apps keep has no result.
package enum AppStoreError: Error, Sendable, Hashable {
  /// The database: away, of another version, or without a right.
  case store(StoreError)
  /// Or another user's: which of them is not for the asker to know.
  case unknown(Thing, Int64)
  /// The user has a watchlist, or an account, of that name.
  case nameTaken(String)
  /// With the sentence that says of what there are too many.
  case limitReached(String)
  /// Until the day (UTC) ends.
  case tooManyOfDay(String, limit: Int64)
  case tooLarge(bytesMax: Int)
  case unknownAccount
  /// Another gateway has the lease since.
  case termIsOver(Int64)
  /// A value that the schema does not take.
  case invalid(field: String, expected: String)

  package enum Thing: String, Sendable { case token, watchlist, alert, webhook }
}

extension AppStoreError {
  /// What `body` returns; what fails in it is of the database.
  package static func ofStore<Value>(
    _ body: () throws(StoreError) -> Value
  ) throws(AppStoreError) -> Value {
    do throws(StoreError) { return try body() } catch { throw .store(error) }
  }

  /// Whether the database took a row for wrong: it will again.
  package var isOfData: Bool {
    guard case .store(let error) = self, let state = error.sqlState else { return false }
    return ["22", "23", "P0"].contains { state.hasPrefix($0) }
  }
}

extension AppStoreError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .store(let error): error.description
    case .unknown(let thing, let id): "there is no \(thing.rawValue) \(id)"
    case .nameTaken(let name): "there is one named \(name.quoted) already"
    case .limitReached(let sentence): sentence
    case .tooManyOfDay(let what, let limit):
      "a user has at most \(limit) \(what) a day (UTC): go on tomorrow"
    case .tooLarge(let bytesMax): "more than \(bytesMax) bytes"
    case .unknownAccount: "there is no such account"
    case .termIsOver(let term): "term \(term) of the lease is over: another gateway has it"
    case .invalid(let field, let expected): "\(field): expected \(expected)"
    }
  }
}
