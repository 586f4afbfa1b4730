import Commits
import Foundation
import Journal
import Market
import Postgres
import Store
import TestSupport

/// Looks for canaries wherever a daemon leaves anything: its log, what it told systemd and the
/// admin endpoint, what `/proc` tells of it, its journal unpacked, every table, every notification.
struct CanarySweep {
  private(set) var bytes = 0
  private(set) var places = 0
  var complaints: [String] = []

  /// Of quotes' bodies one in so many is searched: nothing secret is asked for there, and
  /// a day of them is a gigabyte.
  private static let quotesBodiesEvery = 50

  mutating func look(at place: String, _ bytes: Data) {
    if bytes.isEmpty { return }
    self.bytes += bytes.count
    places += 1
    for canary in Canaries.found(in: bytes).sorted() {
      complaints.append("\(place) shows the canary \(canary.prefix(10))…")
    }
  }

  mutating func look(atFile path: String) {
    guard let bytes = FileManager.default.contents(atPath: path) else { return }
    look(at: path, bytes)
  }

  /// Every entry, unpacked.
  mutating func look(atJournal directory: String) throws {
    guard let reader = try JournalReader.whole(directory) else { return }
    var quotes = 0
    while let (position, entry) = try reader.nextOverSkips() {
      var bytes = Data(entry.key.utf8) + Data(entry.request)
      let isQuotes = entry.key.hasPrefix("quotes")
      if isQuotes { quotes += 1 }
      if !isQuotes || quotes % Self.quotesBodiesEvery == 1 { bytes += entry.body }
      look(at: "journal entry \(position.sequence)", bytes)
    }
  }

  /// Every row of every table, as text; bytes show as hex.
  mutating func look(atDatabase url: String) throws {
    let tables = try SQLProbe.run(
      "select format('%I.%I', schemaname, tablename) from pg_tables "
        + "where schemaname not in ('pg_catalog', 'information_schema') "
        // What a crash leaves of temporary tables has no rows to read.
        + "and schemaname not like 'pg_temp%'", url: url)
    for table in tables.compactMap({ $0.first ?? nil }) {
      let rows = try SQLProbe.run("select t::text from \(table) t", url: url)
      let text = rows.map { ($0.first ?? nil) ?? "" }.joined(separator: "\n")
      look(at: "table \(table)", Data(text.utf8))
    }
    let sessions = try SQLProbe.run("select a::text from pg_stat_activity a", url: url)
    look(at: "pg_stat_activity", Data("\(sessions)".utf8))
  }
}

extension JournalReader {
  /// From the first entry there is; nil without any.
  static func whole(_ directory: String) throws -> JournalReader? {
    guard FileManager.default.fileExists(atPath: directory),
      let range = try positions(in: directory)
    else { return nil }
    return try JournalReader(
      directory: directory, after: JournalPosition(range.lowerBound.sequence - 1))
  }
}
