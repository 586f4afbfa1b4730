import Commits
import Market

/// Series to id, and what is stored of each instrument, so that a sweep of known instruments asks
/// the database nothing. Ids are given here, densely and in order of series within a commit, not
/// by a sequence: replaying the same journal into an empty database gives the same ids.
struct InstrumentRegistry {
  /// What a row of `instrument` stands for: a symbol as one source quotes it.
  struct Series: Hashable, Comparable {
    let symbol: Symbol
    let source: Source

    init(_ symbol: Symbol, source: Source) {
      self.symbol = symbol
      self.source = source
    }

    static func < (left: Series, right: Series) -> Bool {
      left.symbol == right.symbol
        ? left.source.rawValue < right.source.rawValue : left.symbol < right.symbol
    }
  }

  struct Entry: Equatable {
    var id: Int32
    var row: InstrumentRow
  }

  private(set) var entries: [Series: Entry] = [:]
  private(set) var idMax: Int32 = 0

  subscript(series: Series) -> Int32? { entries[series]?.id }

  mutating func insert(_ entry: Entry) {
    entries[entry.row.series] = entry
    idMax = max(idMax, entry.id)
  }

  /// The code is another instrument's.
  mutating func forget(_ series: Series) { entries[series] = nil }

  /// What a commit adds to or changes in the registry: new series first, in order.
  func differences(in commit: Commit) -> (added: [Entry], updated: [Entry]) {
    var touched: [Series: InstrumentRow] = [:]
    func touch(_ symbol: Symbol, source: Source) {
      let series = Series(symbol, source: source)
      if entries[series] == nil, touched[series] == nil {
        touched[series] = InstrumentRow(symbol: symbol, source: source)
      }
    }
    func merge(_ row: InstrumentRow) {
      let series = row.series
      let known = entries[series]?.row
      let base = touched[series] ?? known ?? InstrumentRow(symbol: row.symbol, source: row.source)
      let merged = base.updated(by: row)
      if merged != known { touched[series] = merged }
    }
    for row in commit.instruments { merge(row) }
    for place in commit.quotes.indices {
      let series = commit.quotes[place].series
      let name = commit.quotes[place].name
      if let name, entries[series]?.row.name != name {
        merge(InstrumentRow(symbol: series.symbol, source: series.source, name: name))
      } else {
        touch(series.symbol, source: series.source)
      }
    }
    for candle in commit.candles { touch(candle.symbol, source: candle.source) }
    for revision in commit.revisions {
      touch(revision.candle.symbol, source: revision.candle.source)
    }
    for gap in commit.gaps + commit.closedGaps { touch(gap.symbol, source: gap.source) }
    for certificate in commit.certificates {
      touch(certificate.symbol, source: certificate.source)
    }
    for batch in commit.bars { touch(batch.symbol, source: batch.source) }
    for batch in commit.reference.factors {
      for factor in batch.factors { touch(factor.symbol, source: batch.source) }
      for exDay in batch.exDays { touch(exDay.symbol, source: batch.source) }
    }
    for marks in commit.reference.instrumentMarks { touch(marks.symbol, source: marks.source) }
    for link in commit.reference.links {
      touch(link.from, source: .live)
      touch(link.to, source: .live)
    }
    return split(touched)
  }

  private func split(_ touched: [Series: InstrumentRow]) -> (added: [Entry], updated: [Entry]) {
    var added: [Entry] = []
    var updated: [Entry] = []
    for (series, row) in touched.sorted(by: { $0.key < $1.key }) {
      if let known = entries[series] {
        updated.append(Entry(id: known.id, row: row))
      } else {
        added.append(Entry(id: idMax + Int32(added.count) + 1, row: row))
      }
    }
    return (added, updated)
  }
}

extension QuoteRow {
  var series: InstrumentRegistry.Series {
    InstrumentRegistry.Series(quote.symbol, source: source)
  }
}

extension InstrumentRow {
  var series: InstrumentRegistry.Series { InstrumentRegistry.Series(symbol, source: source) }

  func updated(by newer: InstrumentRow) -> InstrumentRow {
    InstrumentRow(
      symbol: symbol, source: source, exchange: newer.exchange ?? exchange,
      kind: newer.kind ?? kind, board: newer.board ?? board, name: newer.name ?? name)
  }
}
