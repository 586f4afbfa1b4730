import Market

/// What a commit may carry beside the quotes' own account: ready-made bars, and what sources say
/// of instruments, days and keys.

/// Ready-made bars of one series, as one answer delivered them.
package struct BarBatch: Sendable {
  package enum Role: Sendable, Hashable {
    /// New bars become final candles; one that differs from what is stored revises it. Minutes of
    /// an A-share day that has a certificate are a repair of that day all the same.
    case deliver
    /// The minute bars of one A-share day, to hold the day's own account against (see
    /// `Reconciliation`). Bars of other days are left out.
    case repair(TradingDay)
  }

  package var symbol: Symbol
  package var source: Source
  package var timeframe: Timeframe
  /// All of `symbol`, `source` and `timeframe`.
  package var candles: [Candle]
  package var receivedAt: Timestamp
  package var role: Role
  /// Beside a repair's minutes: the source's own day, where it was asked for.
  package var dayBar: Candle?

  package init(
    symbol: Symbol, source: Source, timeframe: Timeframe, candles: [Candle],
    receivedAt: Timestamp, role: Role = .deliver, dayBar: Candle? = nil
  ) {
    self.symbol = symbol
    self.source = source
    self.timeframe = timeframe
    self.candles = candles
    self.receivedAt = receivedAt
    self.role = role
    self.dayBar = dayBar
  }

  var series: InstrumentRegistry.Series { InstrumentRegistry.Series(symbol, source) }
}

/// Adjustment factors as a source sent them. Of each instrument and kind in it they are all there
/// are: what was believed before and is not among them ends.
package struct FactorBatch: Sendable, Hashable {
  package var source: Source
  package var factors: [AdjustmentFactor]

  package init(source: Source, factors: [AdjustmentFactor]) {
    self.source = source
    self.factors = factors
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
    symbol: Symbol, source: Source = .live, delistedAt: TradingDay? = nil,
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

/// A row of `instrument`.
package struct StoredInstrument: Sendable, Hashable {
  package var row: InstrumentRow
  package var marks: InstrumentMarks

  package init(row: InstrumentRow, marks: InstrumentMarks) {
    self.row = row
    self.marks = marks
  }
}
