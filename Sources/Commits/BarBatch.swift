import Market

/// Ready-made bars of one series, as one answer delivered them.
package struct BarBatch: Sendable {
  package enum Role: Sendable, Hashable {
    /// New bars become final candles; one that differs from what is stored revises it. Minutes of
    /// a day that has a certificate are a repair of that day all the same.
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

  package init(
    symbol: Symbol, source: Source, timeframe: Timeframe, candles: [Candle],
    receivedAt: Timestamp, role: Role = .deliver
  ) {
    self.symbol = symbol
    self.source = source
    self.timeframe = timeframe
    self.candles = candles
    self.receivedAt = receivedAt
    self.role = role
  }
}

extension BarBatch {
  package var byCandle: [BarBatch] {
    candles.map { candle in
      var batch = self
      batch.candles = [candle]
      return batch
    }
  }

  /// A day is reconciled by the mainland's hours, so days of other series are left as delivered.
  package var mayTouchCertificates: Bool {
    role == .deliver && timeframe == .minute1 && source == .live
  }

  package func divided(repairing days: Set<TradingDay>) -> [BarBatch] {
    var rest = self
    rest.candles = candles.filter { !days.contains($0.tradingDay) }
    var batches = [rest]
    for (day, candles) in Dictionary(grouping: candles, by: \.tradingDay) where days.contains(day) {
      var repair = self
      repair.role = .repair(day)
      repair.candles = candles
      batches.append(repair)
    }
    return batches
  }
}
