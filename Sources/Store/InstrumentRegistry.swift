import Market

/// Symbol to id, and what is stored of each instrument, so that a sweep of known instruments asks
/// the database nothing. Ids are given here, densely and in order of symbol within a commit, not
/// by a sequence: replaying the same journal into an empty database gives the same ids.
struct InstrumentRegistry {
  struct Entry: Equatable {
    var id: Int32
    var row: InstrumentRow
  }

  private(set) var entries: [Symbol: Entry] = [:]
  private(set) var idMax: Int32 = 0

  subscript(symbol: Symbol) -> Int32? { entries[symbol]?.id }

  mutating func insert(_ entry: Entry) {
    entries[entry.row.symbol] = entry
    idMax = max(idMax, entry.id)
  }

  /// What a commit adds to or changes in the registry: new instruments first, in order of symbol.
  func differences(in commit: Commit) -> (added: [Entry], updated: [Entry]) {
    var touched: [Symbol: InstrumentRow] = [:]
    func touch(_ symbol: Symbol) {
      if entries[symbol] == nil, touched[symbol] == nil {
        touched[symbol] = InstrumentRow(symbol: symbol)
      }
    }
    func merge(_ row: InstrumentRow) {
      let base =
        touched[row.symbol] ?? entries[row.symbol]?.row ?? InstrumentRow(symbol: row.symbol)
      let merged = base.updated(by: row)
      if merged != entries[row.symbol]?.row { touched[row.symbol] = merged }
    }
    for row in commit.instruments { merge(row) }
    for place in commit.quotes.indices {
      let symbol = commit.quotes[place].quote.symbol
      let name = commit.quotes[place].name
      if let name, entries[symbol]?.row.name != name {
        merge(InstrumentRow(symbol: symbol, name: name))
      } else {
        touch(symbol)
      }
    }
    for candle in commit.candles { touch(candle.symbol) }
    for revision in commit.revisions { touch(revision.candle.symbol) }
    for gap in commit.gaps { touch(gap.symbol) }
    for audit in commit.audits { touch(audit.symbol) }
    return split(touched)
  }

  private func split(_ touched: [Symbol: InstrumentRow]) -> (added: [Entry], updated: [Entry]) {
    var added: [Entry] = []
    var updated: [Entry] = []
    for row in touched.values.sorted(by: { $0.symbol < $1.symbol }) {
      if let known = entries[row.symbol] {
        updated.append(Entry(id: known.id, row: row))
      } else {
        added.append(Entry(id: idMax + Int32(added.count) + 1, row: row))
      }
    }
    return (added, updated)
  }
}

extension InstrumentRow {
  func updated(by newer: InstrumentRow) -> InstrumentRow {
    InstrumentRow(
      symbol: symbol, exchange: newer.exchange ?? exchange, kind: newer.kind ?? kind,
      board: newer.board ?? board, name: newer.name ?? name)
  }
}
