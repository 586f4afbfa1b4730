import Commits
import Feeds
import Market
import Reader

/// A replay compared with the tables: rows of the last days in memory, each day compared once it
/// can no longer change, instrument by instrument. Independent of how the daemon grouped its
/// commits: what depends on that (ids, seq, known_from, received_at) is not compared.
///
/// What was built from quotes is compared. A day that bars were compared with later is compared as
/// it stood before: the database remembers. Bars themselves are copies of the responses.
struct ReplayVerification<Tables: ReplayedTables> {
  private let tables: Tables
  private let instruments: [Symbol]
  /// What was before the first entry is none of the journal's business.
  private var firstAt: Timestamp?
  private var firstDay: TradingDay? { firstAt?.shanghaiDay }
  private var days: [TradingDay: ReplayedDay] = [:]
  private var quotes: [Symbol: ReplayedQuote] = [:]
  private var serving: [ServingRow] = []
  /// When bars were first compared with an instrument's day.
  private var repairedAt: [TradingDay: [Symbol: Timestamp]] = [:]
  private(set) var differences = ReplayDifferences()

  /// A certificate may come on the next trading day, a weekend's refused row lies between.
  private static var daysHeldMax: Int { 3 }

  init(_ tables: Tables) throws(StoreError) {
    self.tables = tables
    instruments = try tables.instruments(of: .live)
  }

  /// Whether no entry was recorded yet.
  var isEmpty: Bool { firstAt == nil }

  mutating func record(_ receivedAt: Timestamp) throws(StoreError) {
    if firstAt == nil { firstAt = receivedAt }
    while days.count > Self.daysHeldMax, let oldest = days.keys.min() {
      try compare(oldest, before: receivedAt)
    }
  }

  /// Takes in what a commit would have written.
  mutating func add(_ commit: Commit) throws(StoreError) {
    for candle in commit.candles { days[candle.tradingDay, default: ReplayedDay()].put(candle) }
    for row in commit.revisions {
      days[row.candle.tradingDay, default: ReplayedDay()].put(row.candle)
    }
    for gap in commit.closedGaps {
      days[gap.tradingDay, default: ReplayedDay()].close(gap)
    }
    for gap in commit.gaps {
      days[gap.tradingDay, default: ReplayedDay()].gaps[gap, default: 0] += 1
    }
    for certificate in commit.certificates {
      days[certificate.tradingDay, default: ReplayedDay()].certificates[certificate.symbol] =
        certificate
    }
    for batch in commit.bars {
      guard case .repair(let day) = batch.role else { continue }
      let known = repairedAt[day]?[batch.symbol] ?? batch.receivedAt
      repairedAt[day, default: [:]][batch.symbol] = min(known, batch.receivedAt)
    }
    for row in commit.rejections {
      days[row.receivedAt.shanghaiDay, default: ReplayedDay()].put(row)
    }
    for row in commit.quotes {
      quotes[row.quote.symbol] = ReplayedQuote(quote: row.quote.asStored, forming: row.forming)
    }
    serving += commit.reference.serving
  }

  /// Compares what is left.
  mutating func finish() throws(StoreError) {
    if let firstDay {
      for day in try tables.days(from: firstDay) where days[day] == nil {
        days[day] = ReplayedDay()
      }
      for day in days.keys.sorted() { try compare(day, before: nil) }
      try compareQuotes(from: firstDay)
    }
    if let firstAt {
      let stored = try tables.serving().filter { $0.since >= firstAt }
      differences.compare(
        "serving", stored: Self.sources(stored), replayed: Self.sources(serving))
    }
  }

  /// - Parameter moment: the database as it was known then; what is decided later is not in the
  ///   replayed day either.
  private mutating func compare(_ day: TradingDay, before moment: Timestamp?) throws(StoreError) {
    guard let replayed = days.removeValue(forKey: day) else { return }
    let repaired = repairedAt.removeValue(forKey: day) ?? [:]
    for symbol in Set(instruments).union(replayed.candles.keys).sorted() {
      var stored: [CandleKey: Candle] = [:]
      for row in try tables.candles(of: symbol, day: day, before: repaired[symbol] ?? moment) {
        stored[CandleKey(row.candle)] = row.candle
      }
      differences.compare("candle", stored: stored, replayed: replayed.candles[symbol] ?? [:])
    }
    let gaps = try tables.gaps(day: day).filter { row in
      (repaired[row.gap.symbol] ?? moment).map { row.knownFrom < $0 } ?? true
    }
    differences.compare(
      "gap", stored: Dictionary(gaps.map { ($0.gap, 1) }, uniquingKeysWith: +),
      replayed: replayed.gaps)
    try compareCertificates(of: day, replayed: replayed.certificates)
    differences.compare(
      "rejected", stored: Set(try tables.rejections(day: day).map(RejectionKey.init)),
      replayed: replayed.rejections)
  }

  /// A repair moves a certificate's sums from gaps to minutes; that they still add up is the
  /// database's own check.
  private mutating func compareCertificates(
    of day: TradingDay, replayed: [Symbol: DayCertificate]
  ) throws(StoreError) {
    let rows = try tables.certificates(day: day)
    let repaired = Set(rows.filter { $0.repairedAt != nil }.map(\.certificate.symbol))
    let stored = Dictionary(
      rows.map { ($0.certificate.symbol, $0.certificate) }, uniquingKeysWith: { $1 })
    differences.compare(
      "day_audit", stored: stored.filter { !repaired.contains($0.key) },
      replayed: replayed.filter { !repaired.contains($0.key) })
  }

  private static func sources(_ rows: [ServingRow]) -> [ServingKey: String] {
    Dictionary(
      rows.map { (ServingKey(series: $0.series, since: $0.since), $0.source.name) },
      uniquingKeysWith: { $1 })
  }

  private mutating func compareQuotes(from first: TradingDay) throws(StoreError) {
    var stored: [Symbol: ReplayedQuote] = [:]
    for row in try tables.quotes() where row.quote.tradingDay >= first {
      stored[row.quote.symbol] = ReplayedQuote(quote: row.quote, forming: row.forming)
    }
    differences.compare("quote", stored: stored, replayed: quotes)
  }
}
