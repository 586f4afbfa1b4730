import Commits
import Feeds
import Market
import Postgres
import Reader
import Store
import TestSupport

/// What a candle says, whether it was made in a test or came out of the database.
struct AskedCandle: Equatable {
  var openedAt: Timestamp
  var closedAt: Timestamp
  var tradingDay: TradingDay
  var prices: [ExactDecimal?]
  var volume: ExactDecimal
  var turnover: ExactDecimal?
  var trades: Int64?
  var vwap: ExactDecimal?
  var flags: CandleFlags
  var source: String

  init(_ candle: Candle) {
    openedAt = candle.openedAt
    closedAt = candle.closedAt
    tradingDay = candle.tradingDay
    prices = [candle.open, candle.high, candle.low, candle.close]
    volume = candle.volume
    turnover = candle.turnover
    trades = candle.trades
    // As the database shows it where the source sends none.
    vwap = candle.vwap ?? candle.turnover.flatMap { try? $0.divided(by: candle.volume, scale: 4) }
    flags = candle.flags
    source = candle.source.name
  }

  init(_ record: CandleRecord) {
    openedAt = record.openedAt
    closedAt = record.closedAt
    tradingDay = record.tradingDay
    prices = [record.open, record.high, record.low, record.close]
    volume = record.volume
    turnover = record.turnover
    trades = record.trades
    vwap = record.vwap
    flags = record.flags
    source = record.source
  }
}

/// A database that was filled through the writer, and questions to it.
struct AskedStore {
  let database: StoreDatabase
  let writer: StoreWriter
  let queries: StoreReader
  private var position: Int64 = 0

  init() async throws {
    database = try StoreDatabase()
    writer = try await freshWriter(database)
    queries = try StoreReader(url: database.url)
  }

  mutating func commit(
    at knownAt: Timestamp, candles: [Candle] = [], revisions: [Candle] = []
  ) async throws {
    position += 1
    var commit = Commit(position: JournalPosition(position), knownAt: knownAt)
    commit.candles = candles
    commit.revisions = revisions.map { Revision(candle: $0, cause: .latePrint) }
    _ = try await writer.commit(commit)
  }

  func ask(
    _ symbol: Symbol, _ timeframe: Timeframe,
    _ set: (inout CandleQuery) throws -> Void = { _ in }
  ) throws -> [AskedCandle] {
    var query = CandleQuery(symbol, timeframe: timeframe)
    try set(&query)
    return try queries.candles(query).map { AskedCandle($0) }
  }

  /// The error a question is answered with.
  func refusal(_ sql: String) throws -> StoreError? {
    do {
      try database.execute("set search_path = candled; " + sql)
      return nil
    } catch let error as StoreError {
      return error
    }
  }
}

extension StoreSamples {
  /// A minute anywhere, of any series.
  mutating func minute(
    _ symbol: Symbol, day: TradingDay, opened: Timestamp, source: Source = .sina
  ) -> Candle {
    var candle = candle(0, minute: 0)
    candle.symbol = symbol
    candle.tradingDay = day
    candle.openedAt = opened
    candle.closedAt = opened.adding(seconds: 60)
    candle.source = source
    candle.flags = []
    if oneIn(5) { candle.flags.insert(.noTrade) }
    if oneIn(60) { candle.flags.insert(.partial) }
    if oneIn(8) { candle.flags.insert(.extremeAmbiguous) }
    if oneIn(200) { candle.turnover = nil }
    if source != .sina { candle.trades = .random(in: 0...9_999, using: &random) }
    return candle
  }

  mutating func oneIn(_ count: Int) -> Bool { Int.random(in: 0..<count, using: &random) == 0 }
}
