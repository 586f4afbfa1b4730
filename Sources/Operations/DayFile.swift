/// A file of days that the operator declares against the exchange's calendar, or ahead of it
/// (`calendar.file`): an announced closure that the calendar does not have yet.

import Market

/// A line of it.
package struct DeclaredDay: Sendable, Hashable {
  package var day: TradingDay
  package var trades: Bool
  /// Who announced it, and when: for people.
  package var source: String
  package var announcedOn: TradingDay
}

package enum DayFile {
  private static let fields = ["day", "status", "source", "announced_on"]

  /// The days of `text`, in order: `2027-02-08,closed,SSE notice,2027-01-20`. Blank lines and what
  /// follows a `#` do not count. Throws every field that is wrong.
  package static func parse(
    _ text: String, origin: String
  ) throws(ConfigurationError) -> [DeclaredDay] {
    try LineFile.parse(text, origin: origin, field: fields[0], key: \.day) { line, expect in
      let words = line.split(separator: ",", omittingEmptySubsequences: false)
        .map { String($0).trimmed }
      guard words.count == fields.count else {
        expect("expected \(fields.joined(separator: ",")), found \(words.count) fields", nil)
        return nil
      }
      let (day, announcedOn) = (TradingDay(words[0]), TradingDay(words[3]))
      let status = ["closed": false, "trading": true][words[1]]
      if day == nil { expect("expected a date such as 2027-02-08", fields[0]) }
      if status == nil { expect("expected closed or trading", fields[1]) }
      if day?.isWeekend == true, status == true {
        expect("expected a weekday: the exchanges never trade on a weekend", fields[0])
      }
      if words[2].isEmpty { expect("expected who announced it", fields[2]) }
      if announcedOn == nil { expect("expected a date such as 2027-01-20", fields[3]) }
      guard let day, let status, let announcedOn else { return nil }
      return DeclaredDay(day: day, trades: status, source: words[2], announcedOn: announcedOn)
    }
  }

  /// Reads and parses the file at `path`.
  package static func load(_ path: String) throws(ConfigurationError) -> [DeclaredDay] {
    try parse(ConfigurationFile.read(path), origin: path)
  }
}
