import Admin
import Foundation
import Operations
import Testing

/// What an expression of PromQL names: metrics, and the labels it asks of them. Just enough of the
/// language to catch a name that does not exist.
struct Expression {
  /// Each metric with its matchers.
  var selectors: [(metric: String, matchers: [(label: String, values: [String])])] = []
  /// Labels named elsewhere: `by (…)`, `on (…)`.
  var groupings: [String] = []

  init(_ text: String) {
    for match in text.matches(of: #/\b((?:candled|process)_[a-zA-Z0-9_]+)(?:\{([^}]*)\})?/#) {
      let matchers = (match.output.2 ?? "").matches(of: #/(\w+)(?:=~|!~|!=|=)"([^"]*)"/#).map {
        (label: String($0.output.1), values: $0.output.2.split(separator: "|").map(String.init))
      }
      selectors.append((String(match.output.1), matchers))
    }
    for match in text.matches(of: #/\b(?:by|on|ignoring|without) \(([^)]*)\)/#) {
      groupings += match.output.1.split(separator: ",").map {
        $0.trimmingCharacters(in: .whitespaces)
      }
    }
  }

  /// Labels Prometheus adds, and a histogram's own.
  private static let givenLabels: Set<String> = ["job", "instance", "le"]

  /// What is named and does not exist, a sentence each.
  func faults(labelsUsed: [String] = []) -> [String] {
    var faults: [String] = []
    var known = Self.givenLabels
    for (metric, matchers) in selectors {
      guard let family = Self.family(metric) else {
        faults.append("no metric \(metric)")
        continue
      }
      known.formUnion(family.labels.names)
      for (label, values) in matchers where !Self.givenLabels.contains(label) {
        guard let place = family.labels.names.firstIndex(of: label) else {
          faults.append("\(metric) has no label \(label)")
          continue
        }
        let combinations = family.labels.combinations ?? []
        for value in values where !combinations.contains(where: { $0[place] == value }) {
          faults.append("\(metric) has no \(label) \(value)")
        }
      }
    }
    for label in groupings + labelsUsed where !known.contains(label) {
      faults.append("no label \(label)")
    }
    return faults
  }

  private static func family(_ metric: String) -> MetricTable.Family? {
    MetricTable.families.first { family in
      family.kind == .histogram
        ? ["_bucket", "_sum", "_count"].contains { metric == family.name + $0 }
        : metric == family.name
    }
  }
}

/// A rule of config/alerts.yml, read by its fixed shape: the file is data for others, and a reader
/// of all of YAML would be more than there is to read.
struct AlertRule {
  var fields: [String: String] = [:]

  /// Those of a group.
  static func all(in text: String, of group: String = "candled") throws -> [AlertRule] {
    var rules: [AlertRule] = []
    var current = group
    for (number, line) in text.split(separator: "\n").enumerated() {
      if let name = line.wholeMatch(of: #/ {2}- name: ([a-z-]+)/#)?.output.1 {
        current = String(name)
      }
      if current != group || line.hasPrefix("#") || line == "groups:"
        || line == "  - name: \(group)" || line == "    rules:" || line == "        labels:"
        || line == "        annotations:"
      {
        continue
      }
      if let name = line.wholeMatch(of: #/ {6}- alert: (\w+)/#)?.output.1 {
        rules.append(AlertRule(fields: ["alert": String(name)]))
        continue
      }
      let field = try #require(
        line.wholeMatch(of: #/ {8}(?: {2})?(expr|for|severity|summary|description): (.+)/#),
        "line \(number + 1): \(line)")
      let value = field.output.2
      let isQuoted = value.hasPrefix("\"")
      // Plain scalars of YAML may hold neither ": " nor " #", nor begin with these.
      #expect(
        isQuoted
          ? value.hasSuffix("\"") && !value.dropFirst().dropLast().contains("\"")
          : !value.contains(": ") && !value.contains(" #")
            && !"{[*&!|>%@`'".contains(value.first ?? "{"),
        "line \(number + 1)")
      let key = String(field.output.1)
      try #require(!rules.isEmpty)
      #expect(rules[rules.count - 1].fields.updateValue(String(value), forKey: key) == nil)
    }
    return rules
  }

  /// Labels its sentences speak of.
  var labelsUsed: [String] {
    fields.values.flatMap { text in
      text.matches(of: #/\$labels\.(\w+)/#).map { String($0.output.1) }
    }
  }
}
