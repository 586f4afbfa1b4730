import AppStore
import Foundation
import HTTPTypes
import Logging
import Market
import Platform
import Postgres
import TestSupport
import TestTraits
import Testing

@testable import Gateway

/// From a stored notification to a receiver on loopback, with a private database.
@Suite(.ownThread) struct WebhookTests {
  private let database: StoreDatabase
  private let url: String
  private let connection: AppConnection
  private let lines = Locked<[String]>([])

  init() throws {
    database = try StoreDatabase.withApps()
    url = try database.url(memberOf: "candled_app")
    connection = try AppConnection(url: url, application: "test")
    try database.execute(
      """
      insert into candled_app.app_user (name) values ('alice'), ('bob');
      insert into candled_app.alert (
        user_id, symbol, source, condition, threshold, repeats, armed_at, armed_epoch, armed_seq)
      select id, 'sh600000', 'sina', 'above', 10, 'daily', now(), 1, 1
      from candled_app.app_user
      """)
  }

  /// Notifications of alice's with these ids.
  private func notify(_ ids: ClosedRange<Int>, user: Int = 1) throws {
    try database.execute(
      """
      insert into candled_app.notification (
        id, user_id, alert_id, revision, period, kind, symbol, source, condition, threshold,
        trading_day, basis, value, feed_epoch, feed_seq, observed_at)
      overriding system value
      select n, \(user), \(user), n, 'once', 'fired', 'sh600000', 'sina', 'above', 10,
        '2026-07-06', 'last', 11.50, 1, n, '2026-07-06 10:00+08'
      from generate_series(\(ids.lowerBound), \(ids.upperBound)) n
      """)
  }

  private func gateway(deadlineMilliseconds: Int = 10_000) throws -> HookGateway {
    var options = WebhookOptions()
    options.rule.isPrivateAllowed = true
    options.pauseMilliseconds = 20...200
    options.deadlineMilliseconds = deadlineMilliseconds
    let log = Logger(label: "test") { [lines] _ in RecordingLog(lines: lines) }
    return try HookGateway(options, url: url, log: log)
  }

  @discardableResult
  private func hook(
    _ url: String, secret: [UInt8] = Array(0..<32), user: Int64 = 1
  ) throws -> Webhook {
    try WebhookTable(connection, userID: user).create(url: url, secret: secret)
  }

  private func webhook(user: Int64 = 1) throws -> Webhook {
    try #require(try WebhookTable(connection, userID: user).all().first)
  }

  private func wait(for isSo: () throws -> Bool) async throws {
    let deadline = MonotonicClock.seconds() + 60
    while try !isSo() {
      guard MonotonicClock.seconds() < deadline else {
        Issue.record("it did not come")
        return
      }
      try await Task.sleep(for: .milliseconds(5))
    }
  }

  @Test func `a webhook gets what is stored from then on, whole, signed and in order`() async throws
  {
    let receiver = try HookReceiver { _, _ in .status(200) }
    let gateway = try gateway()
    defer { gateway.stop() }
    try notify(1...3)
    try hook(receiver.url)
    try notify(4...9)
    try notify(10...12, user: 2)
    try await wait { receiver.takenIDs.count == 6 }
    #expect(receiver.firstIDs == Array(4...9))
    let request = try #require(receiver.requests.first)
    #expect(
      request.body
        == #"{"id":"4","kind":"fired","alertId":"1","stockSymbol":"sh600000","source":"sina","#
        + #""condition":"above","threshold":"10","withdraws":null,"tradingDay":"2026-07-06","#
        + #""basis":"last","value":"11.50","epoch":1,"seq":4,"#
        + #""observedAt":"2026-07-06T10:00:00+08:00","at":"\#(try at(4))","readAt":null}"#)
    #expect(request.headers["content-type"] == "application/json")
    let outcome = try PythonScript.run(
      "Tests/GatewayTests/Scripts/webhook.py",
      [
        WebhookSecret(Array(0..<32)).reveal(), request.headers["webhook-id"] ?? "",
        request.headers["webhook-timestamp"] ?? "", request.headers["webhook-signature"] ?? "",
        request.body,
      ], by: .debian)
    #expect(outcome.output == "True\nFalse\n", "\(outcome)")
    try await wait { gateway.webhooks.figures.attempts == ["delivered": 6] }
    let state = try webhook()
    #expect(state.deliveredAt != nil && state.failures == 0 && state.lastError == nil)
  }

  private func at(_ id: Int) throws -> String {
    let rows = try NotificationTable(connection).inbox(
      of: 1, before: nil, isUnread: false, limit: 100)
    return try #require(rows.first { $0.id == id }).storedAt.description
  }

  @Test(arguments: [UInt64.random(in: 0..<1_000_000), UInt64.random(in: 0..<1_000_000)])
  func `whatever a receiver does and whichever gateway ends, all comes, and in order`(
    _ seed: UInt64
  ) async throws {
    let random = Locked(SplitMix(seed: seed))
    let receiver = try HookReceiver { _, _ in
      switch random.withLock({ Int.random(in: 0..<10, using: &$0) }) {
      case 0: .status(500)
      case 1: .status(302)
      case 2: .cut
      case 3: .silence
      case 4: .page
      default: .status(200)
      }
    }
    try hook(receiver.url)
    var gateways = [try gateway(deadlineMilliseconds: 150), try gateway(deadlineMilliseconds: 150)]
    defer { for gateway in gateways { gateway.stop() } }
    for batch in 0..<6 {
      try notify(batch * 10 + 1...batch * 10 + 10)
      let pause = random.withLock { Int.random(in: 0...300, using: &$0) }
      try await Task.sleep(for: .milliseconds(pause))
      if batch % 2 == 0 {
        // As if its machine were gone: what it has in flight is not stored.
        gateways.removeFirst().stop()
        try database.endSessions(of: "candled gateway webhooks")
        gateways.append(try gateway(deadlineMilliseconds: 150))
      }
    }
    try await wait { receiver.takenIDs.count == 60 }
    #expect(receiver.firstIDs == Array(1...60), "seed \(seed)")
    #expect(receiver.isInOrder, "seed \(seed)")
    try await wait { try webhook().failures == 0 }
  }

  @Test func `receivers that are slow or dead hold up no other's`() async throws {
    let slow = try HookReceiver { _, _ in .silence }
    let good = try HookReceiver { _, _ in .status(200) }
    for _ in 0..<4 { try hook(slow.url) }
    try hook("http://127.0.0.1:1/")
    try hook(good.url, user: 2)
    let gateway = try gateway(deadlineMilliseconds: 30_000)
    defer { gateway.stop() }
    try notify(1...1)
    try await wait { slow.requests.count == 4 }
    let begun = MonotonicClock.seconds()
    try notify(2...41, user: 2)
    try await wait { good.takenIDs.count == 40 }
    #expect(good.firstIDs == Array(2...41))
    #expect(MonotonicClock.seconds() - begun < 20 && slow.requests.count == 4)
    #expect((gateway.webhooks.figures.waitingMicroseconds ?? 0) > 0)
  }

  @Test func `who waits longest since he had one is next, whatever the others missed`() async throws
  {
    let names = try (0..<3).map { try hook("https://example.com/\($0)").id }
    let queue = WebhookQueue(connection)
    var lease = GatewayLease(.webhooks, over: connection)
    #expect(try lease.take(holder: "test", at: 0))
    let term = try #require(lease.term)
    try notify(1...3)
    #expect(try queue.pending(limit: 1).webhooks == Int64(names.count))
    var served: [Int64] = []
    for _ in 0..<4 {
      let next = try #require(try queue.pending(limit: 1).deliveries.first)
      served.append(next.webhookID)
      try queue.record(DeliveryOutcome(next), inTerm: term)
    }
    #expect(served == names + [names[0]])
    // Another gateway delivers since.
    try database.execute("update candled_app.gateway_lease set term = term + 1")
    let next = try #require(try queue.pending(limit: 1).deliveries.first)
    #expect(throws: AppStoreError.termIsOver(term)) {
      try queue.record(DeliveryOutcome(next), inTerm: term)
    }
    let again = try #require(try queue.pending(limit: 1).deliveries.first)
    #expect(again.notification.id == next.notification.id)
  }

  @Test func `after 410 or five days of failures it is disabled, and a PUT brings what it missed`()
    async throws
  {
    let gone = Locked(true)
    let receiver = try HookReceiver { _, _ in gone.withLock { $0 } ? .status(410) : .status(503) }
    let made = try hook(receiver.url)
    let gateway = try gateway()
    defer { gateway.stop() }
    try notify(1...2)
    try await wait { try webhook().disabledAt != nil }
    #expect(try webhook().lastError == "the receiver answered 410")
    #expect(receiver.requests.count == 1)
    #expect(gateway.webhooks.figures.attempts == ["status": 1])
    gone.withLock { $0 = false }
    let table = WebhookTable(connection, userID: 1)
    #expect(try table.replace(made.id, url: receiver.url).disabledAt == nil)
    try await wait { try webhook().failures >= 3 }
    #expect(try webhook().disabledAt == nil)
    // A few failures under a clock that was set are no five days.
    try database.execute(
      "update candled_app.webhook set failing_since = now() - interval '6 days', retry_at = now()")
    let failed = try webhook().failures
    try await wait { try webhook().failures > failed + 1 }
    #expect(try webhook().disabledAt == nil)
    try database.execute("update candled_app.webhook set failures = 100")
    try await wait { try webhook().disabledAt != nil }
    #expect(try webhook().lastError == "the receiver answered 503")
    let better = try HookReceiver { _, _ in .status(204) }
    _ = try table.replace(made.id, url: better.url)
    try await wait { better.requests.count == 2 }
    #expect(better.firstIDs == [1, 2])
  }

  @Test func `a name that leads into a private network is not connected to`() async throws {
    let receiver = try HookReceiver { _, _ in .status(200) }
    try hook("https://localhost:\(receiver.port)/")
    let gateway = try HookGateway(WebhookOptions(), url: url, log: quietLog)
    defer { gateway.stop() }
    try notify(1...1)
    try await wait { try webhook().failures == 1 }
    #expect(try webhook().lastError == "the host has an address that must not be called")
    #expect(receiver.requests.isEmpty)
    // What was stored under another configuration is judged again.
    _ = try WebhookTable(connection, userID: 1).replace(1, url: receiver.url)
    try await wait { try webhook().lastError == "the URL must begin with https" }
  }

  @Test func `no secret, URL or body is in the log`() async throws {
    let receiver = try HookReceiver { _, count in count % 2 == 0 ? .cut : .status(200) }
    let secret = Array("CANARYCANARYCANARYCANARYCANARY12".utf8)
    try hook(receiver.url + "/CANARYPATH", secret: secret)
    let gateway = try gateway()
    defer { gateway.stop() }
    try notify(1...3)
    try database.endSessions(of: "candled gateway webhooks")
    try await wait { receiver.takenIDs.count == 3 }
    let text = lines.withLock { $0.joined(separator: "\n") }
    #expect(text.contains("this gateway calls webhooks"))
    for canary in [
      "CANARY", Data(secret).base64EncodedString(), WebhookSecret(secret).reveal(), "11.50",
    ] {
      #expect(!text.contains(canary), "\(text)")
    }
    #expect("\(WebhookSecret(secret))" == "<secret>")
    let statements = try database.execute("select query from pg_stat_activity")
    #expect(!"\(statements)".contains("CANARY"))
  }
}

/// What of a gateway calls webhooks.
struct HookGateway {
  let webhooks: Webhooks
  private let follower: DatabaseFollower

  init(_ options: WebhookOptions, url: String, log: Logger) throws {
    webhooks = Webhooks(options)
    follower = try webhooks.follow(url: url, log: log)
  }

  func stop() { follower.stop() }
}
