import Admin
import Operations
import TestSupport
import Testing

/// The files operators import, held to the metrics that exist.
@Suite struct DashboardTests {
  private let files: OperatorFiles

  init() throws { files = try OperatorFiles(of: "candled") }

  @Test func `rules and panels ask for metrics and labels that exist`() {
    #expect(files.rules.count >= 12 && files.targets.count > 40)
    for (text, labels) in files.expressions {
      let expression = Expression(text)
      #expect(
        expression.faults(among: MetricTable.families, labelsUsed: labels) == [], "\(text)")
      #expect(!expression.selectors.isEmpty || text.contains("up{"), "\(text)")
    }
  }

  @Test func `whatever a rule or a panel selects is on a page where everything happens`() throws {
    let page = try PrometheusPage(Sample.page(Sample.full()))
    #expect(files.missing(from: page) == [])
  }

  @Test func `every metric is in a rule or a panel`() {
    #expect(files.unused(of: MetricTable.families) == [])
  }

  /// What goes wrong without a row or a state that shows it.
  @Test(arguments: [
    "candled_journal_segments_sacrificed_total", "candled_notify_failures_total",
    "candled_answers_out_of_time_total", "candled_symbols_quarantined",
    "candled_disputes_total", "candled_instruments_silent", "candled_prune_failures_total",
  ])
  func `a fault that only a metric shows has a rule and a panel`(metric: String) {
    for texts in [files.rules.compactMap { $0.fields["expr"] }, files.targets.map(\.text)] {
      #expect(texts.contains { Expression($0).selectors.contains { $0.metric == metric } })
    }
  }

  @Test func `the page of alerts has a paragraph of each rule`() throws {
    let groups = try ["candled", "candled-gateway"].map { program in
      let rules = try OperatorFiles(of: program).rules
      return "## \(program)\n\n" + rules.map(\.paragraph).joined(separator: "\n\n") + "\n"
    }
    let text = groups.joined(separator: "\n")
    #expect(try OperatorFiles.text("docs/reference/alerts.md").hasSuffix("\n\n" + text), "\(text)")
  }

  @Test(arguments: ["candled", "candled-gateway"])
  func `every rule has a name, a meaning, a severity and what to do`(program: String) throws {
    let files = try OperatorFiles(of: program)
    #expect(files.rules.flatMap(\.faults) == [])
    #expect(Set(files.rules.compactMap { $0.fields["alert"] }).count == files.rules.count)
  }

  @Test(arguments: ["candled", "candled-gateway"])
  func `the dashboard takes its data source and instance from variables`(program: String) throws {
    let files = try OperatorFiles(of: program)
    #expect(files.variables == ["datasource", "instance"])
    #expect(Set(files.panels.compactMap { $0["id"] as? Int }).count == files.panels.count)
    for panel in files.panels where panel["type"] as? String != "row" {
      let source = panel["datasource"] as? [String: Any]
      #expect(source?["uid"] as? String == "${datasource}")
    }
  }

  @Test func `the dashboard has a row for each part of the daemon`() {
    let rows = files.panels.filter { $0["type"] as? String == "row" }.compactMap {
      $0["title"] as? String
    }
    #expect(
      rows == [
        "Health", "Recording", "Sources", "Store", "Years", "Replicas", "Journal", "Process",
      ])
  }

  @Test(arguments: [
    "candled_no_such_total > 0", "process_no_such > 0", "candled_ready{role=\"leading\"} == 1",
    "candled_role{role=\"king\"} == 1", "candled_role{role=~\"leading|king\"}",
    "sum by (symbol) (candled_sweeps_total)", "candled_commit_lag_seconds > 1",
    "candled_sweeps_total_bucket",
  ])
  func `a name that does not exist is found`(text: String) {
    #expect(Expression(text).faults(among: MetricTable.families) != [])
  }

  @Test(arguments: [
    "candled_ready == 0", "sum by (source) (rate(candled_requests_total{source=\"sina\"}[1m]))",
    "histogram_quantile(0.9, sum by (le) (rate(candled_commit_lag_seconds_bucket[5m])))",
  ])
  func `a name that exists is not`(text: String) {
    #expect(Expression(text).faults(among: MetricTable.families) == [])
  }
}
