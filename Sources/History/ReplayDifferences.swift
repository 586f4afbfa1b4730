import Market

/// A row that a table and a replay do not have alike.
package struct ReplayDifference: Sendable, Hashable {
  package var table: String
  package var key: String
  /// nil where there is no such row.
  package var stored: String?
  package var replayed: String?
}

/// The differences between tables and journal. The first are kept, the rest counted.
package struct ReplayDifferences: Sendable, Hashable {
  package private(set) var total = 0
  package private(set) var kept: [ReplayDifference] = []

  private static let keptMax = 100

  /// Compares two sets of rows under their keys.
  mutating func compare<Key: Hashable, Row: Equatable>(
    _ table: String, stored: [Key: Row], replayed: [Key: Row]
  ) {
    let keys = Set(stored.keys).union(replayed.keys).filter { stored[$0] != replayed[$0] }
    var found = keys.map { key in
      ReplayDifference(
        table: table, key: Self.words(key), stored: stored[key].map { Self.words($0) },
        replayed: replayed[key].map { Self.words($0) })
    }
    total += found.count
    found.sort { $0.key < $1.key }
    kept += found.prefix(Self.keptMax - kept.count)
  }

  /// Compares two sets of rows that have nothing beside their keys.
  mutating func compare<Key: Hashable>(_ table: String, stored: Set<Key>, replayed: Set<Key>) {
    let rows = { (keys: Set<Key>) in Dictionary(uniqueKeysWithValues: keys.map { ($0, "a row") }) }
    compare(table, stored: rows(stored), replayed: rows(replayed))
  }

  private static func words<Row>(_ row: Row) -> String {
    switch row {
    case let candle as Candle:
      "o \(candle.open) h \(candle.high) l \(candle.low) c \(candle.close) v \(candle.volume) "
        + "t \(candle.turnover?.description ?? "none") "
        + candle.flags.names.joined(separator: " ")
    case let gap as Gap: "\(gap.symbol) \(gap.from) to \(gap.to) \(gap.cause.name) \(gap.volume)"
    case let row as ReplayedQuote:
      "\(row.quote.at) \(row.quote.last) v \(row.quote.volume) t \(row.quote.turnover)"
        + (row.forming.map { " forming \(words($0))" } ?? "")
    case let certificate as DayCertificate:
      "exchange \(certificate.exchangeVolume?.description ?? "none") "
        + "minutes \(certificate.minuteVolume) gaps \(certificate.gapVolume) previous close "
        + (certificate.reference?.previousClose.description ?? "none")
    default: "\(row)"
    }
  }
}
