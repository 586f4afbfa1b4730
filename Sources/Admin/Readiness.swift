import Commits
import Ingest
import Journal
import Market
import Polling
import Postgres
import Store

/// Whether the daemon does what it is there for just now: it leads, the store takes what it has,
/// the journal takes what comes, the calendar knows today, and every source that is in its session
/// is fresh.
package struct Readiness: Sendable, Hashable {
  package private(set) var isReady = true
  /// `ready`, or the first reason why not.
  package private(set) var headline = "ready"
  /// What was looked at, a line each.
  package private(set) var lines: [String] = []

  package init(_ report: DaemonReport) {
    evaluateRole(report.role)
    let stale = report.loops.filter(\.isStale).map(\.name)
    if !stale.isEmpty { fail("no progress: \(stale.joined(separator: ", "))") }
    guard let engine = report.engine else {
      if report.storeAwaySince != nil { fail("no connection to the database yet") }
      if report.role.isLeading { fail("the engine does not respond") }
      return
    }
    evaluateStore(report, of: engine)
    let journalTrouble = engine.status.journal.fault.map { "cannot be written: \($0.rawValue)" }
    evaluate("journal", trouble: journalTrouble)
    if engine.isTodayUnknown { fail("the trading calendar has ended, nothing is polled") }
    if engine.symbols > 0 { lines.append(engine.sessionText) }
    for source in engine.sources { evaluate(source, at: engine.now) }
  }

  private mutating func evaluateRole(_ role: DaemonRole) {
    switch role {
    case .leading(let term): lines.append("role leading, term \(term)")
    case .standby(let leader): fail("standby behind \(leader)")
    case .starting, .draining: fail(role.word)
    }
  }

  private mutating func evaluateStore(_ report: DaemonReport, of engine: EngineReport) {
    if let trouble = report.storeTrouble {
      evaluate("store", trouble: trouble)
    } else if engine.backlog.isCatchingUp {
      let entries = counted(engine.backlog.entries, "entry", "entries")
      evaluate("store", trouble: "behind the journal by \(entries)")
    } else {
      evaluate("store", trouble: nil)
    }
  }

  private mutating func evaluate(_ part: String, trouble: String?) {
    if let trouble { return fail("\(part) \(trouble)") }
    lines.append("\(part) ok")
  }

  private mutating func evaluate(_ source: SourceReport, at now: Timestamp) {
    let state = source.state.map { "\($0.condition)" } ?? "waiting"
    let fault = source.fault.map { ": " + $0.advice(at: now) } ?? ""
    guard let freshness = source.freshness else {
      return lines.append("\(source.name) \(state)\(fault)")
    }
    let age = freshness.stalenessSeconds.map { "\($0) s behind" } ?? "no data yet"
    let sentence =
      "\(source.name) \(state), \(age), limit \(freshness.limitSeconds) s"
      + (freshness.isInSession ? "" : ", out of session") + fault
    if freshness.isFresh { lines.append(sentence) } else { fail(sentence) }
  }

  private mutating func fail(_ reason: String) {
    lines.append("not ready: " + reason)
    if isReady { headline = reason }
    isReady = false
  }

  /// Every reason there is not to be ready.
  package var reasons: [String] {
    lines.compactMap { line in
      line.hasPrefix("not ready: ") ? String(line.dropFirst("not ready: ".count)) : nil
    }
  }
}

extension DaemonReport {
  /// A commit takes milliseconds, a renewal of the lease comes every few seconds; a store that has
  /// owed an answer for so long does not answer. One that restarts is back sooner.
  private static let storeSilenceSecondsMax: Int64 = 10

  /// Why the store is not to be counted on; nil while it answers and takes what it is given.
  var storeTrouble: String? {
    if let fault = engine?.status.store.fault { return "commits fail: \(fault.code.rawValue)" }
    let commit = (engine?.backlog.commitWaitMicroseconds ?? 0) / 1_000_000
    if commit > Self.storeSilenceSecondsMax { return "has not responded for \(commit) s" }
    let lease = storeAwaySince.map { at.microseconds(since: $0) / 1_000_000 } ?? 0
    if lease > Self.storeSilenceSecondsMax { return "cannot renew the lease for \(lease) s" }
    return nil
  }
}
