import ExchangeSimulator
import Ingest
import Ledgers
import Market
import TestExchange

/// A day on which the first source refuses us again and again, and once both do: what was served by
/// whichever source is what stands in the tables.
package struct FailoverTrial {
  package var plan: FailoverDay.Plan

  package struct Verdict: Sendable {
    package var changes = 0
    package var candles = 0
    package var coarse = 0
    package var gaps = 0
    package var certificates = 0
    package var coarseCertificates = 0
    /// Readable, empty if all is well.
    package var complaints: [String] = []
  }

  package init(seed: UInt64, instruments: Int) {
    plan = FailoverDay.Plan(seed: seed)
    plan.instruments = instruments
  }

  package func run() throws -> Verdict {
    var day = FailoverDay(plan)
    day.run()
    guard let recorder = day.recorder else {
      return Verdict(complaints: ["nobody recorded the day"])
    }
    let candles = Array(day.rows.candles.values)
    let certificates = Array(day.rows.certificates.values)
    var verdict = Verdict(
      changes: day.changes.count, candles: candles.count,
      coarse: candles.count { $0.flags.contains(.coarse) }, gaps: day.rows.gaps.count,
      certificates: certificates.count,
      coarseCertificates: certificates.count(where: \.isCoarse))
    verdict.complaints = recorder.observableLedger().differences(
      candles: candles, gaps: day.rows.gaps, certificates: certificates)
    verdict.complaints += recorder.trueLedger().differences(
      certificates: certificates.filter { !$0.isCoarse })
    verdict.complaints += try day.rows.misstatements() + day.rows.adjoiningGaps
    verdict.complaints += day.coolDownComplaints
    verdict.complaints += needlessGaps(of: day)
    let disputes = day.disputes.filter { $0.value > 0 }
    if !disputes.isEmpty { verdict.complaints.append("disputes: \(disputes)") }
    if certificates.isEmpty { verdict.complaints.append("no certificate was written") }
    if day.changes.count < 2 {
      verdict.complaints.append("\(day.changes.count) changes of the source that serves")
    }
    return verdict
  }

  /// A change of source within 15 s leaves no gap.
  private func needlessGaps(of day: FailoverDay) -> [String] {
    day.rows.gaps.filter { gap in
      !day.silences.contains { $0.from < gap.to && gap.from < $0.to }
    }.map { "a gap although a source answered: \($0)" }
  }
}
