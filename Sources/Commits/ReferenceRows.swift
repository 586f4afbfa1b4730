import Market

/// What a commit may carry beside the quotes' own account and bars: what sources say of
/// instruments, days, keys and themselves, and how far plans have come.
package struct ReferenceRows: Sendable {
  package var overview: [OverviewRow] = []
  package var health: [SourceHealthRow] = []
  package var factors: [FactorBatch] = []
  package var keyUsage: [KeyUsage] = []
  package var lists: [ListVerdict] = []
  package var instrumentMarks: [InstrumentMarks] = []
  package var sessions: [MarketSession] = []
  package var contradictions: [DayContradiction] = []
  package var watermarks: [BarWatermark] = []
  package var serving: [ServingRow] = []
  package var links: [InstrumentLink] = []
  /// Codes that another instrument has from now on.
  package var reused: [Symbol] = []
  /// The first day whose minutes their source still has: gaps of earlier ones are permanent. It
  /// comes with rows, and is none itself.
  package var firstDayAvailable: TradingDay?

  package init() {}

  package var isEmpty: Bool {
    overview.isEmpty && health.isEmpty && factors.isEmpty && keyUsage.isEmpty && lists.isEmpty
      && instrumentMarks.isEmpty && sessions.isEmpty && contradictions.isEmpty
      && watermarks.isEmpty && serving.isEmpty && links.isEmpty && reused.isEmpty
  }
}

/// A day of which a calendar, or the operator, says otherwise than was observed.
package struct DayContradiction: Sendable, Hashable {
  package var day: TradingDay
  /// What was observed.
  package var trades: Bool
  /// The instrument whose rows date all others, and the source of its series.
  package var symbol: Symbol
  package var source: Source

  package init(day: TradingDay, trades: Bool, symbol: Symbol, source: Source) {
    self.day = day
    self.trades = trades
    self.symbol = symbol
    self.source = source
  }
}

/// Adjustment factors as a source sent them. Of each instrument and kind in it they are all there
/// are: what was believed before and is not among them ends.
package struct FactorBatch: Sendable, Hashable {
  package var source: Source
  package var factors: [AdjustmentFactor]
  /// Days whose previous close was not the close before.
  package var exDays: [ExDay]

  package struct ExDay: Sendable, Hashable {
    package var symbol: Symbol
    package var day: TradingDay

    package init(symbol: Symbol, day: TradingDay) {
      self.symbol = symbol
      self.day = day
    }
  }

  package init(source: Source, factors: [AdjustmentFactor], exDays: [ExDay] = []) {
    self.source = source
    self.factors = factors
    self.exDays = exDays
  }

  /// One batch an instrument and kind: what is not told of those ends.
  package var byInstrument: [FactorBatch] {
    Dictionary(grouping: factors) { "\($0.symbol) \($0.kind.rawValue)" }
      .sorted { $0.key < $1.key }
      .map { FactorBatch(source: source, factors: $0.value) }
      + exDays.map { FactorBatch(source: source, factors: [], exDays: [$0]) }
  }
}

/// What was made of a list of instruments.
package struct ListVerdict: Sendable, Hashable {
  package enum Verdict: String, Sendable {
    case accepted, quarantined
  }

  package var source: Source
  /// Of the universe: `hslt`, `bj`, a node.
  package var part: String
  package var decidedAt: Timestamp
  package var rows: Int
  package var contentHash: UInt64
  package var verdict: Verdict
  /// For people.
  package var detail: String

  package init(
    source: Source, part: String, decidedAt: Timestamp, rows: Int, contentHash: UInt64,
    verdict: Verdict, detail: String
  ) {
    self.source = source
    self.part = part
    self.decidedAt = decidedAt
    self.rows = rows
    self.contentHash = contentHash
    self.verdict = verdict
    self.detail = detail
  }
}

/// How an instrument stands in the lists; replaces what was stored.
package struct InstrumentMarks: Sendable, Hashable {
  package var symbol: Symbol
  package var source: Source
  /// nil while it is listed.
  package var delistedAt: TradingDay?
  /// Accepted lists in a row in which it did not stand.
  package var missedLists: Int16
  /// The list it stands in; nil where no list named it.
  package var listedPart: String?

  package init(
    symbol: Symbol, source: Source, delistedAt: TradingDay? = nil,
    missedLists: Int16 = 0, listedPart: String? = nil
  ) {
    self.symbol = symbol
    self.source = source
    self.delistedAt = delistedAt
    self.missedLists = missedLists
    self.listedPart = listedPart
  }
}

/// How far the bars of some symbols have been taken in.
package struct BarWatermark: Sendable, Hashable {
  package var source: Source
  /// The symbols that are asked for together, by the name their planner gives them.
  package var chunk: String
  package var timeframe: Timeframe
  /// Every bar that closed until then is stored.
  package var through: Timestamp

  package init(source: Source, chunk: String, timeframe: Timeframe, through: Timestamp) {
    self.source = source
    self.chunk = chunk
    self.timeframe = timeframe
    self.through = through
  }
}
