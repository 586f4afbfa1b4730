import Foundation
import Operations

/// What operators import of one program: its alerting rules and its dashboard.
package struct OperatorFiles {
  package let rules: [AlertRule]
  /// A JSON object each.
  package let panels: [[String: Any]]
  /// Names of the dashboard's variables.
  package let variables: [String]

  package struct Fault: Error, CustomStringConvertible {
    package var description: String
  }

  /// - Parameter program: `candled-gateway`, say: its rules are a group of that name.
  package init(of program: String) throws {
    rules = try AlertRule.all(in: Self.text("config/alerts.yml"), of: program)
    let suffix = program.dropFirst("candled".count)
    let text = try Self.text("config/grafana\(suffix).json")
    guard let board = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any],
      let panels = board["panels"] as? [[String: Any]],
      let templating = board["templating"] as? [String: Any],
      let variables = templating["list"] as? [[String: Any]]
    else { throw Fault(description: "no dashboard") }
    self.panels = panels
    self.variables = variables.compactMap { $0["name"] as? String }
  }

  /// A file of the package.
  package static func text(_ path: String) throws -> String {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    return try String(contentsOf: root.appending(path: path), encoding: .utf8)
  }

  /// Of panels, each with the labels that its legend shows.
  package var targets: [(text: String, labels: [String])] {
    panels.flatMap { $0["targets"] as? [[String: Any]] ?? [] }.map { target in
      let legend = target["legendFormat"] as? String ?? ""
      return (
        target["expr"] as? String ?? "",
        legend.matches(of: #/\{\{(\w+)\}\}/#).map { String($0.output.1) }
      )
    }
  }

  /// Of rules and panels.
  package var expressions: [(text: String, labels: [String])] {
    rules.map { ($0.fields["expr"] ?? "", $0.labelsUsed) } + targets
  }

  /// What is selected and is on no page, a sentence each: a label may be declared and never served,
  /// and an expression about it could never hold.
  package func missing(from page: PrometheusPage) -> [String] {
    expressions.flatMap { Expression($0.text).selectors }.compactMap { metric, matchers in
      let own = matchers.filter { !["job", "instance"].contains($0.label) }
      let isServed = page.samples.contains { sample in
        sample.name == metric
          && own.allSatisfy { matcher in
            sample.labels[matcher.label].map(matcher.values.contains) ?? false
          }
      }
      return isServed ? nil : "\(metric) \(own)"
    }
  }

  /// Names of metrics that neither a rule nor a panel selects.
  package func unused(of families: [MetricFamily<some Sendable>]) -> [String] {
    let selected = Set(expressions.flatMap { Expression($0.text).selectors.map(\.metric) })
    return families.filter { $0.seriesNames.isDisjoint(with: selected) }.map(\.name)
  }
}

extension MetricFamily {
  /// As expressions select them.
  fileprivate var seriesNames: Set<String> {
    kind == .histogram ? Set(["_bucket", "_sum", "_count"].map { name + $0 }) : [name]
  }
}

/// What an expression of PromQL names: metrics, and the labels it asks of them. Just enough of the
/// language to catch a name that does not exist.
package struct Expression {
  /// Each metric with its matchers.
  package var selectors: [(metric: String, matchers: [(label: String, values: [String])])] = []
  /// Labels named elsewhere: `by (…)`, `on (…)`.
  private var groupings: [String] = []

  package init(_ text: String) {
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
  package func faults(
    among families: [MetricFamily<some Sendable>], labelsUsed: [String] = []
  ) -> [String] {
    var faults: [String] = []
    var known = Self.givenLabels
    for (metric, matchers) in selectors {
      guard let family = families.first(where: { $0.seriesNames.contains(metric) }) else {
        faults.append("no metric \(metric)")
        continue
      }
      known.formUnion(family.labels.names)
      for (label, values) in matchers where !Self.givenLabels.contains(label) {
        guard let place = family.labels.names.firstIndex(of: label) else {
          faults.append("\(metric) has no label \(label)")
          continue
        }
        guard let combinations = family.labels.combinations else { continue }
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
}

/// A rule of config/alerts.yml, read by its fixed shape: the file is data for others, and a reader
/// of all of YAML would be more than there is to read.
package struct AlertRule {
  package var fields: [String: String] = [:]

  /// Those of a group.
  package static func all(in text: String, of group: String) throws -> [AlertRule] {
    var rules: [AlertRule] = []
    var current = ""
    for (number, line) in text.split(separator: "\n").enumerated() {
      if let name = line.wholeMatch(of: #/ {2}- name: ([a-z-]+)/#)?.output.1 {
        current = String(name)
        continue
      }
      if current != group || ["rules:", "labels:", "annotations:"].contains(line.trimmed) {
        continue
      }
      if let name = line.wholeMatch(of: #/ {6}- alert: (\w+)/#)?.output.1 {
        rules.append(AlertRule(fields: ["alert": String(name)]))
        continue
      }
      guard
        let field = line.wholeMatch(
          of: #/ {8}(?: {2})?(expr|for|severity|summary|description): (.+)/#),
        let value = plain(field.output.2), !rules.isEmpty,
        rules[rules.count - 1].fields.updateValue(value, forKey: String(field.output.1)) == nil
      else { throw OperatorFiles.Fault(description: "line \(number + 1): \(line)") }
    }
    return rules
  }

  /// A scalar's text. Plain ones may hold neither ": " nor " #", nor begin with these.
  private static func plain(_ value: Substring) -> String? {
    if value.hasPrefix("\"") {
      let text = value.dropFirst().dropLast()
      return value.hasSuffix("\"") && !text.contains("\"") ? String(text) : nil
    }
    let isPlain =
      !value.contains(": ") && !value.contains(" #")
      && !"{[*&!|>%@`'".contains(value.first ?? "{")
    return isPlain ? String(value) : nil
  }

  /// Labels its sentences speak of.
  package var labelsUsed: [String] {
    fields.values.flatMap { text in
      text.matches(of: #/\$labels\.(\w+)/#).map { String($0.output.1) }
    }
  }

  /// What is missing of what every rule has, a sentence each.
  package var faults: [String] {
    var faults: [String] = []
    func expect(_ isSo: Bool, _ sentence: String) {
      if !isSo { faults.append("\(fields["alert"] ?? ""): \(sentence)") }
    }
    expect(["critical", "warning"].contains(fields["severity"]), "no severity")
    expect((fields["summary"] ?? "").count > 10, "no summary")
    expect((fields["description"] ?? "").count > 30, "no description")
    expect((fields["for"] ?? "1m").wholeMatch(of: #/[0-9]+[smh]/#) != nil, "no duration")
    return faults
  }

  /// Its paragraph of docs/reference/alerts.md.
  package var paragraph: String {
    func field(_ key: String) -> String { fields[key] ?? "" }
    let wait = fields["for"].map { " for \($0)" } ?? ""
    return """
      ### \(field("alert"))

      \(field("summary")). *\(field("severity"))*, when `\(field("expr"))`\(wait).

      \(field("description"))
      """
  }
}

extension Substring {
  fileprivate var trimmed: String { trimmingCharacters(in: .whitespaces) }
}
