import Market

/// A chunk as it is stored.
package struct DoneChunk: Sendable, Hashable {
  package var through: TradingDay
  /// Of the commit that stored it last.
  package var doneAt: Timestamp

  package init(through: TradingDay, doneAt: Timestamp) {
    self.through = through
    self.doneAt = doneAt
  }
}

/// What a backfill stores at once. A hundred thousand candles is a good size.
package struct HistoryCommit: Sendable {
  /// A part of a plan.
  package struct Chunk: Sendable, Hashable {
    /// Says what is asked for, whatever plan it stands in.
    package var name: String
    /// The last day that was over when it was asked for.
    package var through: TradingDay

    package init(name: String, through: TradingDay) {
      self.name = name
      self.through = through
    }
  }

  package var knownAt: Timestamp
  package var bars: [BarBatch]
  package var factors: [FactorBatch]
  package var chunk: Chunk?

  package init(
    knownAt: Timestamp, bars: [BarBatch], factors: [FactorBatch] = [], chunk: Chunk? = nil
  ) {
    self.knownAt = knownAt
    self.bars = bars
    self.factors = factors
    self.chunk = chunk
  }
}
