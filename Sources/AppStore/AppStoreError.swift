import Market

/// Why a request about what apps keep has no result.
package enum AppStoreError: Error, Sendable, Hashable {
  /// The database: away, of another version, or without a right.
  case store(StoreError)
  case unknownToken(Int64)
  /// Or another user's: which of them is not for the asker to know.
  case unknownWatchlist(Int64)
  /// The user has a watchlist, or an account, of that name.
  case nameTaken(String)
  case unknownAlert(Int64)
  case tooManyAlerts(limit: Int)
  case unknownWebhook(Int64)
  case tooManyWebhooks(limit: Int)
  case tooManyTokens(limit: Int)
  case tooManyWatchlists(limit: Int)
  case tooManySymbols(limit: Int)
  case tooManyAccounts(limit: Int)
  /// Until the day (UTC) ends.
  case tooManyOfDay(String, limit: Int64)
  case tooLarge(bytesMax: Int)
  case unknownAccount
  /// Another gateway has the lease since.
  case termIsOver(Int64)
  /// A value that the schema does not take.
  case invalid(field: String, expected: String)
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
    case .unknownToken(let id): "there is no token \(id)"
    case .unknownWatchlist(let id): "there is no watchlist \(id)"
    case .nameTaken(let name): "there is one named \(name.quoted) already"
    case .unknownAlert(let id): "there is no alert \(id)"
    case .tooManyAlerts(let limit): "more than \(limit) alerts: delete some"
    case .unknownWebhook(let id): "there is no webhook \(id)"
    case .tooManyWebhooks(let limit): "more than \(limit) webhooks: delete some"
    case .tooManyTokens(let limit): "there are \(limit) tokens in force: revoke some"
    case .tooManyWatchlists(let limit): "more than \(limit) watchlists"
    case .tooManySymbols(let limit): "more than \(limit) symbols in a watchlist"
    case .tooManyAccounts(let limit): "more than \(limit) accounts: close some"
    case .tooManyOfDay(let what, let limit):
      "a user has at most \(limit) \(what) a day (UTC): go on tomorrow"
    case .tooLarge(let bytesMax): "more than \(bytesMax) bytes"
    case .unknownAccount: "there is no such account"
    case .termIsOver(let term): "term \(term) of the lease is over: another gateway has it"
    case .invalid(let field, let expected): "\(field): expected \(expected)"
    }
  }
}
