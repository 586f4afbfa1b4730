import Commits
import Foundation
import Logging
import Market
import Platform
import Reader
import Store
import TestSupport
import Testing

@testable import Gateway

/// A database that a writer commits to, and a gateway's memory that follows it.
final class GatewayFixture: Sendable {
  let database: StoreDatabase
  let writer: StoreWriter
  let memory = MarketMemory()
  let ring = FeedRing()
  let news = NewsRecorder()
  let pool: QueryPool
  let follower: FeedFollower
  private let following: Task<Void, Never>

  init(_ database: StoreDatabase? = nil) async throws {
    let database = try database ?? StoreDatabase()
    self.database = database
    writer = try await Self.openWriter(database)
    let url = try database.url(memberOf: "candled_reader")
    pool = QueryPool(url: url, connections: 2, log: quietLog)
    let follower = FeedFollower(
      url: url, memory: memory, ring: ring, sinks: [news], log: quietLog, pool: pool)
    self.follower = follower
    following = Task { await follower.run() }
  }

  deinit { following.cancel() }

  static func openWriter(_ database: StoreDatabase) async throws -> StoreWriter {
    let writer = StoreWriter(url: database.url)
    try await writer.connect()
    _ = try await writer.load()
    return writer
  }

  /// The state, once it contains a change and is not stale.
  func state(through seq: Int64) async throws -> MarketState {
    try await state { $0.isLoaded && $0.seq >= seq && $0.lostAt == nil }
  }

  /// The state, once it is as wanted; half a minute is more than any test here takes.
  func state(where isWanted: (MarketState) -> Bool) async throws -> MarketState {
    let deadline = MonotonicClock.seconds() + 30
    while MonotonicClock.seconds() < deadline {
      let state = memory.state
      if isWanted(state) { return state }
      try await Task.sleep(for: .milliseconds(5))
    }
    Issue.record("the state did not come")
    return memory.state
  }
}

let quietLog: Logger = {
  var log = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
  log.logLevel = .critical
  return log
}()

final class NewsRecorder: FeedSink {
  private let received = Locked<[FeedNews]>([])

  func receive(_ news: FeedNews) { received.withLock { $0.append(news) } }

  var updates: [FeedUpdate] {
    received.withLock { $0.compactMap { if case .update(let update) = $0 { update } else { nil } } }
  }

  var resyncs: [ResyncReason] {
    received.withLock {
      $0.compactMap { if case .resync(let reason, _, _) = $0 { reason } else { nil } }
    }
  }

  /// Whether it was lost, in order.
  var connections: [Bool] {
    received.withLock {
      $0.compactMap { if case .connection(let lostAt) = $0 { lostAt != nil } else { nil } }
    }
  }
}

extension EncodedStock {
  /// With JSON that is made up.
  init(_ quote: Quote, index: Int = 0, seq: Int64 = 1, json: [UInt8] = []) {
    let latest = LatestQuote(
      quote: quote, source: .live, name: nil, forming: nil, receivedAt: quote.at, seq: seq)
    self.init(
      place: SeriesPlace(index: index), json: json, latest: latest, figures: StockFigures(quote),
      band: nil, isStale: false)
  }

  /// Read by another reader of JSON.
  var fields: [String: Any] {
    get throws {
      try JSONSerialization.jsonObject(with: Data(json)) as? [String: Any] ?? [:]
    }
  }
}
