import AppStore
import Foundation
import Operations
import Platform
import Postgres
import TestSupport
import TestTraits
import Testing

@testable import Gateway

/// World indexes are no part of the feed: the daemon replaces their rows all day.
@Suite(.ownThread) struct WorldIndexTests {
  @Test("world indexes are those of now, and not those of the gateway's start")
  func live() async throws {
    let database = try StoreDatabase.withApps()
    let gateway = Gateway(
      GatewayOptions(listen: .ipv4(host: "127.0.0.1", port: 0), databaseURL: database.url),
      log: quietLog)
    let control = AccessControl(.init(anonymous: true), directory: TokenDirectory())
    try Self.write("46247.29", at: "2026-07-06 10:00+08", to: database)
    try await HostileServer.run(gateway, control: control) { port in
      for (last, at) in [("46247.29", "10:00:00"), ("46300.10", "10:00:06"), ("1.5", "10:00:09")] {
        try Self.write(last, at: "2026-07-06 \(at)+08", to: database)
        let shown = try await Self.index(port: port) { $0["last"] as? String == last }
        #expect(shown["at"] as? String == "2026-07-06T\(at)+08:00")
        #expect(shown["symbol"] as? String == "gb_$dji")
      }
    }
  }

  private static func write(_ last: String, at: String, to database: StoreDatabase) throws {
    try database.execute(
      """
      insert into candled.overview (symbol, name, last, change, percent_change, at)
      values ('gb_$dji', '道琼斯', \(last), 1, 2, '\(at)')
      on conflict (symbol) do update set last = excluded.last, at = excluded.at
      """)
  }

  /// What the market shows, once it is as wanted; half a minute is ten looks.
  private static func index(
    port: Int, where isWanted: ([String: Any]) -> Bool
  ) async throws -> [String: Any] {
    let deadline = MonotonicClock.seconds() + 30
    while MonotonicClock.seconds() < deadline {
      let market = try AskedRequest(path: "/v1/market").answer(fromPort: port).json
      let first = (market["indexes"] as? [[String: Any]])?.first ?? [:]
      if isWanted(first) { return first }
      try await Task.sleep(for: .milliseconds(50))
    }
    Issue.record("the index did not come")
    return [:]
  }
}
