import Market

/// The kinds of rows a commit has, as they are sifted: what is one row of each, and which writer
/// takes a part of them.
extension WriterSession {
  func siftQuotes(_ commit: SortedCommit, _ draft: inout Draft) throws(StoreError) {
    let quotes = commit.base.quotes
    var part = commit
    let sketch = { (place: Int) in quotes[place].sketch }
    try sift(commit.quotesToWrite, &draft, sketch) {
      (places, draft) throws(StoreError) in
      part.quotesToWrite = places
      try self.connection.execute("delete from quote_stage", context: Context.commit)
      try self.writeQuotes(part, &draft)
    }
  }

  /// Staged, so that a key that is stored already is no refusal.
  func siftCandles(_ commit: Commit, _ draft: inout Draft) throws(StoreError) {
    let sketch = { (candle: Candle) in candle.sketch("candle") }
    try sift(commit.candles, &draft, sketch) { (rows, draft) throws(StoreError) in
      var part = SortedCommit(commit.empty)
      part.base.candles = rows
      try self.writeCandles(part, stages: true, &draft)
    }
    let revised = { (revision: Revision) in revision.candle.sketch("revision") }
    try sift(commit.revisions, &draft, revised) {
      (rows, draft) throws(StoreError) in
      var part = SortedCommit(commit.empty)
      part.base.revisions = rows
      try self.writeCandles(part, stages: true, &draft)
    }
  }

  func siftBars(
    _ bars: [BarBatch], _ commit: Commit, _ draft: inout Draft
  ) throws(StoreError) {
    let single = bars.filter { $0.role == .deliver }.flatMap(\.byCandle)
    let sketch = { (bar: BarBatch) in
      bar.candles.first?.sketch("bar") ?? bar.sketch(commit.knownAt.shanghaiDay)
    }
    try sift(single, &draft, sketch) { (rows, draft) throws(StoreError) in
      try self.writeBars(rows, stages: true, &draft)
    }
  }

  /// A day is repaired as a whole or not at all.
  func siftRepairs(_ bars: [BarBatch], _ draft: inout Draft) throws(StoreError) {
    let repairs = bars.filter { $0.role != .deliver }
    let sketch = { (batch: BarBatch) in batch.sketch(batch.receivedAt.shanghaiDay) }
    try sift(repairs, &draft, sketch) {
      (rows, draft) throws(StoreError) in
      try self.writeRepairs(rows, &draft)
    }
  }

  func siftLedger(_ commit: Commit, _ draft: inout Draft) throws(StoreError) {
    let day = commit.knownAt.shanghaiDay
    try siftPart(of: commit, \.closedGaps, &draft, \.sketch, supersedeGaps)
    try siftPart(of: commit, \.gaps, &draft, \.sketch, writeGaps)
    try siftPart(of: commit, \.audits, &draft, \.sketch) { (part, draft) throws(StoreError) in
      try self.writeAudits(part, &draft)
      try self.amendRepairedDays(part, &draft)
    }
    try siftPart(of: commit, \.rejections, &draft, \.sketch, writeRejections)
    try siftPart(of: commit, \.overview, &draft, { $0.sketch(day) }, writeOverview)
    try siftPart(of: commit, \.health, &draft, { $0.sketch(day) }, writeHealth)
    draft.receipt.events += commit.events.count
  }

  func siftReference(_ commit: Commit, _ draft: inout Draft) throws(StoreError) {
    let day = commit.knownAt.shanghaiDay
    try siftPart(of: commit, \.instrumentMarks, &draft, { $0.sketch(day) }, writeMarks)
    // Of an instrument's factors those that are left out end: all of them are one row here.
    var apart = commit
    apart.factors = commit.factors.flatMap(\.byInstrument)
    try siftPart(of: apart, \.factors, &draft, { $0.sketch(day) }, writeFactors)
    try siftPart(of: commit, \.lists, &draft, { $0.sketch(day) }, writeLists)
    try siftPart(of: commit, \.sessions, &draft, \.sketch, writeSessions)
    try siftPart(of: commit, \.keyUsage, &draft, { $0.sketch }, writeKeyUsage)
    try siftPart(of: commit, \.watermarks, &draft, { $0.sketch(day) }, writeWatermarks)
  }

  private func siftPart<Row>(
    of commit: Commit, _ rows: WritableKeyPath<Commit, [Row]>, _ draft: inout Draft,
    _ sketch: (Row) -> RefusedRow.Sketch,
    _ write: (Commit, inout Draft) throws(StoreError) -> Void
  ) throws(StoreError) {
    var part = commit.empty
    try sift(commit[keyPath: rows], &draft, sketch) { (group, draft) throws(StoreError) in
      part[keyPath: rows] = group
      try write(part, &draft)
    }
  }
}

// MARK: - Parts

extension Commit {
  /// Its place and clock, without its rows.
  var empty: Commit { Commit(position: position, knownAt: knownAt) }
}

extension BarBatch {
  var byCandle: [BarBatch] {
    candles.map { candle in
      BarBatch(
        symbol: symbol, source: source, timeframe: timeframe, candles: [candle],
        receivedAt: receivedAt, role: role)
    }
  }
}

extension FactorBatch {
  /// One batch an instrument and kind: what is not told of those ends.
  var byInstrument: [FactorBatch] {
    struct Key: Hashable {
      let symbol: Symbol
      let kind: Int16
    }
    return Dictionary(grouping: factors) { Key(symbol: $0.symbol, kind: $0.kind.rawValue) }
      .sorted { ($0.key.symbol, $0.key.kind) < ($1.key.symbol, $1.key.kind) }
      .map { FactorBatch(source: source, factors: $0.value) }
  }
}

// MARK: - Sketches

extension Candle {
  func sketch(_ kind: String) -> RefusedRow.Sketch {
    RefusedRow.Sketch(
      kind: kind, source: source, symbol: "\(symbol)", day: tradingDay, row: self)
  }
}

extension QuoteRow {
  var sketch: RefusedRow.Sketch {
    RefusedRow.Sketch(
      kind: "quote", source: .sina, symbol: "\(quote.symbol)", day: quote.tradingDay, row: self)
  }
}

extension InstrumentRow {
  func sketch(_ commit: Commit) -> RefusedRow.Sketch {
    RefusedRow.Sketch(
      kind: "instrument", source: source, symbol: "\(symbol)", day: commit.knownAt.shanghaiDay,
      row: self)
  }
}

extension Gap {
  var sketch: RefusedRow.Sketch {
    RefusedRow.Sketch(
      kind: "gap", source: .sina, symbol: "\(symbol)", day: tradingDay, row: self)
  }
}

extension DayAudit {
  var sketch: RefusedRow.Sketch {
    RefusedRow.Sketch(
      kind: "audit", source: .sina, symbol: "\(symbol)", day: tradingDay, row: self)
  }
}

extension Rejection {
  var sketch: RefusedRow.Sketch {
    RefusedRow.Sketch(
      kind: "rejection", source: source, symbol: symbol?.description ?? "",
      day: receivedAt.shanghaiDay, row: self)
  }
}

extension OverviewRow {
  func sketch(_ day: TradingDay) -> RefusedRow.Sketch {
    RefusedRow.Sketch(kind: "overview", source: .sina, symbol: symbol, day: day, row: self)
  }
}

extension SourceHealthRow {
  func sketch(_ day: TradingDay) -> RefusedRow.Sketch {
    RefusedRow.Sketch(kind: "health", source: source, symbol: "", day: day, row: self)
  }
}

extension BarBatch {
  func sketch(_ day: TradingDay) -> RefusedRow.Sketch {
    RefusedRow.Sketch(
      kind: "bars", source: source, symbol: "\(symbol)",
      day: candles.first?.tradingDay ?? day, row: self)
  }
}

extension FactorBatch {
  func sketch(_ day: TradingDay) -> RefusedRow.Sketch {
    RefusedRow.Sketch(
      kind: "factors", source: source, symbol: factors.first.map { "\($0.symbol)" } ?? "",
      day: day, row: self)
  }
}

extension InstrumentMarks {
  func sketch(_ day: TradingDay) -> RefusedRow.Sketch {
    RefusedRow.Sketch(kind: "marks", source: source, symbol: "\(symbol)", day: day, row: self)
  }
}

extension ListVerdict {
  func sketch(_ day: TradingDay) -> RefusedRow.Sketch {
    RefusedRow.Sketch(kind: "list", source: source, symbol: "", day: day, row: self)
  }
}

extension MarketSession {
  var sketch: RefusedRow.Sketch {
    RefusedRow.Sketch(kind: "session", source: .sina, symbol: "", day: day, row: self)
  }
}

extension KeyUsage {
  var sketch: RefusedRow.Sketch {
    RefusedRow.Sketch(kind: "key usage", source: source, symbol: "", day: day, row: self)
  }
}

extension BarWatermark {
  func sketch(_ day: TradingDay) -> RefusedRow.Sketch {
    RefusedRow.Sketch(kind: "watermark", source: source, symbol: "", day: day, row: self)
  }
}
