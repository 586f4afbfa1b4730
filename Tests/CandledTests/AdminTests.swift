import ExchangeSimulator
import Foundation
import Glibc
import Ledgers
import Market
import Platform
import TestExchange
import TestSupport
import TestTraits
import Testing

/// A daemon that records at ten times its speed, asked over HTTP while it does.
@Suite(.ownThread) struct `The admin endpoint` {
  private static let canary = "CANARY-licence-5c1d77"
  /// For a daemon that never does it: on an idle machine it takes ten.
  private static let recordingSecondsMax: Int64 = 180

  @Test func `prints the daemon's state while it records`() throws {
    let day = try #require(TradingDay("2026-07-06"))
    let market = SimulatedMarket(seed: 3, day: day, instruments: 15)
    let exchange = try ExchangeServer(market: market)
    defer { exchange.stop() }
    let database = try StoreDatabase()
    let folder = try PrivateCluster.freshDirectory()
    let keys = try Self.secretFile(folder)
    let daemon = try RunningBinary(
      ["run"] + SimulatedMorning.options(exchange, market.symbols, stateDirectory: folder) + [
        "--set", "clock.mode=scaled", "--set", "clock.speed=10", "--set",
        "clock.start=\(day)T09:30:30+08:00",
        "--set", "admin.listen=127.0.0.1:0", "--set", "log.level=trace",
        "--set", "mairui.licence_file=\(keys)", "--set", "mairui.bases=\(exchange.url)",
        "--set", "alpaca.base=\(exchange.url)", "--set", "alpaca.trading_base=\(exchange.url)",
      ],
      input: SimulatedMorning.configuration(database))
    #expect(
      daemon.logContains("message=ready") && daemon.logContains("endpoint listening"),
      "\(daemon.captured)")
    let port = try #require(
      daemon.captured.firstMatch(of: #/address="?127\.0\.0\.1:([0-9]+)/#).flatMap {
        UInt16($0.output.1)
      })
    let endpoint = Endpoint(port: port)
    try expectRecording(endpoint)
    try expectStatus(port, database)
    daemon.signal(SIGTERM)
    #expect(try daemon.ended() == 0, "\(daemon.captured)")
    #expect(throws: (any Error).self) { try endpoint.get("/livez") }
    #expect(!daemon.captured.contains("CANARY"))
  }

  /// Asks in a loop until ten commits of answers and ten requests were made meanwhile: the first
  /// commit of a term may be of none.
  private func expectRecording(_ endpoint: Endpoint) throws {
    let quotes = ["source": "sina", "endpoint": "quotes"]
    var (commits, lags, requests) = (0.0, 0.0, 0.0)
    var wasReady = false
    var whole: PrometheusPage?
    let end = MonotonicClock.seconds() + Self.recordingSecondsMax
    while lags < 10 || requests < 10 || !wasReady {
      try #require(MonotonicClock.seconds() < end, "\(commits) commits, \(requests) requests")
      let text = try endpoint.get("/metrics")
      #expect(text.status == 200 && text.head.contains("text/plain; version=0.0.4"))
      let page = try PrometheusPage(text.body)
      // Nothing is told of an engine that is late.
      guard let now = page["candled_commits_total"] else { continue }
      whole = page
      #expect(now >= commits && page.samples.count <= 500)
      commits = now
      lags = page["candled_commit_lag_seconds_count"] ?? 0
      requests = page["candled_requests_total", quotes] ?? 0
      #expect(try endpoint.get("/livez").body == "ok\n")
      let ready = try endpoint.get("/readyz")
      #expect((ready.status == 200) == ready.body.hasPrefix("ready\n"), "\(ready.body)")
      wasReady = wasReady || ready.status == 200
      for path in ["/livez", "/readyz", "/metrics", "/status"] {
        #expect(try !endpoint.get(path).body.contains("CANARY"))
      }
    }
    let page = try #require(whole)
    #expect(page["candled_role", ["role": "leading"]] == 1)
    #expect(page["candled_store_up"] == 1 && page["candled_journal_up"] == 1)
    #expect((page["candled_requests_total", quotes] ?? 0) >= 10)
    #expect(page["candled_source_in_session", quotes] == 1)
    #expect((page["candled_journal_committed_position"] ?? 0) > 0)
    #expect((page["candled_commit_lag_seconds_count"] ?? 0) >= 10)
    #expect(try endpoint.get("/nothing").status == 404)
  }

  /// `candled status` shows the daemon and its database.
  private func expectStatus(_ port: UInt16, _ database: StoreDatabase) throws {
    let arguments = [
      "status", "--config", "/dev/stdin", "--set", "admin.listen=127.0.0.1:\(port)",
    ]
    let input = try SimulatedMorning.configuration(database)
    let json = try BuiltBinary.run(arguments + ["--json"], input: input)
    #expect(json.status == 0, "\(json.errors)")
    let status = try Parsed.object(json.output)
    let daemon = try #require(status["daemon"] as? [String: Any])
    #expect(daemon["role"] as? String == "leading")
    #expect((status["position"] as? Int ?? 0) > 0 && status["health"] != nil)
    let text = try BuiltBinary.run(arguments, input: input)
    #expect(text.output.contains("leading, term") && text.output.contains("last_commit_at"))
    #expect(text.output.contains("sina quotes"))
  }

  @Test func `shows why no data arrive: in the log, in the view and in the status`() throws {
    let database = try StoreDatabase()
    let run = try BuiltBinary.run(
      [
        "run", "--config", "/dev/stdin", "--set",
        "state_directory=\(try PrivateCluster.freshDirectory())",
        // No name under it ever resolves (RFC 6761).
        "--set", "quotes.sources=sina", "--set", "sina.base=http://quotes.invalid",
        "--set", "quotes.symbols=sh000001",
        "--set", "sina.history_base=http://history.invalid", "--set", "quotes.overview=",
        "--set", "clock.mode=stepped", "--set", "clock.start=2026-07-06T10:00:00+08:00",
        "--set", "clock.stop=2026-07-06T10:01:00+08:00",
      ], input: SimulatedMorning.configuration(database))
    #expect(run.status == 0, "\(run.errors)")
    let words = "cannot resolve quotes.invalid ("
    #expect(run.errors.contains(words) && run.errors.contains("since 10:00): check DNS or"))
    let health = try database.execute(
      """
      select detail, last_success_at, updated_at >= '2026-07-06 10:00+08'
      from candled.health
      where endpoint = 'quotes'
      """)
    let row = try #require(health.first)
    #expect(row[0]?.hasPrefix(words) == true && row[1] == nil && row[2] == "t", "\(row)")
    let status = try SimulatedMorning.ask(database, ["status"])
    #expect(status.output.contains(words), "\(status.output)")
    #expect(!status.output.contains("1970-"), "\(status.output)")
  }

  @Test func `prints one line where no daemon answers, and shows the database`() throws {
    let run = try SimulatedMorning.ask(
      try SimulatedMorning.get().database, ["status", "--set", "admin.listen=/tmp/candled-none"])
    #expect(run.status == 0)
    #expect(run.output.hasPrefix("daemon  not running, or not listening at /tmp/candled-none"))
    #expect(run.output.contains("last_commit_at"))
    let json = try SimulatedMorning.get().ask("status", "--json")
    #expect(try Parsed.object(json.output)["daemon"] is NSNull)
  }

  private static func secretFile(_ folder: String) throws -> String {
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let path = folder + "/keys"
    let file = open(path, O_WRONLY | O_CREAT, 0o600)
    defer { close(file) }
    #expect(write(file, canary + "\n", canary.utf8.count + 1) == canary.utf8.count + 1)
    return path
  }
}
