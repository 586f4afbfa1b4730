import Ingest
import Market
import Operations

/// What becomes of the answers: sweeps, candles, what passed unseen and what was refused.
extension MetricTable {
  static let recording: [Family] = [
    gauge("candled_symbols", "Instruments polled.") { .integer(Int64($0.symbols)) },
    gauge("candled_symbols_quarantined", "Symbols left out: they void their batch.") {
      .integer(Int64($0.status.quarantined.count))
    },
    counter("candled_sweeps_total", "Rounds through all instruments.") { $0.status.sweeps },
    counter("candled_snapshots_total", "Rows of quotes taken.") { $0.counters.snapshots },
    counter("candled_snapshots_changed_total", "Rows that differ from the one before.") {
      $0.counters.changedSnapshots
    },
    counter("candled_rows_missing_total", "Rows asked for that did not come.") {
      $0.counters.missingRows
    },
    counters(
      "candled_rejections_total", "Rows refused, by why.", by: "reason",
      RejectionReason.allCases.map(\.rawValue)
    ) { engine in
      Dictionary(
        uniqueKeysWithValues: engine.counters.rejectedRows.map { ($0.key.rawValue, $0.value) })
    },
    counters(
      "candled_disputes_total",
      "Times rows of one instrument contradicted each other, by what came of it.", by: "outcome",
      DisputeEvent.Kind.allCases.map(\.rawValue)
    ) { engine in
      Dictionary(
        uniqueKeysWithValues: engine.counters.disputes.map { ($0.key.rawValue, $0.value) })
    },
    Family(
      .gauge, "candled_instruments_silent",
      "In session, without an accepted row for 60 s of trading, by the last refusal.",
      labels: MetricLabels("reason", EngineReport.silenceReasons)
    ) { source in
      guard let engine = source.report.engine else { return [] }
      return EngineReport.silenceReasons.map {
        MetricSeries([$0], .integer(Int64(engine.silentInstruments[$0] ?? 0)))
      }
    },
    counter(
      "candled_answers_out_of_time_total", "Answers not taken: their date contradicts our clock."
    ) {
      $0.status.responsesOutOfTime
    },
    counter("candled_bars_total", "Candles a source delivered ready-made.") { $0.counters.bars },
    counter("candled_candles_total", "Final candles stored.") { $0.status.candlesSaved },
    counter("candled_gaps_opened_total", "Stretches that passed unseen.") {
      $0.status.gapsOpened
    },
    counter("candled_gaps_closed_total", "Gaps that later bars filled.") { $0.status.gapsClosed },
    counter("candled_revisions_total", "Final candles that changed.") {
      $0.status.revisionsSaved
    },
    counter("candled_disagreements_total", "Times two sources did not agree.") {
      $0.status.disagreements
    },
    counters(
      "candled_certificates_total",
      "Days of instruments: balanced, not balanced (a bug), or whose end was not seen.",
      by: "outcome", ["balanced", "residual", "unseen"]
    ) { engine in
      let counters = engine.counters
      return [
        "balanced": counters.balancedCertificates, "unseen": counters.unseenCertificates,
        "residual": counters.certificates - counters.balancedCertificates
          - counters.unseenCertificates,
      ]
    },
    gauge(
      "candled_certificate_overdue", "1 if the last day that is over has no certificate."
    ) {
      .flag($0.isCertificateOverdue)
    },
  ]
}
