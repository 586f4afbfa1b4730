import AppStore
import Broker
import Commits
import Logging
import Market
import PaperTrading
import Platform
import Postgres
import Reader
import Store
import TestSupport
import Testing

/// A database with a daemon that commits rows, users that send commands, and a broker.
final class PaperExchange {
  let database: StoreDatabase
  let writer: StoreWriter
  let apps: AppConnection
  let account: Int64
  private(set) var broker: Broker
  let clock = Locked(Timestamp(day: PaperExchange.day, secondOfDay: 34_000))
  /// Of the broker's machine, in microseconds; nil: it goes as the clock is set.
  let counter = Locked<Int64?>(nil)
  /// Of a process that follows the feed, too; nil: the broker reads all by itself.
  let mailbox: FeedMailbox?
  private let feed: StoreReader
  private var followed: Int64?
  private var position: Int64 = 0
  private var keys = 0

  static let day = StoreSamples.day
  static let user: Int64 = 1

  /// - Parameter followsFeed: whether this process follows the feed beside the broker.
  init(followsFeed: Bool = false) async throws {
    database = try StoreDatabase.withApps()
    writer = StoreWriter(url: database.url)
    try await writer.connect()
    _ = try await writer.load()
    try database.execute("insert into candled_app.app_user (name) values ('alice')")
    apps = try AppConnection(url: database.url(role: "candled_app"), application: "test")
    account = try LedgerTable(apps).create(
      userID: Self.user, name: "纸上", market: "cn", currency: "CNY")
    feed = try StoreReader(url: database.url)
    mailbox = followsFeed ? FeedMailbox() : nil
    broker = Self.broker(database, clock, counter, mailbox: mailbox)
    try follow()
  }

  static func broker(
    _ database: StoreDatabase, _ clock: Locked<Timestamp>,
    _ counter: Locked<Int64?> = Locked(nil), schedule: FeeSchedule = .standard,
    sameDayFunds: Set<Symbol> = [], mailbox: FeedMailbox? = nil
  ) -> Broker {
    var options = BrokerOptions(url: database.url(role: "candled_app"), holder: "test") {
      clock.withLock { $0 }
    }
    options.counter = { counter.withLock { $0 } ?? clock.withLock { $0 }.microseconds }
    options.schedule = schedule
    options.sameDayFunds = sameDayFunds
    options.mailbox = mailbox
    return Broker(options, log: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
  }

  // MARK: Time

  func setClock(day: TradingDay = PaperExchange.day, second: Int) {
    clock.withLock { $0 = Timestamp(day: day, secondOfDay: second) }
  }

  /// From now on the steady counter goes on by so much alone, however the clock is set.
  func advanceCounter(seconds: Int) {
    let now = clock.withLock { $0 }.microseconds
    counter.withLock { $0 = ($0 ?? now) + Int64(seconds) * 1_000_000 }
  }

  /// All that a process knew is gone. The next one may have other settings.
  func kill(schedule: FeeSchedule = .standard, sameDayFunds: Set<Symbol> = []) {
    broker.drop()
    broker = Self.broker(
      database, clock, counter, schedule: schedule, sameDayFunds: sameDayFunds, mailbox: mailbox)
  }

  func look() throws {
    try Self.awaitLead(of: broker)
    while try broker.look() {}
  }

  /// The server takes a moment to see that the session before has ended.
  static func awaitLead(of broker: Broker) throws {
    let deadline = MonotonicClock.seconds() + 30
    while try !broker.lead() {
      guard MonotonicClock.seconds() < deadline else { throw Missing() }
    }
  }

  // MARK: Commands

  /// Sends a request, and lets the broker execute it.
  @discardableResult
  func send(_ request: CommandRequest, account: Int64? = nil) throws -> CommandOutcome {
    keys += 1
    let sent = try CommandTable(apps).send([
      KeyedRequest(accountID: account ?? self.account, key: "key \(keys)", request: request)
    ])
    guard case .command(let id, _) = sent[0] else { throw Missing() }
    try look()
    guard let outcome = try CommandTable(apps).outcomes(of: [id])[id] else { throw Missing() }
    return outcome
  }

  struct Missing: Error {}

  func deposit(_ yuan: Int64, account: Int64? = nil) throws {
    try send(.deposit(ExactDecimal(yuan), type: .bank, description: ""), account: account)
  }

  static func price(_ cents: Int64) -> ExactDecimal { ExactDecimal(units: cents, scale: 2) }

  @discardableResult
  func order(
    _ side: Side, _ quantity: Int64, at cents: Int64?, kind: OrderKind = .limit,
    force: TimeInForce = .day, stop: Int64? = nil, symbol: String = "sz000001"
  ) throws -> CommandOutcome {
    let symbol = try #require(Symbol(symbol))
    return try send(
      .order(
        OrderRequest(
          symbol: symbol, side: side, kind: kind, timeInForce: force,
          quantity: ExactDecimal(quantity), limit: cents.map(Self.price),
          stop: stop.map(Self.price))))
  }

  // MARK: Rows

  struct Row {
    var symbol = "sz000001"
    var name = "平安银行"
    var day = PaperExchange.day
    var second: Int
    var volume: Int64
    /// Of all trades.
    var cents: Int64 = 1000
    /// The lowest price of the day; nil: that of all trades.
    var low: Int64?
    var previous: Int64 = 1000
    var bids: [(Int64, Int64)] = []
    var asks: [(Int64, Int64)] = []
    var corrects = false
    var limits = StatedLimits.unstated
  }

  /// The daemon commits a row, and the broker looks at it with the clock at its stamp.
  func row(_ row: Row) async throws {
    try await commit(row)
    try follow()
    setClock(day: row.day, second: row.second)
    try look()
  }

  /// Puts what was committed into the mailbox, as the feed's follower does.
  /// - Parameter change: what another database has in its place.
  func follow(_ change: (inout FeedChange) -> Void = { _ in }) throws {
    guard let mailbox else { return }
    let batch = try feed.changes(after: followed)
    if followed == nil { mailbox.begin(epoch: batch.epoch, after: batch.lastSeq) }
    followed = batch.lastSeq
    for var one in batch.changes {
      change(&one)
      mailbox.add(one)
    }
  }

  func commit(_ row: Row) async throws {
    let symbol = try #require(Symbol(row.symbol))
    var quote = Quote(symbol: symbol, tradingDay: row.day, secondOfDay: Int32(row.second))
    (quote.open, quote.previousClose) = (Self.price(row.cents), Self.price(row.previous))
    (quote.last, quote.high, quote.low) = (
      Self.price(row.cents), Self.price(row.cents), Self.price(row.low ?? row.cents)
    )
    (quote.volume, quote.turnover) = (
      ExactDecimal(row.volume), ExactDecimal(units: row.volume * row.cents, scale: 2)
    )
    for (place, level) in row.bids.enumerated() {
      quote.bids[place] = BookLevel(price: Self.price(level.0), volume: ExactDecimal(level.1))
    }
    for (place, level) in row.asks.enumerated() {
      quote.asks[place] = BookLevel(price: Self.price(level.0), volume: ExactDecimal(level.1))
    }
    (quote.bid, quote.ask) = (quote.bids[0].price, quote.asks[0].price)
    quote.limits = row.limits
    position += 1
    var commit = Commit(position: JournalPosition(position), knownAt: quote.at)
    commit.quotes = [
      QuoteRow(
        quote: quote, source: .sina, name: row.name, forming: nil, bookState: [],
        receivedAt: quote.at)
    ]
    if row.corrects {
      commit.events = [
        .dispute(
          DisputeEvent(kind: .corrected, symbol: symbol, tradingDay: row.day, at: quote.at))
      ]
    }
    _ = try await writer.commit(commit)
  }

  /// The daemon certifies the day of these with that volume.
  func certify(
    _ symbols: [String] = ["sz000001"], volume: Int64, second: Int
  ) async throws {
    let symbols = try symbols.map { try #require(Symbol($0)) }
    position += 1
    setClock(second: second)
    var commit = Commit(
      position: JournalPosition(position), knownAt: clock.withLock { $0 })
    commit.certificates = symbols.map { symbol in
      DayCertificate(
        symbol: symbol, tradingDay: Self.day, exchangeVolume: ExactDecimal(volume),
        exchangeTurnover: .zero, minuteVolume: .zero, minuteTurnover: .zero, gapVolume: .zero,
        gapTurnover: .zero, afterHoursVolume: .zero, afterHoursTurnover: .zero,
        minutesTraded: 0, minutesUntraded: 0, minutesMissing: 0, source: .sina)
    }
    _ = try await writer.commit(commit)
    try follow()
    try look()
  }

  // MARK: Judgement

  func fills() throws -> [String] {
    try database.execute(
      """
      select format('%s/%s %s@%s', order_id, sequence, quantity, price)
      from candled_app.fill
      order by order_id, sequence
      """
    ).map { $0[0] ?? "" }
  }

  func states() throws -> [String] {
    try database.execute("select state from candled_app.paper_order order by id").map {
      $0[0] ?? ""
    }
  }

  func findings() throws -> [String] { try LedgerAudit(apps).findings().map(\.description) }
}
