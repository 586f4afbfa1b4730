import Ingest
import Operations

/// What becomes of the answers: sweeps, candles, what passed unseen and what was refused.
extension MetricTable {
  static let recording: [Family] = [
    gauge("candled_symbols", help: "Polled instruments.") { .integer(Int64($0.symbols)) },
    gauge(
      "candled_symbols_quarantined",
      help: "Symbols no longer requested: the source refuses every batch with them."
    ) {
      .integer(Int64($0.quarantined))
    },
    counter("candled_sweeps_total", help: "Completed sweeps over all instruments.") {
      $0.status.quotes.sweeps
    },
    counter("candled_snapshots_total", help: "Accepted rows of quotes.") { $0.counters.snapshots },
    counter(
      "candled_snapshots_changed_total", help: "Accepted rows that differ from the previous one."
    ) {
      $0.counters.changedSnapshots
    },
    counter("candled_rows_missing_total", help: "Requested rows that the response did not contain.")
    {
      $0.counters.missingRows
    },
    counters("candled_rejections_total", help: "Refused rows, by reason.", by: "reason") {
      $0.counters.rejectedRows
    },
    counters(
      "candled_dropped_members_total",
      help: "Members of accepted rows left out for their form, by member.", by: "member"
    ) {
      $0.counters.droppedMembers
    },
    counters(
      "candled_rule_breaches_total",
      help: "Rows and responses that a rule of docs/rules.md does not explain, by the rule.",
      by: "rule"
    ) {
      $0.counters.ruleBreaches
    },
    counters(
      "candled_disputes_total",
      help: "Disputes: contradicting rows of one instrument, by outcome.", by: "outcome"
    ) {
      $0.counters.disputes
    },
    counters(
      "candled_links_total",
      help: "Changes of codes and mergers found or declared, by verdict.", by: "verdict"
    ) {
      $0.counters.links.found
    },
    gauge(
      "candled_links_suspected",
      help: "Changes of codes suspected in the last 30 days and not decided."
    ) {
      .integer(Int64($0.counters.links.suspected))
    },
    Family(
      .gauge, name: "candled_instruments_silent",
      help: "Instruments without an accepted row for 60 s of trading, by the last refusal.",
      labels: MetricLabels("reason", values: EngineReport.silenceReasons)
    ) { report in
      guard let engine = report.engine else { return [] }
      return EngineReport.silenceReasons.map {
        MetricSeries([$0], value: .integer(Int64(engine.silentInstruments[$0] ?? 0)))
      }
    },
    counter(
      "candled_answers_out_of_time_total",
      help: "Responses not used because their date contradicts the clock."
    ) {
      $0.status.clock.responsesOutOfTime
    },
    counter("candled_candles_total", help: "Final candles created.") {
      $0.status.commits.rows.candles
    },
    counter("candled_gaps_opened_total", help: "Gaps opened: periods with unseen volume.") {
      $0.status.commits.rows.gapsOpened
    },
    counter("candled_gaps_closed_total", help: "Gaps closed by later bars.") {
      $0.status.commits.rows.gapsClosed
    },
    counter("candled_revisions_total", help: "Revisions of final candles.") {
      $0.status.commits.rows.revisions
    },
    counter("candled_disagreements_total", help: "Values on which two sources disagree.") {
      $0.status.commits.rows.disagreements
    },
    counters(
      "candled_certificates_total",
      help:
        "Certificates by outcome: balanced, unbalanced (a bug), or the day's end was not seen.",
      by: "outcome", words: ["balanced", "residual", "unseen"]
    ) { engine in
      let counters = engine.counters
      return [
        "balanced": counters.balancedCertificates, "unseen": counters.unseenCertificates,
        "residual": counters.certificates - counters.balancedCertificates
          - counters.unseenCertificates,
      ]
    },
    gauge(
      "candled_certificate_overdue", help: "1 if the last completed trading day has no certificate."
    ) {
      .flag($0.isCertificateOverdue)
    },
  ]
}
