/// The sources as rows of the tables `market` and `source`.

import Market

extension SourceRegistry {
  /// The rows of all sources. Where a symbol has several series, a source of a
  /// lower priority comes first, and of the series of one the last.
  package static var rows: [SourceRow] {
    let ranked = all.enumerated().sorted {
      ($0.element.priority, $0.offset) < ($1.element.priority, $1.offset)
    }
    let series = ranked.flatMap { definition in
      definition.element.series.reversed().map { (definition.element, $0) }
    }
    return series.enumerated().map { rank, entry in
      SourceRow(
        source: entry.1.source, name: entry.1.name, market: entry.0.market,
        instruments: entry.1.instruments, priority: Int16(rank), hasQuotes: entry.0.quotes != nil,
        quotedKinds: entry.0.quotes?.kinds)
    }
  }
}
