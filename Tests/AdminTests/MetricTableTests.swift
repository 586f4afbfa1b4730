import Admin
import Feeds
import Market
import Operations
import TestSupport
import Testing

@testable import Ingest

@Suite struct MetricTableTests {
  private let families = MetricTable.families

  @Test func `names are unique, in Prometheus' style, and carry their unit`() {
    #expect(Set(families.map(\.name)).count == families.count && families.count > 60)
    for family in families {
      let name = family.name
      #expect(name.hasPrefix("candled_") || name.hasPrefix("process_"), "\(name)")
      #expect(name.utf8.allSatisfy { (97...122).contains($0) || $0 == 95 }, "\(name)")
      #expect(name.hasSuffix("_total") == (family.kind == .counter), "\(name)")
      #expect(family.kind != .histogram || name.hasSuffix("_seconds"), "\(name)")
      // Base units only, as `promtool check metrics` has them.
      let words = Set(name.split(separator: "_"))
      #expect(
        words.isDisjoint(with: [
          "milliseconds", "minutes", "hours", "days", "percent", "kilobytes", "megabytes",
        ]), "\(name)")
      #expect(family.help.hasSuffix(".") && !family.help.contains("|"), "\(name)")
    }
  }

  @Test func `the table has fewer than 500 series whatever happens`() throws {
    // Of a histogram's, three are `+Inf`, `_sum` and `_count`.
    let most = families.reduce(0) { sum, family in
      let series = MetricHistogram.boundsMicroseconds.count + 3
      return sum + family.labels.combinationsMax * (family.kind == .histogram ? series : 1)
    }
    let page = try PrometheusPage(Sample.page(Sample.full()))
    #expect(most <= 500, "\(most)")
    #expect(page.samples.count <= most && page.samples.count > 200, "\(page.samples.count)")
  }

  @Test func `a full report leaves no family out`() throws {
    let page = try PrometheusPage(Sample.page(Sample.full()))
    for family in families { #expect(page.types[family.name] == family.kind.rawValue) }
  }

  @Test func `no symbol and no outside word becomes a label`() throws {
    let page = Sample.page(Sample.full())
    #expect(!page.contains("sh600") && !page.contains("outcome_7") && !page.contains("unheard"))
  }

  @Test func `outcomes are those the feeds know`() {
    let sina: [QuoteOutcome] = [
      .ok(lines: 3), .throttled, .banned, .unauthorised, .poisoned, .empty, .malformed,
      .transient, .notFound,
    ]
    let feeds: [FeedRefusal.Kind] = [
      .quotaExhausted, .unauthorised, .throttled(retryAfterSeconds: 1), .banned, .notFound,
      .noData, .entitlement, .invalidSymbol(nil), .programmingError, .malformed, .transient,
      .implausible,
    ]
    var report = Sample.engine()
    for (place, name) in (sina.map(\.name) + feeds.map(\.name)).enumerated() {
      report.sources[0].outcomes[name] = place + 1
    }
    let values = report.sources[0].outcomes
    let page = try? PrometheusPage(Sample.page(Sample.leading(report)))
    for (name, count) in values {
      let labels = ["source": "sina", "endpoint": "quotes", "outcome": name]
      #expect(page?["candled_answers_total", labels] == Double(count), "\(name)")
    }
  }

  @Test func `a daemon without an engine still has a page`() throws {
    let report = DaemonReport(
      at: Sample.now, startedAt: Sample.now, role: .standby(leader: "other"))
    let page = try PrometheusPage(Sample.page(report))
    #expect(page["candled_role", ["role": "standby"]] == 1)
    #expect(page["candled_role", ["role": "leading"]] == 0)
    #expect(page["candled_ready"] == 0 && page["candled_lease_term"] == nil)
    #expect(page["candled_sweeps_total"] == nil)
  }

  @Test func `what is left of the calendar is seconds, to the end of its last day`() throws {
    var engine = Sample.engine()
    (engine.calendar.daysLeft, engine.symbols) = (2, 1)
    // 10:00 in Shanghai: 14 hours of today and two days.
    let left = try PrometheusPage(Sample.page(Sample.leading(engine)))
    let shanghai = ["kind": "calendar_shanghai"]
    #expect(left["candled_due_seconds", shanghai] == Double((14 + 48) * 3_600))
    (engine.calendar.daysLeft, engine.calendar.isTodaySupposed) = (-1, true)
    let over = try PrometheusPage(Sample.page(Sample.leading(engine)))
    #expect(over["candled_due_seconds", shanghai] == Double(-10 * 3_600))
    #expect(left["candled_calendar_supposed"] == 0 && over["candled_calendar_supposed"] == 1)
  }

  @Test func `durations are exact seconds`() throws {
    let text = Sample.page(Sample.leading())
    #expect(text.contains("candled_commit_duration_seconds_bucket{le=\"0.005\"} 0\n"))
    #expect(text.contains("candled_commit_duration_seconds_bucket{le=\"0.01\"} 1\n"))
    #expect(text.contains("candled_commit_duration_seconds_bucket{le=\"+Inf\"} 1\n"))
    #expect(text.contains("candled_commit_duration_seconds_sum 0.0074\n"))
    #expect(try PrometheusPage(text)["candled_commit_duration_seconds_count"] == 1)
  }

  @Test(arguments: [
    "candled_x 1", "# TYPE candled_x counter\ncandled_x 1\n",
    "# HELP candled_x X.\n# TYPE candled_x counter\ncandled_x  1\n",
    "# HELP candled_x X.\n# TYPE candled_x counter\ncandled_x{a=\"1} 1\n",
    "# HELP candled_x X.\n# TYPE candled_x counter\ncandled_x 1\ncandled_x 2\n",
    "# HELP candled_x X.\n# TYPE candled_x counter\ncandled_x one\n",
    "# HELP candled_x X.\n# TYPE candled_x histogram\ncandled_x_bucket{le=\"1\"} 1\n",
  ])
  func `the tests' reader refuses what a scraper would`(text: String) {
    #expect(throws: PrometheusPage.Fault.self) { try PrometheusPage(text) }
  }
}
