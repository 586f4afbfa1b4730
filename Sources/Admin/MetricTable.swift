/// Every metric of candled, each declared once, in the order of the page and of
/// docs/reference/metrics.md. To add one: keep the number where it is known (`EngineStatus`,
/// `DaemonState`), and add a line here.

import Feeds
import Ingest
import Market
import Operations

package enum MetricTable {
  package typealias Family = MetricFamily<DaemonReport>

  package static var families: [Family] {
    SourceRegistry.isReplaced ? ofRegisteredSources : own
  }

  private static let own = ofRegisteredSources

  private static var ofRegisteredSources: [Family] {
    let process = Family.ofProcess { $0.process }
    return [daemon, sources, recording, store, journal, process].flatMap { $0 }
  }

  // MARK: Shorthands

  static func counter(
    _ name: String, help: String, read: @escaping @Sendable (EngineReport) -> Int
  ) -> Family {
    Family(.counter, name: name, help: help) { report in
      report.engine.map { .integer(Int64(read($0))) }
    }
  }

  static func gauge(
    _ name: String, help: String, read: @escaping @Sendable (EngineReport) -> MetricValue?
  ) -> Family {
    Family(.gauge, name: name, help: help) { report in report.engine.flatMap(read) }
  }

  static func histogram(
    _ name: String, help: String, read: @escaping @Sendable (EngineReport) -> MetricHistogram
  ) -> Family {
    Family(.histogram, name: name, help: help) { report in
      report.engine.map { .histogram(read($0)) }
    }
  }

  /// A series for each word, at zero from the start.
  static func counters(
    _ name: String, help: String, by label: String, words: [String],
    read: @escaping @Sendable (EngineReport) -> [String: Int]
  ) -> Family {
    Family(.counter, name: name, help: help, labels: MetricLabels(label, values: words)) {
      report in
      guard let counts = report.engine.map(read) else { return [] }
      return words.map { MetricSeries([$0], value: .integer(Int64(counts[$0] ?? 0))) }
    }
  }

  /// A series for each case of an enumeration.
  static func counters<Key: RawRepresentable & CaseIterable & Hashable & Sendable>(
    _ name: String, help: String, by label: String,
    read: @escaping @Sendable (EngineReport) -> [Key: Int]
  ) -> Family where Key.RawValue == String {
    counters(name, help: help, by: label, words: Key.allCases.map(\.rawValue)) { engine in
      Dictionary(uniqueKeysWithValues: read(engine).map { ($0.key.rawValue, $0.value) })
    }
  }
}

// MARK: - The daemon

extension MetricTable {
  private static let daemon: [Family] = [
    Family(
      .gauge, name: "candled_build_info", help: "1, with the build as labels.",
      labels: MetricLabels(["version", "swift", "configuration"], atMost: 1)
    ) { _ in
      let build = [BuildVersion.current, BuildVersion.swift, BuildVersion.configuration]
      return [MetricSeries(build, value: .integer(1))]
    },
    Family(
      .gauge, name: "candled_role", help: "1 for the current role of the daemon.",
      labels: MetricLabels("role", values: DaemonRole.words)
    ) { report in
      DaemonRole.words.map { MetricSeries([$0], value: .flag($0 == report.role.word)) }
    },
    Family(.gauge, name: "candled_ready", help: "1 while /readyz returns 200.") { report in
      .flag(Readiness(report).isReady)
    },
    Family(.gauge, name: "candled_lease_term", help: "The term in which this daemon leads.") {
      report in
      if case .leading(let term) = report.role { .integer(term) } else { nil }
    },
    Family(
      .gauge, name: "candled_loop_age_seconds", help: "Time since a loop last made progress.",
      labels: MetricLabels(["loop"], atMost: 8)
    ) { report in
      report.loops.map { MetricSeries([$0.name], value: .microseconds($0.ageMicroseconds)) }
    },
    Family(
      .gauge, name: "candled_last_reload_accepted",
      help: "1 if the last reload was accepted, or there was none."
    ) { report in
      .flag(report.reload?.isAccepted ?? true)
    },
    counter("candled_clock_jumps_total", help: "Detected jumps of the system clock.") {
      $0.status.clock.jumps
    },
    counter("candled_clock_corrections_total", help: "Corrections of the time candled uses.") {
      $0.status.clock.corrections
    },
    gauge(
      "candled_clock_refused", help: "1 while the exchange's time contradicts the system clock."
    ) {
      .flag($0.status.clock.isRefused)
    },
    Family(
      .gauge, name: "candled_due_seconds",
      help: "Time to the end of the day by which something needs a person: see candled status.",
      labels: MetricLabels("kind", values: DueItem.Kind.allCases.map(\.rawValue))
    ) { report in
      report.ends.map { item in
        let end = Timestamp(day: item.day.advanced(by: 1), secondOfDay: 0)
        return MetricSeries(
          [item.kind.rawValue],
          value: .microseconds(end.microseconds(since: report.engine?.now ?? report.at)))
      }
    },
    gauge(
      "candled_calendar_supposed",
      help: "1 on a weekday that the trading calendar lacks: it is recorded like a trading day."
    ) { .flag($0.isDaySupposed) },
  ]
}
