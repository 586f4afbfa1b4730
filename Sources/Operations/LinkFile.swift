/// A file of what became of instruments, a line a link (`universe.links_file`): what the exchange
/// announced, before its day or after (docs/identity.md).

import Market

package enum LinkFile {
  private static let fields = ["old", "new", "day", "kind", "ratio", "cash", "source"]
  /// The last ones may be left out.
  private static let fieldsMin = 4

  /// The links of `text`, in order: `bj833819,bj920819,2025-05-06,rename` or
  /// `sh600837,sh601211,2025-03-04,merger,0.62`. Blank lines and what follows a `#` do not count.
  /// Throws every field that is wrong.
  package static func parse(
    _ text: String, origin: String
  ) throws(ConfigurationError) -> [InstrumentLink] {
    var codes = Universe()
    let key = { (link: InstrumentLink) in "\(link.from) to \(link.to)" }
    return try LineFile.parse(text, origin: origin, field: fields[0], key: key) { line, expect in
      var words = line.split(separator: ",", omittingEmptySubsequences: false)
        .map { String($0).trimmed }
      guard (fieldsMin...fields.count).contains(words.count) else {
        expect(
          "expected \(fields.joined(separator: ",")), found \(words.count) fields", nil)
        return nil
      }
      words += [String](repeating: "", count: fields.count - words.count)
      func number(_ place: Int) -> ExactDecimal? {
        if words[place].isEmpty { return nil }
        let number = try? ExactDecimal(words[place])
        if number?.isPositive != true { expect("expected a number such as 0.62", fields[place]) }
        return number
      }
      let (from, to) = (Symbol(anySpelling: words[0]), Symbol(anySpelling: words[1]))
      let (day, kind) = (TradingDay(words[2]), InstrumentLink.Kind(rawValue: words[3]))
      if from == nil { expect("expected a code such as bj833819", fields[0]) }
      if to == nil || to == from { expect("expected another code such as bj920819", fields[1]) }
      if day == nil { expect("expected a date such as 2025-05-06", fields[2]) }
      if kind == nil {
        let kinds = InstrumentLink.Kind.allCases.map(\.rawValue).joined(separator: ", ")
        expect("expected one of \(kinds)", fields[3])
      }
      let (ratio, cash) = (number(4), number(5))
      guard let from, let to, from != to, let day, let kind else { return nil }
      if kind == .rename {
        // A code has one that came before, and one that came after.
        let other = codes.renames.first { ($0.key == from) != ($0.value == to) }
        if let other {
          expect("\(other.key) became \(other.value) on an earlier line", fields[1])
        } else if codes.living(to) == from {
          expect("\(to) became \(from) on earlier lines", fields[1])
        }
        codes.rename(from, to: to)
      }
      return InstrumentLink(
        from: from, to: to, day: day, kind: kind, verdict: .declared, ratio: ratio, cash: cash,
        source: words[6].isEmpty ? origin : words[6])
    }
  }

  /// Reads and parses the file at `path`.
  package static func load(_ path: String) throws(ConfigurationError) -> [InstrumentLink] {
    try parse(ConfigurationFile.read(path), origin: path)
  }
}
