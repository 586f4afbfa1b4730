import Commits
import Ingest
import Journal
import Market
import Polling
import Postgres
import Store

/// Whether the daemon does what it is there for just now: it leads, the store takes what it has,
/// the journal takes what comes, and every source that is in its session is fresh.
package struct Readiness: Sendable, Hashable {
  package var isReady: Bool { reasons.isEmpty }
  /// `ready`, or the first reason why not.
  package var headline: String { reasons.first ?? "ready" }
  /// Every reason there is not to be ready.
  package private(set) var reasons: [String] = []
  /// What was looked at, a line each.
  package private(set) var lines: [String] = []

  package init(_ report: DaemonReport) {
    let role = report.role
    if role.isLeading { lines.append("role \(role)") } else { fail("\(role)") }
    let stale = report.staleLoops
    if !stale.isEmpty { fail("no progress: \(stale.joined(separator: ", "))") }
    guard let engine = report.engine else {
      if report.storeAwaySince != nil { fail("no connection to the database yet") }
      if report.role.isLeading { fail("the engine does not respond") }
      return
    }
    let entries = counted(engine.backlog.entries, "entry", "entries")
    let lag = engine.backlog.isCatchingUp ? "behind the journal by \(entries)" : nil
    evaluate("store", trouble: report.storeTrouble ?? lag)
    let journalTrouble = engine.status.journal.fault.map { "cannot be written: \($0.rawValue)" }
    evaluate("journal", trouble: journalTrouble)
    if engine.symbols > 0 { lines.append(engine.sessionText) }
    for source in engine.sources { evaluate(source, at: engine.now) }
  }

  private mutating func evaluate(_ part: String, trouble: String?) {
    if let trouble { return fail("\(part) \(trouble)") }
    lines.append("\(part) ok")
  }

  private mutating func evaluate(_ source: SourceReport, at now: Timestamp) {
    let fault = source.fault.map { ": " + $0.advice(at: now) } ?? ""
    guard let freshness = source.freshness else {
      let role = source.isStandby ? ", standby" : ""
      return lines.append("\(source.name) \(source.stateName)\(role)\(fault)")
    }
    let age = freshness.stalenessSeconds.map { "\($0) s behind" } ?? "no data yet"
    let sentence =
      "\(source.name) \(source.stateName), \(age), limit \(freshness.limitSeconds) s"
      + freshness.excuse + fault
    if freshness.isFresh { lines.append(sentence) } else { fail(sentence) }
  }

  private mutating func fail(_ reason: String) {
    lines.append("not ready: " + reason)
    reasons.append(reason)
  }
}

extension DaemonReport {
  /// A commit takes milliseconds, a renewal of the lease comes every few seconds; a store that has
  /// owed an answer for so long does not answer. One that restarts is back sooner.
  private static let storeSilenceSecondsMax: Int64 = 10

  /// Why the store is not to be counted on; nil while it answers and takes what it is given.
  var storeTrouble: String? {
    if let fault = privateServer?.fault { return fault }
    if let fault = engine?.status.store.fault { return "commits fail: \(fault.code.rawValue)" }
    let commit = (engine?.backlog.commitWaitMicroseconds ?? 0) / 1_000_000
    if commit > Self.storeSilenceSecondsMax { return "has not responded for \(commit) s" }
    let lease = storeAwaySince.map { at.microseconds(since: $0) / 1_000_000 } ?? 0
    if lease > Self.storeSilenceSecondsMax { return "cannot renew the lease for \(lease) s" }
    return nil
  }
}
