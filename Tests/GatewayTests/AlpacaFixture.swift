import AppStore
import Commits
import Foundation
import HTTPTypes
import Market
import NIOPosix
import Operations
import Platform
import Store
import TestSupport
import TestTraits
import Testing

@testable import Gateway

/// Half an hour of three mainland stocks with quotes and of an American one without, and days.
enum AlpacaSamples {
  static let american = Symbol("AAPL")
  static let minutes = 30

  static func fill(_ writer: StoreWriter) async throws -> Int64 {
    var samples = StoreSamples(seed: 41)
    for minute in 0..<minutes { _ = try await writer.commit(try commit(minute, &samples)) }
    var last = Commit(
      position: JournalPosition(31), knownAt: StoreSamples.start.adding(seconds: 1_800))
    last.candles = try (1...2).flatMap { daysEarlier in
      [
        try day(StoreSamples.day.advanced(by: -daysEarlier - 2), .live, &samples),
        try day(StoreSamples.day.advanced(by: 1 - daysEarlier), .alpacaIEX, &samples),
      ]
    }
    last.instruments = [
      InstrumentRow(symbol: StoreSamples.symbol(0), source: .live, kind: .stock, name: "样本")
    ]
    _ = try await writer.commit(last)
    return 31
  }

  /// One minute of everything.
  static func commit(_ minute: Int, _ samples: inout StoreSamples) throws -> Commit {
    var commit = samples.minute(minute, position: Int64(minute + 1), instruments: 3)
    commit.knownAt = StoreSamples.start.adding(seconds: Int64(minute) * 60)
    let opened = Timestamp(day: StoreSamples.day, newYorkSecondOfDay: 34_200 + minute * 60)
    var candle = samples.candle(0, minute: minute)
    candle.symbol = try #require(american)
    (candle.openedAt, candle.closedAt) = (opened, opened.adding(seconds: 60))
    (candle.source, candle.turnover, candle.flags) = (.alpacaIEX, nil, [])
    (candle.trades, candle.vwap) = (Int64(minute), candle.close)
    commit.candles.append(candle)
    for index in commit.quotes.indices {
      commit.quotes[index].quote.bids[0] = BookLevel(
        price: samples.price(), volume: samples.shares())
    }
    return commit
  }

  static func day(
    _ day: TradingDay, _ source: Source, _ samples: inout StoreSamples
  ) throws -> Candle {
    var candle = samples.candle(0, minute: 0)
    let isAmerican = source == .alpacaIEX
    if isAmerican { candle.symbol = try #require(american) }
    candle.openedAt =
      isAmerican
      ? Timestamp(day: day, newYorkSecondOfDay: 0)
      : Timestamp(day: day, secondOfDay: Session.morningOpen)
    candle.closedAt =
      isAmerican
      ? Timestamp(day: day.advanced(by: 1), newYorkSecondOfDay: 0)
      : Timestamp(day: day, secondOfDay: Session.afternoonClose)
    (candle.timeframe, candle.tradingDay, candle.flags) = (.day1, day, [])
    if isAmerican { (candle.source, candle.turnover) = (source, nil) }
    return candle
  }
}

/// All of a gateway in front of such a database: streams follow what is committed.
final class AlpacaFixture: Sendable {
  let database: StoreDatabase
  let secret: String
  private let gateway: Gateway
  private let parts: Gateway.Parts
  private let writer: StoreWriter
  private let samples: Locked<StoreSamples>
  private let following: Task<Void, Never>

  init(isAnonymous: Bool = false) async throws {
    database = try StoreDatabase()
    writer = try await GatewayFixture.openWriter(database)
    _ = try await AlpacaSamples.fill(writer)
    samples = Locked(StoreSamples(seed: 42))
    gateway = Gateway(
      GatewayOptions(listen: .ipv4(host: "127.0.0.1", port: 0), databaseURL: database.url),
      log: quietLog)
    var generator = SystemRandomNumberGenerator()
    let token = TokenSecret(using: &generator)
    secret = token.reveal()
    let control = AccessControl(.init(anonymous: isAnonymous), directory: TokenDirectory())
    control.directory.replace(with: [
      token.digest: Token(
        id: 7, userID: 3, user: "alice", name: "peer", scopes: [.market],
        createdAt: Timestamp(seconds: 0))
    ])
    parts = gateway.parts(control: control, loops: MultiThreadedEventLoopGroup.singleton).parts
    following = Task { [gateway, parts] in await gateway.follower(sinks: parts.sinks).run() }
    let deadline = MonotonicClock.seconds() + 30
    while gateway.memory.state.seq < 31 || !gateway.ring.isComplete,
      MonotonicClock.seconds() < deadline
    {
      try await Task.sleep(for: .milliseconds(5))
    }
  }

  deinit { following.cancel() }

  /// The next minute, with a revision of its first.
  func commit(_ minute: Int) async throws {
    var commit = try samples.withLock { try AlpacaSamples.commit(minute, &$0) }
    commit.position = JournalPosition(Int64(minute + 2))
    let revised = samples.withLock { $0.candle(0, minute: 3) }
    commit.revisions = [Revision(candle: revised, cause: .latePrint)]
    _ = try await writer.commit(commit)
  }

  func listen<Result: Sendable>(
    body: @escaping @Sendable (_ port: Int) async throws -> Result
  ) async throws -> Result {
    try await LiveServer.run(gateway, parts, body: body)
  }

  /// Minutes as the database has them: opened (UTC), open, high, low, close, volume, average.
  func minutes(of symbol: String) throws -> [[String?]] {
    try database.execute(
      """
      select to_char(opened_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), open, high, low,
        close, volume, vwap
      from candled.candles('\(symbol)', '1m')
      """)
  }
}

extension AlpacaID {
  /// In a database that never was restored.
  func text(_ number: Int64) -> String { text(number, in: .none) }
  func number(_ text: String) -> Int64? { number(text, in: .none) }
}
