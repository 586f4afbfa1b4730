import AppStore
import Foundation
import HTTPTypes
import PaperTrading
import Platform
import Reader

/// Accounts, orders and holdings on paper, for every API that offers them. Nothing is executed
/// here: what changes an account is a command, inserted once for each key, and the broker's outcome
/// is what the request is answered with.
package struct TradingService: Sendable {
  let memory: MarketMemory
  let pool: QueryPool
  /// The connection that is used.
  private var store: AppStore
  /// Of lists and portfolios, which can take long.
  private let reads: AppStore
  /// Of requests that change something: no list is read over it.
  private let changes: AppStore
  private let waiters: OutcomeWaiters

  /// - Parameter waitMilliseconds: how long a request waits for the broker.
  package init(
    url: String, memory: MarketMemory, pool: QueryPool, waitMilliseconds: Int
  ) {
    reads = AppStore(url: url, connections: AppStore.connectionsOfMany)
    store = reads
    changes = AppStore(url: url, pendingMax: OutcomeWaiters.waitingMax)
    self.memory = memory
    self.pool = pool
    waiters = OutcomeWaiters(url: url, milliseconds: waitMilliseconds)
  }

  /// What only reads, also within a request that changes something.
  var reading: TradingService {
    var service = self
    service.store = reads
    return service
  }

  // MARK: Commands

  /// Runs a request that changes something: in a place among those who wait, of which each user has
  /// few, and over the connection of such requests.
  /// - Throws: what `body` throws; 429 where the user has too many under way, 503 where all have.
  func changing<Value: Sendable>(
    for identity: Principal.Identity,
    _ body: (TradingService) async throws(Problem) -> Value
  ) async throws(Problem) -> Value {
    var service = self
    service.store = changes
    let changing = service
    return try await waiters.withPlace(of: identity.userID) { () async throws(Problem) in
      try await body(changing)
    }
  }

  /// How many requests wait for the broker.
  package var waiting: Int { waiters.waiting }

  /// A command that was sent, and whether the broker has executed it.
  struct Sent: Sendable, Hashable {
    var id: Int64
    /// The key under which it was sent.
    var key: String
    /// The order or the posting that it made; nil where the broker did not answer in time.
    var resultID: Int64?
    var isDone: Bool
  }

  /// Sends a request and waits for what becomes of it.
  /// - Parameter key: the same one is the same command, whoever sends it again; nil: the client
  ///   has none.
  /// - Throws: why it was refused; 409 where the key was used for another request, or where it is
  ///   not known whether the request of a client without a key was stored.
  func execute(
    _ request: CommandRequest, in account: Int64, key: String?
  ) async throws(Problem) -> Sent {
    let sentKey = key ?? UUID().uuidString.lowercased()
    let sent = try await send(KeyedRequest(accountID: account, key: sentKey, request: request))
    // Who has a key can send the same again: for who has none that would be another order.
    guard let sent else { throw key == nil ? .outcomeUnknown(key: sentKey) : .storeAway }
    guard case .command(let id, let known) = sent else { throw .otherRequestOfKey }
    let outcome = if let known { known } else { await waiters.outcome(of: id) }
    guard let outcome else { return Sent(id: id, key: sentKey, resultID: nil, isDone: false) }
    switch outcome.result {
    case .done(_, let made): return Sent(id: id, key: sentKey, resultID: made, isDone: true)
    case .refused(let refusal): throw Problem(refusal)
    }
  }

  /// Sends a request, again where it may have arrived: under its key it is one command.
  /// - Returns: nil where it is not known whether it did.
  /// - Throws: 503 where it did not.
  private func send(_ request: KeyedRequest) async throws(Problem) -> SentCommand? {
    let isSent = Locked(false)
    let attempt = { () async throws(Problem) -> SentCommand in
      try await run { (connection) throws(AppStoreError) in
        isSent.withLock { $0 = true }
        return try CommandTable(connection).send([request])[0]
      }
    }
    return try await retryWhileAway(if: { isSent.withLock { $0 } }, on: attempt)
  }

  private static let retryingMilliseconds = 2_000
  private static let retryMilliseconds = 100

  /// Tries what a database that is away for a moment cannot do, until time is up.
  /// - Parameter isWanted: whether to try again.
  /// - Returns: nil where it could not be done in time.
  func retryWhileAway<Value: Sendable>(
    if isWanted: () -> Bool = { true }, on body: () async throws(Problem) -> Value
  ) async throws(Problem) -> Value? {
    let deadline = ContinuousClock.now + .milliseconds(Self.retryingMilliseconds)
    while true {
      do throws(Problem) {
        return try await body()
      } catch {
        guard error.status == .serviceUnavailable, isWanted() else { throw error }
      }
      guard ContinuousClock.now < deadline, !Task.isCancelled else { return nil }
      try? await Task.sleep(for: .milliseconds(Self.retryMilliseconds))
    }
  }

  // MARK: Reading

  func run<Value: Sendable>(
    _ body: @Sendable (AppConnection) throws(AppStoreError) -> Value
  ) async throws(Problem) -> Value {
    do throws(AppStoreError) { return try await store.run(body) } catch { throw Problem(error) }
  }

  /// - Parameter id: nil for the user's first account.
  func account(
    _ id: Int64?, of identity: Principal.Identity
  ) async throws(Problem) -> PaperAccount {
    try await run { (connection) throws(AppStoreError) in
      try AccountTable(connection, userID: identity.userID).account(id)
    }
  }

  /// The account of an API that knows only one.
  func mainAccount(of identity: Principal.Identity) async throws(Problem) -> PaperAccount {
    try await run { (connection) throws(AppStoreError) in
      try AccountTable(connection, userID: identity.userID).main()
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
    _ spelling: String, for account: PaperAccount
  ) throws(Problem) -> SeriesRecord {
    let directory = try memory.loaded().directory
    guard let place = directory.place(spelling: spelling) else {
      throw .unknownSymbol(spelling, in: directory)
    }
    let series = directory[place]
    guard series.currency == account.currency else {
      throw Problem(
        .conflict, code: "other_market",
        title: "The account is in \(account.currency), and the instrument in \(series.currency).")
    }
    return series
  }
}

extension Problem {
  static let unknownOrder = Problem(
    .notFound, code: "unknown_order", title: "There is no order of this number.")

  static let tooManyOfUser = Problem(
    .tooManyRequests, code: "too_many_waiting",
    title: "\(OutcomeWaiters.waitingOfUserMax) requests of this user wait for the broker; send "
      + "more when some are answered.", headers: [.retryAfter: "1"])

  /// - Parameter key: under which the same request can be sent again, and is carried out once.
  static func outcomeUnknown(key: String) -> Problem {
    Problem(
      .conflict, code: outcomeUnknownCode,
      title: "It is not known whether the request was carried out: look before you send it again. "
        + "Under the key \(key) (Idempotency-Key, client_order_id) it is the same request.")
  }

  static let outcomeUnknownCode = "outcome_unknown"

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
    "late": (.conflict, "late"), "clock": (.conflict, "clock"),
    "closed": (.conflict, "account_closed"),
  ]

  init(_ refusal: CommandRefusal) {
    let known = Self.refusals[refusal.code]
    self.init(
      known?.status ?? .unprocessableContent, code: known?.code ?? refusal.code,
      title: refusal.sentence)
  }
}
