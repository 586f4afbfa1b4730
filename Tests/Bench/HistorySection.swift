/// A backfill into `candle`, against PostgreSQL's own floor: the same rows, already encoded, by a
/// bare COPY into the same table in the same run.
///
/// Ours also gives ids to instruments, encodes, writes the change row with every key, and notifies.
/// The bars come from memory, so that the source is not what is measured.

import Commits
import EmbeddedPostgres
import Market
import Store
import TestSupport

let historySection = BenchSection(
  name: "history", title: "commits of 100,000 new minute candles, fsync on"
) { _ in
  let database = try StoreDatabase.alone(isDurable: true)
  defer { try? database.server.stopImmediately() }
  var bench = try await HistoryBench(database)
  try await bench.run()
  report([bench.bare, bench.ours])
  let candles = Double(HistoryBench.symbols * HistoryBench.barsOfSymbol)
  printLine("  bare COPY: \(decimals(candles / bench.bare.median * 1000, 0)) candles/s")
  check("candled stores", candles / bench.ours.median * 1000, atLeast: 150_000, "candles/s")
  check("that is", bench.bare.median / bench.ours.median, atLeast: 0.6, "× of a bare COPY")
}

private struct HistoryBench {
  static let symbols = 50
  static let barsOfSymbol = 2000
  private static let rounds = 15
  private static let warmingRounds = 2
  private static let columns = """
    opened_at, closed_at, known_from, instrument_id, trading_day, timeframe, flags, source, open, \
    high, low, close, volume, turnover
    """
  /// Ids the writer does not reach in this run.
  private static let idsApart = 1_000_000

  private let writer: HistoryWriter
  private let peer: BareConnection
  private var random = SplitMix(seed: 11)
  var ours = BenchRow("candled: HistoryWriter")
  var bare = BenchRow("floor: bare COPY")

  init(_ database: StoreDatabase) async throws {
    writer = HistoryWriter(url: database.url)
    try await writer.connect()
    peer = try BareConnection(url: database.url)
  }

  mutating func run() async throws {
    for round in 0..<Self.rounds + Self.warmingRounds {
      let first = round * Self.symbols
      let commit = HistoryCommit(
        knownAt: StoreSamples.start, bars: (0..<Self.symbols).map { bars(of: first + $0) },
        chunk: HistoryCommit.Chunk(
          name: "bench \(round)", through: StoreSamples.start.shanghaiDay))
      let start = milliseconds()
      let receipt = try await writer.commit(commit)
      let elapsed = milliseconds() - start
      guard receipt.candles == Self.symbols * Self.barsOfSymbol else {
        throw BenchFailure(description: "only \(receipt.candles) candles were stored")
      }
      let floor = try floor(first)
      if round < Self.warmingRounds { continue }
      ours.rounds.append(elapsed)
      bare.rounds.append(floor)
    }
    await writer.disconnect()
  }

  /// The round's rows once more, for instruments of their own.
  private func floor(_ first: Int) throws -> Double {
    let selected = Self.columns.replacing(
      "instrument_id", with: "instrument_id + \(Self.idsApart)")
    let rows = try peer.rows(
      of: """
        (select \(selected) from candle
        where instrument_id > \(first) and instrument_id <= \(first + Self.symbols)
        order by instrument_id, timeframe, candle.opened_at)
        """)
    let start = milliseconds()
    try peer.copy(rows, into: "candle (\(Self.columns))")
    return milliseconds() - start
  }

  private mutating func bars(of number: Int) -> BarBatch {
    var candles: [Candle] = []
    var units: Int64 = .random(in: 500...50_000, using: &random)
    for place in 0..<Self.barsOfSymbol {
      units = max(units + .random(in: -5...5, using: &random), 100)
      candles.append(bar(number, place, units))
    }
    return BarBatch(
      symbol: StoreSamples.symbol(number), source: .sina, timeframe: .minute1, candles: candles,
      receivedAt: StoreSamples.start)
  }

  private mutating func bar(_ number: Int, _ place: Int, _ units: Int64) -> Candle {
    let (days, minute) = place.quotientAndRemainder(dividingBy: Session.minutesPerDay)
    let day = StoreSamples.day.advanced(by: days)
    let openedAt = Timestamp(day: day, secondOfDay: Session.opening(ofMinute: minute))
    func price(_ offset: Int64) -> ExactDecimal { ExactDecimal(units: units + offset, scale: 2) }
    let volume = Int64.random(in: 1...20_000, using: &random) * 100
    return Candle(
      symbol: StoreSamples.symbol(number), timeframe: .minute1, tradingDay: day,
      openedAt: openedAt, closedAt: openedAt.adding(seconds: 60), open: price(0), high: price(3),
      low: price(-2), close: price(1), volume: ExactDecimal(volume),
      turnover: ExactDecimal(units: volume * units, scale: 2), flags: [], source: .sina)
  }
}
