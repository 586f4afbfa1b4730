/// The text of a file of rules: fields between commas, of which the last may have some; blank lines
/// and what follows a `#` do not count.
package enum RuleFile {
  package static let fields = [
    "market", "board", "kind", "key", "value", "from_day", "to_day", "source",
  ]

  /// The rules of `text` in their order, and everything that is wrong.
  package static func parse(
    _ text: String, isOperators: Bool = false
  ) -> (rules: [Rule], problems: [LineFile.Problem]) {
    var firstLines: [Rule: Int] = [:]
    var tables = RuleTables()
    let (rules, problems) = LineFile.parse(text) { (line, number, expect) -> Rule? in
      let words =
        line
        .split(separator: ",", maxSplits: fields.count - 1, omittingEmptySubsequences: false)
        .map { $0.split(whereSeparator: \.isWhitespace).joined(separator: " ") }
      var reading = Reading(words: words)
      let rule = reading.rule(isOperators: isOperators, into: &tables)
      for (what, field) in reading.expected { expect("expected " + what, field) }
      guard let rule, rule.key != "codes" else { return rule }
      var beginning = rule
      (beginning.value, beginning.source, beginning.toDay) = ("", "", nil)
      if let first = firstLines.updateValue(number, forKey: beginning) {
        expect("the same rule begins on line \(first)", "from_day")
      }
      return rule
    }
    return (rules, problems)
  }

  private struct Reading {
    let words: [String]
    var expected: [(what: String, field: String?)] = []

    mutating func rule(isOperators: Bool, into tables: inout RuleTables) -> Rule? {
      guard words.count == fields.count else {
        expect("\(fields.joined(separator: ",")), found \(words.count) fields", in: nil)
        return nil
      }
      let rule = Rule(
        market: words[0], board: words[1], kind: words[2], key: words[3], value: words[4],
        fromDay: day(5), toDay: day(6), source: words[7], isOperators: isOperators)
      if !MarketDefinition.names.contains(rule.market) {
        expect(MarketDefinition.names.joined(separator: " or "), in: "market")
      }
      if RuleScope(board: rule.board, kind: "") == nil {
        expect("sh, sz, bj, main, chinext, star, a symbol or nothing", in: "board")
      }
      if RuleScope(board: "", kind: rule.kind) == nil {
        expect(InstrumentKind.allCases.map(\.name).joined(separator: ", "), in: "kind")
      }
      if let from = rule.fromDay, let to = rule.toDay, to < from {
        expect("a day that is not before \(from)", in: "to_day")
      }
      if rule.source.isEmpty { expect("where the rule is from", in: "source") }
      if let key = RuleKey.named(rule.key) {
        if let scope = RuleScope(board: rule.board, kind: rule.kind),
          !key.add(rule, scope, &tables)
        {
          expect(key.expected, in: "value")
        }
      } else {
        expect(RuleKey.all.map(\.name).joined(separator: ", "), in: "key")
      }
      return expected.isEmpty ? rule : nil
    }

    private mutating func day(_ place: Int) -> TradingDay? {
      if words[place].isEmpty { return nil }
      let day = TradingDay(words[place])
      if day == nil { expect("a date such as 2027-02-08, or nothing", in: fields[place]) }
      return day
    }

    private mutating func expect(_ what: String, in field: String?) {
      expected.append((what, field))
    }
  }
}
