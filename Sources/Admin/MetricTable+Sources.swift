import Feeds
import Ingest
import Market
import Operations
import Polling

/// Who is asked, how often, and what comes back.
extension MetricTable {
  /// Every endpoint there is.
  private static var endpoints: MetricLabels {
    MetricLabels(
      ["source", "endpoint"],
      combinations: SourceRegistry.all.flatMap { source in
        (source.quotes == nil ? [] : [[source.series[0].name, "quotes"]])
          + (source.hasMoreThanQuotes
            ? source.series.map { [$0.name, source.workerName] } : [])
      })
  }

  /// The words of `QuoteOutcome` and `FeedRefusal.Kind`; a test holds them to those.
  static let outcomes = [
    "ok", "throttled", "banned", "unauthorised", "poisoned", "empty", "malformed", "transient",
    "not_found", "quota_exhausted", "no_data", "entitlement", "invalid_symbol",
    "programming_error", "implausible",
  ]

  private static let conditions = ["waiting"] + SourceState.Condition.allCases.map { "\($0)" }

  private static func eachSource(
    _ kind: Family.Kind, name: String, help: String,
    read: @escaping @Sendable (SourceReport, EngineReport) -> MetricValue?
  ) -> Family {
    Family(kind, name: name, help: help, labels: endpoints) { report in
      guard let engine = report.engine else { return [] }
      return engine.sources.compactMap { one in
        read(one, engine).map { MetricSeries(one.labels, value: $0) }
      }
    }
  }

  private static func eachSource(
    _ kind: Family.Kind, name: String, help: String, by label: String, words: [String],
    read: @escaping @Sendable (SourceReport, String) -> Int64
  ) -> Family {
    Family(kind, name: name, help: help, labels: endpoints.times(label, values: words)) { report in
      (report.engine?.sources ?? []).flatMap { one in
        words.map { MetricSeries(one.labels + [$0], value: .integer(read(one, $0))) }
      }
    }
  }

  /// Of the sources of live quotes.
  private static var live: [String] {
    SourceRegistry.all.filter { $0.quotes != nil }.map(\.mainSeries.name)
  }

  static var sources: [Family] { serving + endpointFamilies }

  private static var serving: [Family] {
    [
      gauge(
        "candled_certificates_refused",
        help: "1 while no host proves who it is: this machine's clock or authorities are at fault."
      ) { .flag($0.areCertificatesRefused) },
      Family(
        .gauge, name: "candled_quotes_serving",
        help: "1 for the source that serves live quotes, 0 for one that stands by.",
        labels: MetricLabels("source", values: live)
      ) { report in
        (report.engine?.sources ?? []).filter(\.isQuotes).map {
          MetricSeries([$0.source.name], value: .flag(!$0.isStandby))
        }
      },
      gauge(
        "candled_quotes_fallback",
        help: "1 while a source that is not the preferred one serves live quotes."
      ) {
        .flag($0.isOnFallback)
      },
      counters(
        "candled_quotes_failovers_total",
        help: "Changes of the source that serves live quotes, by the new one.", by: "to",
        words: live
      ) { engine in
        Dictionary(
          engine.status.quotes.failovers.map { ($0.key.name, $0.value) }, uniquingKeysWith: +)
      },
    ]
  }

  private static var endpointFamilies: [Family] {
    [
      eachSource(.counter, name: "candled_requests_total", help: "Requests sent.") { source, _ in
        .integer(Int64(source.requests))
      },
      eachSource(
        .counter, name: "candled_answers_total", help: "Responses, by outcome.",
        by: "outcome", words: outcomes
      ) { source, outcome in
        Int64(source.outcomes[outcome] ?? 0)
      },
      counters(
        "candled_request_faults_total", help: "Requests without a response, by reason.", by: "code"
      ) {
        $0.status.quotes.transportFaults
      },
      eachSource(
        .gauge, name: "candled_source_state", help: "1 for the current state of the endpoint.",
        by: "state",
        words: conditions
      ) { source, condition in
        source.stateName == condition ? 1 : 0
      },
      eachSource(
        .gauge, name: "candled_source_in_session",
        help: "1 while the endpoint should have new rows."
      ) { source, _ in
        source.freshness.map { .flag($0.isInSession) }
      },
      eachSource(
        .gauge, name: "candled_source_staleness_seconds",
        help: "Age of the newest row, in session seconds."
      ) { source, _ in
        source.freshness?.stalenessSeconds.map { .integer($0) }
      },
      eachSource(
        .gauge, name: "candled_source_staleness_limit_seconds",
        help: "Greatest allowed age of the newest row, in session seconds."
      ) { source, _ in
        source.freshness.map { .integer($0.limitSeconds) }
      },
      eachSource(
        .gauge, name: "candled_source_fresh",
        help: "1 if the newest row is within its limit, or out of session."
      ) { source, _ in
        source.freshness.map { .flag($0.isFresh) }
      },
      gauge("candled_keys", help: "Configured licences.") { .integer(Int64($0.keys.configured)) },
      Family(
        .gauge, name: "candled_keys_parked", help: "Licences not used for now, by reason.",
        labels: MetricLabels("reason", values: KeyParking.allCases.map(\.name))
      ) { report in
        guard let engine = report.engine else { return [] }
        return KeyParking.allCases.map { reason in
          MetricSeries([reason.name], value: .integer(Int64(engine.keys.parked[reason] ?? 0)))
        }
      },
    ]
  }
}

extension SourceReport {
  fileprivate var labels: [String] { [source.name, endpoint] }
}
