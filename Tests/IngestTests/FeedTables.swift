import Commits
import Market
import TestSupport

@testable import Store

/// The tables that workers fill, in memory: later rows replace earlier ones of their key.
struct FeedTables: Sendable, Equatable {
  struct BarKey: Hashable {
    var series: InstrumentRegistry.Series
    var timeframe: Timeframe
    var openedAt: Timestamp
  }

  struct FactorKey: Hashable {
    var symbol: Symbol
    var kind: AdjustmentFactor.Kind
    var from: TradingDay
  }

  struct Day: Hashable {
    var of: String
    var day: TradingDay
  }

  private(set) var bars: [BarKey: Candle] = [:]
  /// Bars that were replaced by others.
  private(set) var revisions = 0
  private(set) var instruments: [InstrumentRegistry.Series: InstrumentRow] = [:]
  private(set) var marks: [InstrumentRegistry.Series: InstrumentMarks] = [:]
  private(set) var lists: [ListVerdict] = []
  private(set) var factors: [FactorKey: ExactDecimal] = [:]
  private(set) var usage: [Day: KeyUsage] = [:]
  private(set) var sessions: [Day: MarketSession] = [:]
  private(set) var watermarks: [String: BarWatermark] = [:]

  mutating func take(_ commit: Commit) {
    for batch in commit.bars {
      for bar in batch.candles { take(bar, of: batch) }
    }
    for row in commit.instruments {
      instruments[row.series] = (instruments[row.series] ?? row).updated(by: row)
    }
    for row in commit.reference.instrumentMarks {
      marks[InstrumentRegistry.Series(row.symbol, source: row.source)] = row
    }
    lists += commit.reference.lists
    for factor in commit.reference.factors.flatMap(\.factors) {
      factors[FactorKey(symbol: factor.symbol, kind: factor.kind, from: factor.from)] =
        factor.factor
    }
    for row in commit.reference.keyUsage { usage[Day(of: row.label, day: row.day)] = row }
    for row in commit.reference.sessions {
      sessions[Day(of: "\(row.exchange)", day: row.day)] = row
    }
    for row in commit.reference.watermarks { watermarks[row.chunk] = row }
  }

  private mutating func take(_ bar: Candle, of batch: BarBatch) {
    let key = BarKey(
      series: InstrumentRegistry.Series(batch.symbol, source: batch.source),
      timeframe: batch.timeframe,
      openedAt: bar.openedAt)
    if let known = bars.updateValue(bar, forKey: key), known != bar { revisions += 1 }
  }

  func bars(of symbol: Symbol, _ timeframe: Timeframe = .minute1) -> [Candle] {
    bars.values.filter { $0.symbol == symbol && $0.timeframe == timeframe }
      .sorted { $0.openedAt < $1.openedAt }
  }

  func mark(_ symbol: Symbol) -> InstrumentMarks? {
    marks[InstrumentRegistry.Series(symbol, source: .sina)]
  }

  /// Adds to what a restart finds.
  func complete(_ stored: inout StoredState) {
    stored.instruments = Set(instruments.keys).union(marks.keys).sorted().map { series in
      StoredInstrument(
        row: instruments[series]
          ?? InstrumentRow(symbol: series.symbol, source: series.source),
        marks: marks[series] ?? InstrumentMarks(symbol: series.symbol, source: series.source))
    }
    stored.lists = Dictionary(
      lists.filter { $0.verdict == .accepted }.map { ($0.part, $0) },
      uniquingKeysWith: { $1 }
    ).values.sorted { $0.part < $1.part }
    stored.keyUsage = Dictionary(
      usage.values.map { ($0.label, $0) }, uniquingKeysWith: { $0.day < $1.day ? $1 : $0 }
    ).values.sorted { $0.label < $1.label }
    stored.watermarks = watermarks.values.sorted { $0.chunk < $1.chunk }
    stored.sessions = sessions.values.sorted { $0.day < $1.day }
  }
}
