import Foundation
import TestSupport
import Testing

/// The files operators import, held to the metrics that exist.
@Suite struct DashboardTests {
  private static func text(_ name: String) throws -> String {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    return try String(contentsOf: root.appending(path: "config/\(name)"), encoding: .utf8)
  }

  @Test func `every alert asks for metrics and labels that exist`() throws {
    let rules = try AlertRule.all(in: try Self.text("alerts.yml"))
    #expect(rules.count >= 12)
    for rule in rules {
      let expression = Expression(rule.fields["expr"] ?? "")
      #expect(expression.faults(labelsUsed: rule.labelsUsed) == [], "\(rule.fields)")
      #expect(!expression.selectors.isEmpty || rule.fields["alert"] == "CandledDown")
    }
  }

  /// A label may be declared and never served: an expression about it could never hold.
  @Test func `whatever an alert or a panel selects is on a page where everything happens`() throws {
    let page = try PrometheusPage(Sample.page(Sample.full()))
    let alerts = try AlertRule.all(in: try Self.text("alerts.yml")).map { $0.fields["expr"] ?? "" }
    let targets = try panels().flatMap { $0["targets"] as? [[String: Any]] ?? [] }
    let expressions = alerts + targets.map { $0["expr"] as? String ?? "" }
    var selectors = 0
    for (metric, matchers) in expressions.flatMap({ Expression($0).selectors }) {
      let own = matchers.filter { !["job", "instance"].contains($0.label) }
      for value in own.flatMap(\.values) where value.contains("$") || value.contains("*") {
        Issue.record("\(metric): \(value) selects by a pattern, which this test cannot judge")
      }
      let isServed = page.samples.contains { sample in
        sample.name == metric
          && own.allSatisfy { matcher in
            sample.labels[matcher.label].map(matcher.values.contains) ?? false
          }
      }
      #expect(isServed, "\(metric) \(own)")
      selectors += 1
    }
    #expect(selectors > 60, "\(selectors)")
  }

  /// What goes wrong without a row or a state that shows it.
  @Test(arguments: [
    "candled_journal_segments_sacrificed_total", "candled_notify_failures_total",
    "candled_answers_out_of_time_total", "candled_symbols_quarantined",
    "candled_disputes_total", "candled_instruments_silent", "candled_prune_failures_total",
  ])
  func `a fault that only a metric shows has an alert and a panel`(metric: String) throws {
    let alerts = try AlertRule.all(in: try Self.text("alerts.yml")).map { $0.fields["expr"] ?? "" }
    let targets = try panels().flatMap { $0["targets"] as? [[String: Any]] ?? [] }
    for expressions in [alerts, targets.map { $0["expr"] as? String ?? "" }] {
      #expect(
        expressions.contains { text in
          Expression(text).selectors.contains { $0.metric == metric }
        })
    }
  }

  @Test(arguments: ["candled", "candled-gateway"])
  func `every alert says what it means, how grave it is and what to do`(group: String) throws {
    let rules = try AlertRule.all(in: try Self.text("alerts.yml"), of: group)
    #expect(rules.count >= 5)
    #expect(Set(rules.compactMap { $0.fields["alert"] }).count == rules.count)
    for rule in rules {
      #expect(["critical", "warning"].contains(rule.fields["severity"]), "\(rule.fields)")
      #expect((rule.fields["summary"] ?? "").count > 10)
      #expect((rule.fields["description"] ?? "").count > 30)
      let wait = rule.fields["for"] ?? "1m"
      #expect(wait.wholeMatch(of: #/[0-9]+[smh]/#) != nil)
    }
  }

  @Test func `every panel asks for metrics and labels that exist`() throws {
    let panels = try panels()
    let expressions = panels.flatMap { panel in
      (panel["targets"] as? [[String: Any]] ?? []).map { target in
        (target["expr"] as? String ?? "", target["legendFormat"] as? String ?? "")
      }
    }
    #expect(expressions.count > 40)
    for (text, legend) in expressions {
      let expression = Expression(text)
      let labels = legend.matches(of: #/\{\{(\w+)\}\}/#).map { String($0.output.1) }
      #expect(expression.faults(labelsUsed: labels) == [], "\(text)")
      #expect(!expression.selectors.isEmpty, "\(text)")
    }
  }

  @Test func `the dashboard takes its data source and instance from variables`() throws {
    let board = try board()
    let variables = ((board["templating"] as? [String: Any])?["list"] as? [[String: Any]]) ?? []
    #expect(variables.compactMap { $0["name"] as? String } == ["datasource", "instance"])
    let panels = try panels()
    #expect(Set(panels.compactMap { $0["id"] as? Int }).count == panels.count)
    for panel in panels where panel["type"] as? String != "row" {
      let source = panel["datasource"] as? [String: Any]
      #expect(source?["uid"] as? String == "${datasource}")
    }
    let rows = panels.filter { $0["type"] as? String == "row" }.compactMap {
      $0["title"] as? String
    }
    #expect(
      rows == ["Health", "Recording", "Sources", "Store", "Replicas", "Journal", "Process"])
  }

  @Test(arguments: [
    "candled_no_such_total > 0", "process_no_such > 0", "candled_ready{role=\"leading\"} == 1",
    "candled_role{role=\"king\"} == 1", "candled_role{role=~\"leading|king\"}",
    "sum by (symbol) (candled_sweeps_total)", "candled_commit_lag_seconds > 1",
    "candled_sweeps_total_bucket",
  ])
  func `a name that does not exist is found`(text: String) {
    #expect(Expression(text).faults() != [])
  }

  @Test(arguments: [
    "candled_ready == 0", "sum by (source) (rate(candled_requests_total{source=\"sina\"}[1m]))",
    "histogram_quantile(0.9, sum by (le) (rate(candled_commit_lag_seconds_bucket[5m])))",
  ])
  func `a name that exists is not`(text: String) {
    #expect(Expression(text).faults() == [])
  }

  private func board() throws -> [String: Any] {
    let data = Data(try Self.text("grafana.json").utf8)
    return try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
  }

  private func panels() throws -> [[String: Any]] {
    try #require(try board()["panels"] as? [[String: Any]])
  }
}
