import Candles
import Commits
import Feeds
import Market

/// What leaves the pipeline: one value that the store writes in one transaction.
extension Pipeline {
  /// Everything decided since the last commit, with the journal position it came from; nil when
  /// there is nothing, and then the position may stay behind: replaying answers that changed
  /// nothing changes nothing.
  package mutating func takeCommit() -> Commit? {
    guard !pending.isEmpty else { return nil }
    let rows = pending.handOver()
    var commit = Commit(position: position, knownAt: knownAt, bookState: book.sharedState)
    commit.quotes.reserveCapacity(rows.dirtyIndexes.count)
    for index in rows.dirtyIndexes {
      if let row = quoteRow(index) { commit.quotes.append(row) }
    }
    commit.instruments = rows.names.keys.sorted().map { instrumentRow($0, name: rows.names[$0]) }
    commit.candles = rows.candles
    commit.revisions = rows.revisions
    commit.gaps = rows.gaps
    commit.closedGaps = rows.closedGaps
    commit.certificates = rows.certificates
    commit.rejections = rows.rejections
    commit.events = rows.events
    commit.instruments += rows.listed
    commit.bars = rows.bars
    commit.reference.factors = rows.factors
    commit.reference.keyUsage = rows.keyUsage.values.sorted {
      ($0.day, $0.label) < ($1.day, $1.label)
    }
    commit.reference.lists = rows.lists
    commit.reference.instrumentMarks = rows.marks
    commit.reference.sessions = rows.sessions
    commit.firstDayAvailable = rows.firstDayAvailable
    commit.reference.watermarks = rows.watermarks.values.sorted { $0.chunk < $1.chunk }
    commit.reference.overview = rows.overview.values.sorted { $0.symbol < $1.symbol }.map { row in
      OverviewRow(
        symbol: row.symbol.description, name: row.name, last: row.last, change: row.change,
        percentChange: row.percentChange, at: row.at ?? knownAt)
    }
    return commit
  }

  /// The book as a whole, for a commit that has no rows of the pipeline's.
  var sharedState: [UInt8] { book.sharedState }

  var rules: CandleRules { book.rules }

  private func instrumentRow(_ index: Int, name: String?) -> InstrumentRow {
    let symbol = book.symbol(at: index)
    let identity = Instrument.classify(symbol)
    return InstrumentRow(
      symbol: symbol, exchange: identity?.exchange, kind: identity?.kind, board: identity?.board,
      name: name)
  }

  @inline(__always)  // A row is nearly a kilobyte: made where it goes.
  private mutating func quoteRow(_ index: Int) -> QuoteRow? {
    guard let latest = latest[index] else { return nil }
    return QuoteRow(
      quote: latest.quote, forming: book.formingCandle(at: index),
      bookState: book.instrumentState(at: index), receivedAt: latest.receivedAt)
  }

  /// The latest snapshot and the forming candle of an instrument, for a view.
  func snapshot(of symbol: Symbol) -> EngineReport.Snapshot? {
    guard let index = book.knownIndex(of: symbol), let latest = latest[index] else { return nil }
    return EngineReport.Snapshot(
      name: names.name(at: index), quote: latest.quote,
      forming: book.formingCandle(at: index))
  }
}
