/// What stands beside the broker in a gateway, alerts that fire while it works, and the dearest
/// place that an account can make.

import Alerts
import AppStore
import Broker
import Commits
import EmbeddedPostgres
import Gateway
import Logging
import Market
import PaperTrading
import Platform
import Postgres
import Reader
import Store
import TestSupport

private let quiet = Logger(label: "bench") { _ in SwiftLogNoOpLogHandler() }

/// The feed's follower, alerts and webhooks, as a gateway has them in one process with the broker.
final class GatewayParts: Sendable {
  let mailbox = FeedMailbox()
  private let followers: [DatabaseFollower]
  private let following: Task<Void, Never>

  init(url: String) throws {
    let memory = MarketMemory()
    let watch = AlertWatch(memory: memory)
    followers = [
      try watch.follow(url: url, log: quiet), try Webhooks().follow(url: url, log: quiet),
    ]
    let follower = FeedFollower(
      url: url, memory: memory, ring: FeedRing(), sinks: [watch], log: quiet,
      pool: QueryPool(url: url, connections: 1, log: quiet), mailbox: mailbox)
    following = Task { await follower.run() }
  }

  func stop() {
    for follower in followers { follower.stop() }
    following.cancel()
  }
}

extension SQLProbe {
  /// How far the server's log is, in bytes.
  static func logPosition(url: String) throws -> Int64 {
    let rows = try run("select pg_current_wal_insert_lsn() - '0/0'::pg_lsn", url: url)
    return rows.first?.first?.flatMap { Int64($0) } ?? 0
  }
}

/// Alerts on prices that are a tick to one percent away.
enum AlertScene {
  private static let users = 2
  private static let alertsOfUser = 500

  static func arm(url: String, owner: String) throws {
    let prices = try SQLProbe.run(
      """
      select symbol, last::text
      from candled.latest
      where last > 0 and symbol ~ '^(sh60|sz00)' and trading = 'normal'
      order by symbol
      limit \(users * alertsOfUser)
      """, url: owner)
    let connection = try AppConnection(url: url, application: "bench")
    for user in 0..<users {
      let ids = try SQLProbe.run(
        """
        insert into candled_app.app_user (name) values ('alerts \(user)') returning id
        """, url: owner)
      guard let id = ids.first?.first?.flatMap({ Int64($0) }) else {
        throw BenchFailure(description: "no user for alerts")
      }
      let table = AlertTable(connection, userID: id)
      for (number, row) in prices.dropFirst(user * alertsOfUser).prefix(alertsOfUser).enumerated() {
        guard let symbol = row[0].flatMap({ Symbol($0) }),
          let last = row[1].flatMap({ try? ExactDecimal($0) })
        else { continue }
        let rise = ExactDecimal(units: Int64(1_001 + number % 10), scale: 3)
        _ = try table.create(
          AlertTable.Request(
            subject: AlertSubject(symbol: symbol, source: "sina"), condition: .above,
            threshold: try (last * rise).rounded(places: 2)))
      }
    }
  }

  /// Milliseconds from the commit that showed it until the notification was stored.
  static func delays(url: String) throws -> [Double] {
    try SQLProbe.run(
      """
      select extract(epoch from n.at - c.committed_at) * 1000
      from candled_app.notification n
      join candled_app.alert a on a.id = n.alert_id
      join candled.change c on c.seq = n.feed_seq
      where n.kind = 'fired' and n.feed_seq > a.armed_seq
      """, url: url
    ).compactMap { $0[0].flatMap { Double($0) } }
  }
}

/// One account with as many orders as it may have, all in the queue of one share at limit-up, where
/// each row changes all of them.
struct SealedShare {
  private(set) var looks = BenchRow("a look at a row of a share with 500 orders at limit-up")
  private(set) var placeBytes = 0
  private(set) var storedBytes = 0
  private(set) var logBytes: Int64 = 0

  private static let orders = 500
  private static let rows = 60
  private static let day = SimulatedDay.day
  private static let opening = Session.morningOpen + 300

  static func measured() async throws -> SealedShare {
    let database = try StoreDatabase.alone(isDurable: true, more: ["autovacuum": "off"])
    defer { try? database.server.stopImmediately() }
    try AppSchema.file.apply(url: database.url)
    var scene = SealedShare()
    try await scene.run(database)
    return scene
  }

  private mutating func run(_ database: StoreDatabase) async throws {
    let (url, owner) = (database.url(role: DatabaseRole.app), database.url)
    let writer = StoreWriter(url: owner)
    try await writer.connect()
    _ = try await writer.load()
    let clock = Locked(Timestamp(day: Self.day, secondOfDay: Self.opening))
    let broker = Broker(
      BrokerOptions(url: url, holder: "bench") { clock.withLock { $0 } }, log: quiet)
    defer { broker.drop() }
    try await Self.commit(0, to: writer)
    while try !broker.lead() {}
    try Self.place(url: url, owner: owner, by: broker)
    var written: [Int64] = []
    for number in 1...Self.rows {
      try await Self.commit(number, to: writer)
      clock.withLock { $0 = Timestamp(day: Self.day, secondOfDay: Self.opening + number * 3) }
      let (before, start) = (try SQLProbe.logPosition(url: owner), milliseconds())
      while try broker.look() {}
      looks.rounds.append(milliseconds() - start)
      written.append(try SQLProbe.logPosition(url: owner) - before)
    }
    logBytes = written.sorted()[written.count / 2]
    let sizes = try SQLProbe.run(
      """
      select max(octet_length(body)), max(pg_column_size(body))
      from candled_app.order_place
      where account_id > 0
      """, url: owner)
    let numbers = (sizes.first ?? []).map { $0.flatMap { Int($0) } ?? 0 }
    if numbers.count == 2 { (placeBytes, storedBytes) = (numbers[0], numbers[1]) }
  }

  /// A row at limit-up, with 20,000 shares more than the one before.
  private static func commit(_ number: Int, to writer: StoreWriter) async throws {
    guard let symbol = Symbol("sz000001") else { return }
    let limitUp = ExactDecimal(units: 1_100, scale: 2)
    let volume = Int64(100_000 + number * 20_000)
    var quote = Quote(
      symbol: symbol, tradingDay: day, secondOfDay: Int32(opening + number * 3))
    (quote.open, quote.previousClose) = (limitUp, ExactDecimal(10))
    (quote.last, quote.high, quote.low) = (limitUp, limitUp, limitUp)
    (quote.volume, quote.turnover) = (ExactDecimal(volume), ExactDecimal(volume * 11))
    quote.bids[0] = BookLevel(price: limitUp, volume: ExactDecimal(9_000_000))
    quote.bid = limitUp
    var commit = Commit(position: JournalPosition(Int64(number + 1)), knownAt: quote.at)
    commit.quotes = [
      QuoteRow(
        quote: quote, source: .sina, name: "平安银行", forming: nil, bookState: [],
        receivedAt: quote.at)
    ]
    _ = try await writer.commit(commit)
  }

  private static func place(url: String, owner: String, by broker: Broker) throws {
    let rows = try SQLProbe.run(
      """
      with owner as (insert into candled_app.app_user (name) values ('sealed') returning id)
      insert into candled_app.account (user_id, name, market, currency)
      select id, 'bench', 'cn', 'CNY' from owner
      returning id
      """, url: owner)
    guard let account = rows.first?.first?.flatMap({ Int64($0) }), let symbol = Symbol("sz000001")
    else { throw BenchFailure(description: "no account") }
    let order = OrderRequest(
      symbol: symbol, side: .buy, kind: .limit, quantity: ExactDecimal(1_000),
      limit: ExactDecimal(units: 1_100, scale: 2))
    let money = CommandRequest.deposit(ExactDecimal(100_000_000), type: .bank, description: "")
    let requests = [money] + Array(repeating: .order(order), count: orders)
    _ = try CommandTable(try AppConnection(url: url, application: "bench")).send(
      requests.enumerated().map {
        KeyedRequest(accountID: account, key: "\($0.offset)", request: $0.element)
      })
    while try broker.look() {}
    let open = try SQLProbe.run(
      "select count(*) from candled_app.paper_order where state = 'accepted'", url: owner)
    guard open == [["\(orders)"]] else {
      throw BenchFailure(description: "\(open) orders are open")
    }
  }
}
