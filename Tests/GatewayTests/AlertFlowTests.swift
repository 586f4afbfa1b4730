import Alerts
import AppStore
import Commits
import Foundation
import HTTPTypes
import Market
import NIOCore
import NIOPosix
import Operations
import Platform
import Postgres
import Store
import TestSupport
import TestTraits
import Testing

@testable import Gateway

/// From a commit of the daemon to the inbox, with all of a gateway but its socket.
@Suite(.ownThread) struct AlertFlowTests {
  private let market: AlertMarket

  init() async throws { market = try await AlertMarket() }

  @Test func `a spike between two polls is in the inbox once, within a second, of two gateways`()
    async throws
  {
    let first = try await market.gateway()
    let second = try await market.gateway()
    try await market.trade(last: 10, high: 11)
    try await first.waitForSeq(market.seq)
    let made = try await first.ask(
      .post, "/v1/notifications",
      #"{"stockSymbol":"600000.SH","condition":"above","threshold":"12.50"}"#)
    #expect(made.status == 201 && made.body.contains("\"state\":\"armed\""), "\(made.body)")
    try await first.waitForArmed(1)
    try await second.waitForArmed(1)
    try await market.trade(last: 10, high: 12)
    try await market.trade(last: 10, high: 13)
    let rows = try await first.inbox(1)
    #expect(rows.map { $0["value"] as? String } == ["13.000"])
    #expect(rows.map { $0["basis"] as? String } == ["high"])
    #expect(rows.map { $0["kind"] as? String } == ["fired"])
    try await market.trade(last: 14, high: 14)
    try await second.waitForSeq(market.seq)
    #expect(try await second.inbox(1).count == 1)
    let seconds = try market.database.value(
      """
      select extract(epoch from n.at - c.committed_at) <= 1
      from candled_app.notification n
      join candled.change c on c.seq = n.feed_seq
      """)
    #expect(seconds == "t")
    let alerts = try await first.ask(.get, "/v1/alerts")
    #expect(alerts.body.contains("\"state\":\"fired\""))
    try await readAndRemove(rows[0], over: first)
  }

  /// What is in the inbox is counted, read and removed, and its alert stays.
  private func readAndRemove(
    _ row: [String: Any], over gateway: AlertGateway
  ) async throws {
    let id = try #require(row["id"] as? String)
    let path = "/v1/notifications?unread=true"
    let news = try await gateway.ask(.get, path).json
    #expect(news["unread"] as? Int == 1 && news["alerts"] == nil)
    #expect(try await gateway.ask(.put, "/v1/inbox?through=\(id)").status == 204)
    #expect(try await gateway.ask(.get, path).json["unread"] as? Int == 0)
    #expect(try await gateway.ask(.delete, "/v1/notifications/\(id)").status == 204)
    let left = try await gateway.ask(.get, "/v1/notifications").json
    #expect((left["notifications"] as? [Any])?.count == 0)
    #expect((left["alerts"] as? [Any])?.count == 1)
  }

  @Test func `what happened while no gateway ran fires with the day that it happened on`()
    async throws
  {
    try await market.trade(last: 10, high: 11)
    let before = try await market.gateway()
    for repeats in ["once", "daily"] {
      let body =
        #"{"stockSymbol":"sh600000","condition":"above","threshold":"15","repeat":"\#(repeats)"}"#
      #expect(try await before.ask(.post, "/v1/alerts", body).status == 201)
    }
    before.stop()
    for (day, high) in [(1, Int64(14)), (2, 16), (3, 17)] {
      try await market.endDay(StoreSamples.day.advanced(by: day), high: high)
    }
    try await market.trade(last: 10, high: 11, day: StoreSamples.day.advanced(by: 4))
    let after = try await market.gateway()
    let rows = try await after.inbox(3)
    let found = Set(rows.map { "\($0["alertId"] ?? "") \($0["tradingDay"] ?? "")" })
    #expect(found == ["1 2026-07-08", "2 2026-07-08", "2 2026-07-09"])
  }

  /// The day's candle came late, beside a quote of today.
  @Test func `of what one turn finds, an alert that fires once fires with the oldest`()
    async throws
  {
    let today = StoreSamples.day.advanced(by: 2)
    try await market.trade(last: 10, high: 11)
    let gateway = try await market.gateway(writes: false)
    let body = #"{"stockSymbol":"sh600000","condition":"above","threshold":"12"}"#
    #expect(try await gateway.ask(.post, "/v1/alerts", body).status == 201)
    try await market.trade(last: 10, high: 11, day: today)
    try await gateway.waitForSeq(market.seq)
    var writer = try market.writer(for: gateway.watch)
    try writer.turn(.all)
    try await market.trade(last: 10, high: 14, day: today)
    try await market.endDay(StoreSamples.day.advanced(by: 1), high: 13, knownOn: today)
    try await gateway.waitForSeq(market.seq)
    try writer.turn(.none)
    let fired = "select string_agg(trading_day::text, ' ') from candled_app.notification"
    #expect(try market.database.value(fired) == "2026-07-07")
  }

  @Test func `a row that is taken out is withdrawn once, and a true one fires afterwards`()
    async throws
  {
    try await market.trade(last: 10, high: 11)
    let gateway = try await market.gateway()
    let body = #"{"stockSymbol":"sh600000","condition":"above","threshold":"12"}"#
    #expect(try await gateway.ask(.post, "/v1/alerts", body).status == 201)
    try await gateway.waitForArmed(1)
    try await market.trade(last: 99, high: 99)
    let fired = try #require(try await gateway.inbox(1).first)
    try await market.trade(last: 10, high: 11)
    let rows = try await gateway.inbox(2)
    #expect(rows.map { $0["kind"] as? String } == ["withdrawn", "fired"])
    #expect(rows[0]["withdraws"] as? String == fired["id"] as? String)
    try await gateway.waitForArmed(1)
    try await market.trade(last: 10, high: 11)
    try await market.trade(last: 12, high: 12)
    #expect(try await gateway.inbox(3).map { $0["kind"] as? String }.first == "fired")
    // What came behind the newest that was seen stays unread.
    let seen = try #require(rows[0]["id"] as? String)
    #expect(try await gateway.ask(.put, "/v1/inbox?through=\(seen)").status == 204)
    #expect(try await gateway.ask(.get, "/v1/notifications").json["unread"] as? Int == 1)
  }

  @Test func `a stream of the user gets the notification, and another user's does not`()
    async throws
  {
    try await market.trade(last: 10, high: 11)
    let gateway = try await market.gateway()
    let body = #"{"stockSymbol":"sh600000","condition":"below","threshold":"9"}"#
    #expect(try await gateway.ask(.post, "/v1/alerts", body).status == 201)
    try await gateway.waitForArmed(1)
    let market = market
    try await LiveServer.run(gateway.gateway, gateway.parts) { port in
      let mine = try StreamsClient(port: port)
      let other = try StreamsClient(port: port)
      let subscription = #"{"action":"subscribe","channels":[{"name":"notifications"}]}"#
      for (client, secret) in [(mine, market.secret), (other, market.otherSecret)] {
        try client.upgrade(headers: ["Authorization: Bearer \(secret.reveal())"])
        client.send(subscription)
        _ = try client.message("subscribed")
      }
      try await market.trade(last: 8, high: 11)
      let rows = try mine.message("notifications")["data"] as? [[String: Any]]
      #expect(rows?.map { $0["value"] as? String } == ["8.000"])
      other.send(#"{"action":"ping"}"#)
      guard case .text(let next) = try other.frame() else {
        Issue.record("no answer")
        return
      }
      #expect(next.contains("pong"))
    }
  }

  @Test func `commits that fire nothing ask nothing of the database`() async throws {
    try await market.trade(last: 10, high: 11)
    let gateway = try await market.gateway(writes: false)
    let body = #"{"stockSymbol":"sh600000","condition":"above","threshold":"90"}"#
    #expect(try await gateway.ask(.post, "/v1/alerts", body).status == 201)
    let watch = gateway.watch
    watch.use(try market.book())
    _ = watch.takeTasks()
    for last in 10..<30 { try await market.trade(last: Int64(last), high: 30) }
    try await gateway.waitForSeq(market.seq)
    #expect(watch.takeTasks().isEmpty && !watch.interrupt.isSignalled)
    try await market.trade(last: 90, high: 90)
    try await gateway.waitForSeq(market.seq)
    #expect(watch.takeTasks().notices.count == 1)
  }
}

/// A daemon's database, and gateways that come and go.
final class AlertMarket: Sendable {
  let database: StoreDatabase
  let secret: TokenSecret
  let otherSecret: TokenSecret
  private let writer: StoreWriter
  private let control: AccessControl
  private let url: String
  private let position = Locked<Int64>(0)

  init() async throws {
    database = try StoreDatabase.withApps()
    url = try database.url(memberOf: "candled_app")
    writer = try await GatewayFixture.openWriter(database)
    let tokens = TokenTable(try AppConnection(url: url, application: "test"))
    var generator = SystemRandomNumberGenerator()
    (secret, otherSecret) = (TokenSecret(using: &generator), TokenSecret(using: &generator))
    _ = try tokens.create(secret, user: "alice", name: "test", scopes: [.market, .account])
    _ = try tokens.create(otherSecret, user: "bob", name: "test", scopes: [.market, .account])
    control = AccessControl(.init(), directory: TokenDirectory())
    control.directory.replace(with: try tokens.inForce())
  }

  var seq: Int64 { position.withLock { $0 } }

  /// - Parameter writes: whether it has a thread that writes what fires.
  func gateway(writes: Bool = true) async throws -> AlertGateway {
    try await AlertGateway(
      url: url, control: control, secret: secret, through: seq, writes: writes)
  }

  func book() throws -> AlertBook {
    try NoticeTable(AppConnection(url: url, application: "test")).book(from: StoreSamples.day)
  }

  /// Whose turns the test takes itself.
  func writer(for watch: AlertWatch) throws -> NoticeWriter {
    NoticeWriter(connection: try AppConnection(url: url, application: "test"), watch: watch)
  }

  /// One commit with a quote; prices are whole.
  func trade(last: Int64, high: Int64, day: TradingDay = StoreSamples.day) async throws {
    var (samples, commit) = next(on: day, second: 36_000)
    var row = samples.quote(0, second: 36_000)
    row.quote.tradingDay = day
    row.quote.last = ExactDecimal(units: last * 1_000, scale: 3)
    row.quote.high = ExactDecimal(units: high * 1_000, scale: 3)
    row.quote.low = min(row.quote.last, ExactDecimal(units: 9_500, scale: 3))
    row.quote.previousClose = ExactDecimal(10)
    row.forming = nil
    commit.quotes = [row]
    _ = try await writer.commit(commit)
  }

  /// One commit with the candle of a day.
  /// - Parameter today: when it came; nil: as the day ended.
  func endDay(_ day: TradingDay, high: Int64, knownOn today: TradingDay? = nil) async throws {
    var (samples, commit) = next(on: today ?? day, second: 54_000)
    var candle = samples.candle(0, minute: 1)
    (candle.timeframe, candle.tradingDay, candle.flags) = (.day1, day, [])
    candle.openedAt = Timestamp(day: day, secondOfDay: 0)
    candle.closedAt = Timestamp(day: day, secondOfDay: 54_000)
    (candle.open, candle.low, candle.close) = (ExactDecimal(10), ExactDecimal(9), ExactDecimal(10))
    candle.high = ExactDecimal(high)
    commit.candles = [candle]
    _ = try await writer.commit(commit)
  }

  private func next(on day: TradingDay, second: Int) -> (StoreSamples, Commit) {
    let number = position.withLock { position in
      position += 1
      return position
    }
    let commit = Commit(
      position: JournalPosition(number),
      knownAt: Timestamp(day: day, secondOfDay: second).adding(seconds: number))
    return (StoreSamples(seed: UInt64(number)), commit)
  }
}

/// A gateway that follows the feed and writes what fires.
final class AlertGateway: Sendable {
  let gateway: Gateway
  let parts: Gateway.Parts
  let watch: AlertWatch
  private let follower: DatabaseFollower?
  private let outboxFollower: DatabaseFollower?
  private let following: Task<Void, Never>
  private let table: RouteTable
  private let secret: TokenSecret

  init(
    url: String, control: AccessControl, secret: TokenSecret, through seq: Int64, writes: Bool
  ) async throws {
    let gateway = Gateway(
      GatewayOptions(listen: .ipv4(host: "127.0.0.1", port: 0), databaseURL: url), log: quietLog)
    let made = gateway.parts(control: control, loops: MultiThreadedEventLoopGroup.singleton)
    (self.gateway, parts, watch, self.secret) = (gateway, made.parts, made.users.alerts, secret)
    table = gateway.table(parts)
    let sinks = made.parts.sinks
    following = Task { await gateway.follower(sinks: sinks).run() }
    follower = writes ? try watch.follow(url: url, log: quietLog) : nil
    let outbox = made.users.outbox
    outboxFollower = writes ? try outbox.follow(url: url, log: quietLog) : nil
    try await waitForSeq(seq)
  }

  deinit { stop() }

  func stop() {
    follower?.stop()
    outboxFollower?.stop()
    following.cancel()
  }

  func ask(
    _ method: HTTPRequest.Method, _ path: String, _ body: String? = nil
  ) async throws -> Reply {
    let request = AskedRequest(
      path: path, method: method, headers: [.authorization: "Bearer \(secret.reveal())"],
      body: body.map { ByteBuffer(string: $0) })
    return try await request.answer(from: table)
  }

  /// The inbox, once it has so many.
  func inbox(_ count: Int) async throws -> [[String: Any]] {
    var rows: [[String: Any]] = []
    try await wait {
      let answer = try await ask(.get, "/v1/notifications").json
      rows = answer["notifications"] as? [[String: Any]] ?? []
      return rows.count >= count
    }
    return rows
  }

  func waitForArmed(_ count: Int) async throws {
    try await wait { watch.armedCount == count }
  }

  func waitForSeq(_ seq: Int64) async throws {
    try await wait { gateway.ring.isComplete && gateway.memory.state.seq >= seq }
  }

  private func wait(for isSo: () async throws -> Bool) async throws {
    let deadline = MonotonicClock.seconds() + 30
    while try await !isSo() {
      guard MonotonicClock.seconds() < deadline else {
        Issue.record("it did not come")
        return
      }
      try await Task.sleep(for: .milliseconds(5))
    }
  }
}
