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
    var days: [DeclaredDay] = []
    var firstLines: [TradingDay: Int] = [:]
    var problems: [ConfigurationProblem] = []
    let lines = text.split(omittingEmptySubsequences: false) { $0.isNewline }
    for (index, line) in lines.enumerated() {
      let words = line.prefix { $0 != "#" }.split(separator: ",", omittingEmptySubsequences: false)
        .map { String($0).trimmed }
      if words == [""] { continue }
      func expect(_ what: String, in field: String? = nil) {
        problems.append(
          ConfigurationProblem(origin: origin, line: index + 1, key: field, sentence: what))
      }
      guard words.count == fields.count else {
        expect("expected \(fields.joined(separator: ",")), found \(words.count) fields")
        continue
      }
      let (day, announcedOn) = (TradingDay(words[0]), TradingDay(words[3]))
      let status = ["closed": false, "trading": true][words[1]]
      if day == nil { expect("expected a date such as 2027-02-08", in: fields[0]) }
      if status == nil { expect("expected closed or trading", in: fields[1]) }
      if day?.isWeekend == true, status == true {
        expect("expected a weekday: the exchanges never trade on a weekend", in: fields[0])
      }
      if words[2].isEmpty { expect("expected who announced it", in: fields[2]) }
      if announcedOn == nil { expect("expected a date such as 2027-01-20", in: fields[3]) }
      guard let day, let status, let announcedOn else { continue }
      if let first = firstLines.updateValue(index + 1, forKey: day) {
        expect("\(day) is already on line \(first)", in: fields[0])
      }
      days.append(
        DeclaredDay(day: day, trades: status, source: words[2], announcedOn: announcedOn))
    }
    guard problems.isEmpty else { throw ConfigurationError(code: .invalid, problems: problems) }
    return days
  }

  /// Reads and parses the file at `path`.
  package static func load(_ path: String) throws(ConfigurationError) -> [DeclaredDay] {
    try parse(ConfigurationFile.read(path), origin: path)
  }
}

extension String {
  fileprivate var trimmed: String {
    let tail = drop { $0.isWhitespace }
    return String(tail.reversed().drop { $0.isWhitespace }.reversed())
  }
}
