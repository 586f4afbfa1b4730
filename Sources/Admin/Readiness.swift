import Ingest
import Journal
import Market
import Polling
import Store

/// Whether the daemon does what it is there for just now: it leads, the store takes what it has,
/// the journal takes what comes, and every source that is in its session is fresh.
public struct Readiness: Sendable, Hashable {
  public private(set) var isReady = true
  /// `ready`, or the first reason why not.
  public private(set) var headline = "ready"
  /// What was looked at, a line each.
  public private(set) var lines: [String] = []

  /// A commit takes milliseconds; one so old has a store that does not answer.
  static let commitSecondsMax: Int64 = 10

  public init(_ report: DaemonReport) {
    judgeRole(report.role)
    let stale = report.loops.filter(\.isStale).map(\.name)
    if !stale.isEmpty { fail("does not turn: \(stale.joined(separator: ", "))") }
    guard let engine = report.engine else {
      if report.storeAwaySince != nil { fail("store away, waiting for it") }
      if report.role.isLeading { fail("the engine does not answer") }
      return
    }
    judgeStore(engine)
    judge("journal", engine.status.journalFault.map { "refuses entries: \($0.rawValue)" })
    for source in engine.sources { judge(source) }
  }

  private mutating func judgeRole(_ role: DaemonRole) {
    switch role {
    case .leading(let term): lines.append("role leading, term \(term)")
    case .standby(let leader): fail("standby behind \(leader)")
    case .starting, .draining: fail(role.word)
    }
  }

  private mutating func judgeStore(_ engine: EngineReport) {
    let waited = (engine.commitWaitMicroseconds ?? 0) / 1_000_000
    if let fault = engine.status.storeFault {
      judge("store", "refuses commits: \(fault.rawValue)")
    } else if waited > Readiness.commitSecondsMax {
      judge("store", "has not answered for \(waited) s")
    } else if engine.isCatchingUp {
      judge("store", "behind the journal by \(engine.backlogEntries) entries")
    } else {
      judge("store", nil)
    }
  }

  private mutating func judge(_ part: String, _ trouble: String?) {
    if let trouble { return fail("\(part) \(trouble)") }
    lines.append("\(part) ok")
  }

  private mutating func judge(_ source: SourceReport) {
    let state = source.state.map { "\($0.condition)" } ?? "waiting"
    guard let freshness = source.freshness else {
      return lines.append("\(source.name) \(state)")
    }
    let age = freshness.stalenessSeconds.map { "\($0) s behind" } ?? "nothing seen yet"
    let sentence =
      "\(source.name) \(state), \(age), limit \(freshness.limitSeconds) s"
      + (freshness.isInSession ? "" : ", out of session")
    if freshness.isFresh { lines.append(sentence) } else { fail(sentence) }
  }

  private mutating func fail(_ reason: String) {
    lines.append("not ready: " + reason)
    if isReady { headline = reason }
    isReady = false
  }

  /// Every reason there is not to be ready.
  public var reasons: [String] {
    lines.compactMap { line in
      line.hasPrefix("not ready: ") ? String(line.dropFirst("not ready: ".count)) : nil
    }
  }
}
