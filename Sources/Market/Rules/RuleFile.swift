/// The text of a file of rules: fields between commas, of which the last may have some; blank lines
/// and what follows a `#` do not count.
package enum RuleFile {
  package static let fields = [
    "market", "board", "kind", "key", "value", "from_day", "to_day", "source",
  ]

  /// What is wrong with a line, and with which field of it.
  package struct Problem: Error, Sendable, Hashable {
    package var line: Int
    package var field: String?
    package var sentence: String
  }

  /// The rules of `text` in their order, and everything that is wrong.
  package static func parse(
    _ text: String, isOperators: Bool = false
  ) -> (rules: [Rule], problems: [Problem]) {
    var (rules, problems): ([Rule], [Problem]) = ([], [])
    var firstLines: [Rule: Int] = [:]
    var tables = RuleTables()
    let lines = text.split(omittingEmptySubsequences: false) { $0.isNewline }
    for (index, line) in lines.enumerated() {
      let content = line.prefix { $0 != "#" }
      if content.allSatisfy(\.isWhitespace) { continue }
      let words =
        content
        .split(separator: ",", maxSplits: fields.count - 1, omittingEmptySubsequences: false)
        .map { $0.split(whereSeparator: \.isWhitespace).joined(separator: " ") }
      var reading = Reading(words: words, line: index + 1)
      let rule = reading.rule(isOperators: isOperators, into: &tables)
      problems += reading.problems
      guard var rule else { continue }
      rules.append(rule)
      (rule.value, rule.source, rule.toDay) = ("", "", nil)
      if rule.key != "codes", let first = firstLines.updateValue(index + 1, forKey: rule) {
        problems.append(
          Problem(
            line: index + 1, field: "from_day", sentence: "the same rule begins on line \(first)"))
      }
    }
    return (rules, problems)
  }

  private struct Reading {
    let words: [String]
    let line: Int
    var problems: [Problem] = []

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
      return problems.isEmpty ? rule : nil
    }

    private mutating func day(_ place: Int) -> TradingDay? {
      if words[place].isEmpty { return nil }
      let day = TradingDay(words[place])
      if day == nil { expect("a date such as 2027-02-08, or nothing", in: fields[place]) }
      return day
    }

    private mutating func expect(_ what: String, in field: String?) {
      problems.append(Problem(line: line, field: field, sentence: "expected " + what))
    }
  }
}
