import AppStore
import Commits
import Foundation
import HTTPTypes
import Market
import NIOCore
import Operations
import Platform
import Postgres
import Store
import TestSupport
import Testing

@testable import Gateway

/// A gateway in front of a private database: requests go to its route table in memory, or through
/// a socket.
final class ServedFixture: Sendable {
  let database: StoreDatabase
  let gateway: Gateway
  let parts: Gateway.Parts
  private let following: Task<Void, Never>

  /// Without a database of its own and a way to fill it, it has two hours.
  init(
    _ given: StoreDatabase? = nil, parts: Gateway.Parts = Gateway.Parts(),
    commandMilliseconds: Int = 5_000, fill: ((StoreWriter) async throws -> Int64)? = nil
  ) async throws {
    let database: StoreDatabase
    let seq: Int64
    if given == nil, fill == nil {
      database = try await Self.afterTwoHours.value.twin()
      seq = Self.minutes
    } else {
      database = try given ?? StoreDatabase.withApps()
      if given != nil { try AppSchema.file.apply(url: database.url) }
      seq = try await (fill ?? Self.twoHours)(try await GatewayFixture.openWriter(database))
    }
    self.database = database
    self.parts = parts
    var options = GatewayOptions(
      listen: .ipv4(host: "127.0.0.1", port: 0),
      databaseURL: try database.url(memberOf: "candled_app"))
    options.commandMilliseconds = commandMilliseconds
    let gateway = Gateway(options, log: quietLog)
    self.gateway = gateway
    following = Task { await gateway.follower(sinks: []).run() }
    try await wait { $0.isLoaded && $0.seq >= seq && gateway.ring.isComplete }
  }

  deinit { following.cancel() }

  func wait(for isWanted: (MarketState) -> Bool) async throws {
    let deadline = MonotonicClock.seconds() + 30
    while !isWanted(gateway.memory.state) {
      guard MonotonicClock.seconds() < deadline else {
        Issue.record("the state did not come")
        return
      }
      try await Task.sleep(for: .milliseconds(5))
    }
  }

  /// What fixtures with two hours are made of: to commit them takes longer than most tests.
  private static let afterTwoHours = Task {
    let database = try StoreDatabase.withApps()
    let writer = try await GatewayFixture.openWriter(database)
    _ = try await twoHours(writer)
    await writer.disconnect()
    return database
  }

  private static let minutes: Int64 = 120

  /// Three instruments, minute candles of two hours, a gap, a revision. Always the same.
  static func twoHours(_ writer: StoreWriter) async throws -> Int64 {
    var samples = StoreSamples(seed: 14)
    for minute in 0..<Int(minutes) {
      var commit = samples.minute(minute, position: Int64(minute + 1), instruments: 3)
      commit.knownAt = StoreSamples.start.adding(seconds: Int64(minute) * 60)
      if minute == 60 {
        commit.revisions = [Revision(candle: samples.candle(0, minute: 30), cause: .latePrint)]
        commit.gaps = [
          Gap(
            symbol: StoreSamples.symbol(0), tradingDay: StoreSamples.day,
            from: StoreSamples.start, to: StoreSamples.start.adding(seconds: 600),
            volume: ExactDecimal(5), turnover: ExactDecimal(units: 501, scale: 2), cause: .outage)
        ]
      }
      _ = try await writer.commit(commit)
    }
    return minutes
  }

  func get(
    _ path: String, method: HTTPRequest.Method = .get, headers: HTTPFields = [:],
    body: ByteBuffer? = nil, overSocket: Bool = false
  ) async throws -> Reply {
    let asked = AskedRequest(path: path, method: method, headers: headers, body: body)
    guard overSocket else { return try await asked.answer(from: gateway.table(parts)) }
    return try await listen { port in try asked.answer(fromPort: port) }
  }

  /// Serves on loopback while `body`, on a thread of its own, asks.
  func listen<Result: Sendable>(
    body: @escaping @Sendable (_ port: Int) async throws -> Result
  ) async throws -> Result {
    try await LiveServer.run(gateway, parts, body: body)
  }
}
