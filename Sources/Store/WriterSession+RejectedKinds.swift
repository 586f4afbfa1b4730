import Market
import Postgres

/// The kinds of rows a commit has, as they are sifted: what is one row of each, and which writer
/// takes a part of them.
extension WriterSession {
  func isolateQuotes(_ commit: SortedCommit, _ commitContext: inout CommitContext)
    throws(StoreError)
  {
    let quotes = commit.base.quotes
    var part = commit
    let sketch = { (place: Int) in quotes[place].sketch }
    try isolateRejectedRows(commit.quotesToWrite, &commitContext, sketch) {
      (places, commitContext) throws(StoreError) in
      part.quotesToWrite = places
      try self.connection.execute("delete from quote_stage", context: Context.commit)
      try self.writeQuotes(part, &commitContext)
    }
  }

  /// Staged, so that a key that is stored already is no refusal.
  func isolateCandles(_ commit: Commit, _ commitContext: inout CommitContext) throws(StoreError) {
    let sketch = { (candle: Candle) in candle.sketch("candle") }
    try isolateRejectedRows(commit.candles, &commitContext, sketch) {
      (rows, commitContext) throws(StoreError) in
      var part = SortedCommit(commit.empty)
      part.base.candles = rows
      try self.writeCandles(part, stages: true, &commitContext)
    }
    let revised = { (revision: Revision) in revision.candle.sketch("revision") }
    try isolateRejectedRows(commit.revisions, &commitContext, revised) {
      (rows, commitContext) throws(StoreError) in
      var part = SortedCommit(commit.empty)
      part.base.revisions = rows
      try self.writeCandles(part, stages: true, &commitContext)
    }
  }

  func isolateBars(
    _ bars: [BarBatch], _ commit: Commit, _ commitContext: inout CommitContext
  ) throws(StoreError) {
    let single = bars.filter { $0.role == .deliver }.flatMap(\.byCandle)
    let sketch = { (bar: BarBatch) in
      bar.candles.first?.sketch("bar") ?? bar.sketch(commit.knownAt.shanghaiDay)
    }
    try isolateRejectedRows(single, &commitContext, sketch) {
      (rows, commitContext) throws(StoreError) in
      try self.writeBars(rows, stages: true, &commitContext)
    }
  }

  /// A day is repaired as a whole or not at all.
  func isolateRepairs(_ bars: [BarBatch], _ commitContext: inout CommitContext) throws(StoreError) {
    let repairs = bars.filter { $0.role != .deliver }
    let sketch = { (batch: BarBatch) in batch.sketch(batch.receivedAt.shanghaiDay) }
    try isolateRejectedRows(repairs, &commitContext, sketch) {
      (rows, commitContext) throws(StoreError) in
      try self.writeRepairs(rows, &commitContext)
    }
  }

  func isolateLedger(_ commit: Commit, _ commitContext: inout CommitContext) throws(StoreError) {
    let day = commit.knownAt.shanghaiDay
    try isolatePart(of: commit, \.closedGaps, &commitContext, \.sketch, supersedeGaps)
    try isolatePart(of: commit, \.gaps, &commitContext, \.sketch, writeGaps)
    try isolatePart(of: commit, \.certificates, &commitContext, \.sketch) {
      (part, commitContext) throws(StoreError) in
      try self.writeCertificates(part, &commitContext)
      try self.amendRepairedDays(part, &commitContext)
    }
    try isolatePart(of: commit, \.rejections, &commitContext, \.sketch, writeRejections)
    try isolatePart(of: commit, \.overview, &commitContext, { $0.sketch(day) }, writeOverview)
    try isolatePart(of: commit, \.health, &commitContext, { $0.sketch(day) }, writeHealth)
    commitContext.receipt.events += commit.events.count
  }

  func isolateReference(_ commit: Commit, _ commitContext: inout CommitContext) throws(StoreError) {
    let day = commit.knownAt.shanghaiDay
    try isolatePart(of: commit, \.instrumentMarks, &commitContext, { $0.sketch(day) }, writeMarks)
    // Of an instrument's factors those that are left out end: all of them are one row here.
    var apart = commit
    apart.factors = commit.factors.flatMap(\.byInstrument)
    try isolatePart(of: apart, \.factors, &commitContext, { $0.sketch(day) }, writeFactors)
    try isolatePart(of: commit, \.lists, &commitContext, { $0.sketch(day) }, writeLists)
    try isolatePart(of: commit, \.sessions, &commitContext, \.sketch, writeSessions)
    try isolatePart(of: commit, \.keyUsage, &commitContext, { $0.sketch }, writeKeyUsage)
    try isolatePart(of: commit, \.watermarks, &commitContext, { $0.sketch(day) }, writeWatermarks)
  }

  private func isolatePart<Row>(
    of commit: Commit, _ rows: WritableKeyPath<Commit, [Row]>, _ commitContext: inout CommitContext,
    _ sketch: (Row) -> RefusedRow.Sketch,
    _ write: (Commit, inout CommitContext) throws(StoreError) -> Void
  ) throws(StoreError) {
    var part = commit.empty
    try isolateRejectedRows(commit[keyPath: rows], &commitContext, sketch) {
      (group, commitContext) throws(StoreError) in
      part[keyPath: rows] = group
      try write(part, &commitContext)
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
      kind: "quote", source: .live, symbol: "\(quote.symbol)", day: quote.tradingDay, row: self)
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
      kind: "gap", source: .live, symbol: "\(symbol)", day: tradingDay, row: self)
  }
}

extension DayCertificate {
  var sketch: RefusedRow.Sketch {
    RefusedRow.Sketch(
      kind: "audit", source: .live, symbol: "\(symbol)", day: tradingDay, row: self)
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
    RefusedRow.Sketch(kind: "overview", source: .live, symbol: symbol, day: day, row: self)
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
    RefusedRow.Sketch(kind: "session", source: .live, symbol: "", day: day, row: self)
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
