import AppStore
import Foundation
import HTTPTypes
import Market
import PaperTrading
import Reader

/// Accounts, orders and holdings on paper, for every API that offers them. Nothing is executed
/// here: what changes an account is a command, inserted once for each key, and the broker's outcome
/// is what the request is answered with.
package struct TradingService: Sendable {
  let store: AppStore
  let memory: MarketMemory
  let pool: QueryPool
  private let waiters: OutcomeWaiters

  /// - Parameter waitMilliseconds: how long a request waits for the broker.
  package init(
    url: String, store: AppStore, memory: MarketMemory, pool: QueryPool, waitMilliseconds: Int
  ) {
    self.store = store
    self.memory = memory
    self.pool = pool
    waiters = OutcomeWaiters(url: url, milliseconds: waitMilliseconds)
  }

  // MARK: Commands

  /// A command that was sent, and whether the broker has executed it.
  struct Sent: Sendable, Hashable {
    var id: Int64
    /// What it made, an order or a posting; nil where the broker did not answer in time.
    var made: Int64?
    var isDone: Bool
  }

  /// Sends a request and waits for what becomes of it.
  /// - Parameter key: the same one is the same command, whoever sends it again.
  /// - Throws: why it was refused; 409 where the key was used for another request.
  func execute(
    _ request: CommandRequest, in account: Int64, key: String
  ) async throws(Problem) -> Sent {
    try await waiters.withPlace { () async throws(Problem) in
      let keyed = KeyedRequest(accountID: account, key: key, request: request)
      let sent = try await run { (connection) throws(AppStoreError) in
        try CommandTable(connection).send([keyed])
      }
      guard case .command(let id, let known)? = sent.first else { throw .otherRequestOfKey }
      let outcome = if let known { known } else { await waiters.outcome(of: id) }
      guard let outcome else { return Sent(id: id, made: nil, isDone: false) }
      if !outcome.isDone { throw Problem(refusal: outcome.answer) }
      return Sent(id: id, made: outcome.made, isDone: true)
    }
  }

  static func newKey() -> String { UUID().uuidString.lowercased() }

  // MARK: Reading

  func run<Value: Sendable>(
    _ body: @Sendable (AppConnection) throws(AppStoreError) -> Value
  ) async throws(Problem) -> Value {
    do throws(AppStoreError) { return try await store.run(body) } catch { throw Problem(error) }
  }

  func query<Value: Sendable>(
    _ body: @Sendable (StoreReader) throws(StoreError) -> Value
  ) async throws(Problem) -> Value {
    do throws(StoreError) { return try await pool.run(body) } catch { throw Problem(error) }
  }

  /// - Parameter id: nil for the user's first account.
  func account(
    _ id: Int64?, of identity: Principal.Identity
  ) async throws(Problem) -> PaperAccount {
    try await run { (connection) throws(AppStoreError) in
      try AccountTable(connection, userID: identity.userID).account(id)
    }
  }

  func orders<Value: Sendable>(
    of identity: Principal.Identity,
    _ body: @Sendable (OrderTable) throws(AppStoreError) -> Value
  ) async throws(Problem) -> Value {
    try await run { (connection) throws(AppStoreError) in
      try body(OrderTable(connection, userID: identity.userID))
    }
  }

  func order(_ id: Int64, of identity: Principal.Identity) async throws(Problem) -> OrderRecord {
    let found = try await orders(of: identity) { (table) throws(AppStoreError) in
      try table.order(id)
    }
    guard let found else { throw .unknownOrder }
    return found
  }

  // MARK: Instruments

  /// The instrument that an account trades under a name.
  /// - Throws: 404 of one that is not known, 409 of one of another market.
  func series(
    _ spelling: String, for account: PaperAccount, state: MarketState
  ) throws(Problem) -> SeriesRecord {
    if !state.isLoaded { throw .storeAway }
    guard let place = state.directory.place(spelling: spelling) else {
      throw .unknownSymbol(spelling, in: state.directory)
    }
    let series = state.directory[place]
    guard series.currency == account.currency else {
      throw Problem(
        .conflict, code: "other_market",
        title: "The account is in \(account.currency), and the instrument in \(series.currency).")
    }
    return series
  }
}

extension CommandOutcome {
  /// The number in `order=17`.
  fileprivate var made: Int64? {
    answer.split(separator: " ").first?.split(separator: "=").last.flatMap { Int64($0) }
  }
}

extension Problem {
  static let unknownOrder = Problem(
    .notFound, code: "unknown_order", title: "There is no order of this number.")

  static let tooManyWaiting = Problem(
    .serviceUnavailable, code: "too_many_waiting",
    title: "Too many requests wait for the broker; try again later.", headers: [.retryAfter: "2"])

  static let otherRequestOfKey = Problem(
    .conflict, code: "idempotency_conflict",
    title: "This idempotency key was used for another request.")

  /// Codes of the broker that are no matter of the request's form.
  private static let refusals: [String: (status: HTTPResponse.Status, code: String)] = [
    "funds": (.forbidden, "insufficient_funds"), "shares": (.forbidden, "insufficient_shares"),
    "sellable": (.forbidden, "insufficient_shares"), "unknown_order": (.notFound, "unknown_order"),
    "unknown_purchase": (.notFound, "unknown_purchase"), "pending": (.conflict, "not_changeable"),
    "too_many": (.conflict, "limit_reached"), "internal": (.conflict, "refused"),
  ]

  /// - Parameter answer: the broker's, a code and a sentence.
  init(refusal answer: String) {
    let parts = answer.split(separator: ":", maxSplits: 1)
    let code = String(parts.first ?? "refused")
    let known = Self.refusals[code]
    let title = parts.count == 2 ? parts[1].trimmingCharacters(in: .whitespaces) : answer
    self.init(
      known?.status ?? .unprocessableContent, code: known?.code ?? code, title: title)
  }
}
