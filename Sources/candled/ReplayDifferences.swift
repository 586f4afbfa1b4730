/// The differences between tables and journal. The first are kept, the rest counted.

import Market
import TerminalView

struct Differences {
  private(set) var total = 0
  private var kept: [Difference] = []

  private static let keptMax = 100

  private struct Difference {
    var table: String
    var key: String
    /// nil where there is no such row.
    var stored: String?
    var replayed: String?
  }

  /// Compares two sets of rows under their keys.
  mutating func compare<Key: Hashable, Row: Equatable>(
    _ table: String, stored: [Key: Row], replayed: [Key: Row]
  ) {
    var found: [Difference] = []
    for (key, row) in stored where replayed[key] != row {
      found.append(Self.difference(table, key, row, replayed[key]))
    }
    for (key, row) in replayed where stored[key] == nil {
      found.append(Self.difference(table, key, nil, row))
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

  private static func difference<Key, Row>(
    _ table: String, _ key: Key, _ stored: Row?, _ replayed: Row?
  ) -> Difference {
    Difference(
      table: table, key: words(key), stored: stored.map { words($0) },
      replayed: replayed.map { words($0) })
  }

  func lines(json: Bool) -> [String] {
    let lines = kept.map { json ? Self.object($0) : Self.sentence($0) }
    let more = total - kept.count
    return json || more == 0 ? lines : lines + ["… and \(more) more differences"]
  }

  private static func object(_ difference: Difference) -> String {
    JSONText.object([
      ("table", .text(difference.table)), ("key", .text(difference.key)),
      ("stored", .optional(difference.stored)), ("replayed", .optional(difference.replayed)),
    ])
  }

  private static func sentence(_ difference: Difference) -> String {
    let subject = "\(difference.table) \(difference.key): "
    switch (difference.stored, difference.replayed) {
    case (let stored?, let replayed?): return subject + "database \(stored), journal \(replayed)"
    case (_?, nil): return subject + "only in the database"
    case (nil, _): return subject + "only in the journal"
    }
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
        + "minutes \(certificate.minuteVolume) gaps \(certificate.gapVolume)"
    default: "\(row)"
    }
  }
}
