/// `/status`: the report as JSON, for `candled status` and for people with jq. Names are those of
/// the metrics where there is one; times are RFC 3339.

import Commits
import Feeds
import Foundation
import Ingest
import Journal
import Market
import Operations
import Polling
import Store

package struct StatusDocument: Codable, Sendable, Equatable {
  package var version: String
  package var at: String
  package var startedAt: String
  package var uptimeSeconds: Int64
  package var role: String
  package var leader: String?
  package var term: Int64?
  package var isReady: Bool
  package var notReady: [String]
  package var staleLoops: [String]
  package var loops: [String: Double]
  package var engine: Engine?
  /// nil while it answers and takes what it is given.
  package var storeTrouble: String?
  package var sources: [Source]
  package var journal: Journal?
  package var reload: Reload?
  package var residentMemoryBytes: Int64

  package struct Engine: Codable, Sendable, Equatable {
    package var now: String
    /// `morning session`, or when the next one begins; nil where none is polled.
    package var market: String?
    package var nextSessionAt: String?
    package var symbols: Int
    package var sweeps: Int
    package var commits: Int
    package var candles: Int
    package var gapsOpened: Int
    package var gapsClosed: Int
    package var revisions: Int
    package var rejections: Int
    package var pendingCandles: Int
    package var backlogEntries: Int64
    package var lastCommitAt: String?
    package var commitMilliseconds: Double?
    package var lagMilliseconds: Double?
    package var changeSeq: Int64
    package var journalFault: String?
    package var keysParked: Int
    package var calendarDaysLeft: Int
    package var isCatchingUp: Bool
    package var isCertificateOverdue: Bool
  }

  package struct Source: Codable, Sendable, Equatable {
    package var source: String
    package var endpoint: String
    package var state: String
    package var since: String?
    package var requests: Int
    package var failures: Int
    package var lastSuccessAt: String?
    package var isInSession: Bool?
    package var stalenessSeconds: Int64?
    package var limitSeconds: Int64?
    package var isFresh: Bool?
    /// nil while it is well.
    package var fault: Fault?
  }

  package struct Fault: Codable, Sendable, Equatable {
    /// As `candled_request_faults_total` and `candled_answers_total` have it.
    package var code: String
    package var host: String?
    package var attempts: Int
    package var since: String
    /// The same for people, with what to do about it.
    package var sentence: String
  }

  package struct Journal: Codable, Sendable, Equatable {
    package var position: Int64?
    package var syncedPosition: Int64?
    package var committedPosition: Int64?
    package var segments: Int
    package var bytes: Int64
    package var diskFreeBytes: Int64
  }

  package struct Reload: Codable, Sendable, Equatable {
    package var at: String
    package var isAccepted: Bool
    package var problem: String?
    package var accepted: Int
    package var refused: Int
    /// Settings whose old values stay in force until a restart.
    package var needsRestart: [String]
  }
}

// MARK: - From a report

extension StatusDocument {
  package init(_ report: DaemonReport, build: BuildFacts) {
    let readiness = Readiness(report)
    version = build.version
    at = "\(report.at)"
    startedAt = "\(report.startedAt)"
    uptimeSeconds = report.at.microseconds(since: report.startedAt) / 1_000_000
    role = report.role.word
    if case .standby(let leader) = report.role { self.leader = leader }
    if case .leading(let term) = report.role { self.term = term }
    isReady = readiness.isReady
    notReady = readiness.reasons
    staleLoops = report.loops.filter(\.isStale).map(\.name)
    loops = Dictionary(
      report.loops.map { ($0.name, Double($0.ageMicroseconds / 1_000) / 1_000) },
      uniquingKeysWith: max)
    engine = report.engine.map { Engine($0) }
    storeTrouble = report.storeTrouble
    sources = (report.engine?.sources ?? []).map {
      Source($0, at: report.engine?.now ?? report.at)
    }
    journal = report.journal.map { diskUsage in
      Journal(
        position: report.engine?.backlog.lastPosition.sequence,
        syncedPosition: report.engine?.backlog.syncedPosition.sequence,
        committedPosition: report.engine?.status.journal.committed.sequence,
        segments: diskUsage.segments, bytes: diskUsage.bytes, diskFreeBytes: diskUsage.freeBytes)
    }
    reload = report.reload.map { reload in
      Reload(
        at: "\(reload.at)", isAccepted: reload.isAccepted, problem: reload.problem,
        accepted: reload.accepted, refused: reload.refused, needsRestart: reload.needsRestart)
    }
    residentMemoryBytes = report.process.residentBytes
  }

  package var json: String {
    let encoder = JSONEncoder()
    encoder.keyEncodingStrategy = .convertToSnakeCase
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
  }

  /// nil if it is none.
  package init?(json: String) {
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    guard let document = try? decoder.decode(StatusDocument.self, from: Data(json.utf8)) else {
      return nil
    }
    self = document
  }
}

extension StatusDocument.Engine {
  fileprivate init(_ report: EngineReport) {
    let status = report.status
    now = "\(report.now)"
    if report.symbols > 0 { market = report.sessionText }
    nextSessionAt = report.calendar.nextSession.map { "\($0)" }
    symbols = report.symbols
    sweeps = status.quotes.sweeps
    commits = status.commits.count
    candles = status.commits.rows.candles
    gapsOpened = status.commits.rows.gapsOpened
    gapsClosed = status.commits.rows.gapsClosed
    revisions = status.commits.rows.revisions
    rejections = report.counters.rejectedRows.values.reduce(0, +)
    pendingCandles = report.backlog.pendingCandles
    backlogEntries = report.backlog.entries
    lastCommitAt = status.commits.lastAt.map { "\($0)" }
    if status.commits.count > 0 {
      commitMilliseconds = Double(status.commits.duration.microseconds) / 1_000
      lagMilliseconds = Double(status.commits.lag.microseconds) / 1_000
    }
    changeSeq = status.commits.sequence
    journalFault = status.journal.fault?.rawValue
    keysParked = report.keys.parked.values.reduce(0, +)
    calendarDaysLeft = report.calendar.daysLeft
    isCatchingUp = report.backlog.isCatchingUp
    isCertificateOverdue = report.isCertificateOverdue
  }
}

extension StatusDocument.Source {
  fileprivate init(_ report: SourceReport, at now: Timestamp) {
    source = report.source.name
    endpoint = report.endpoint
    state = report.state.map { "\($0.condition)" } ?? "waiting"
    since = report.state.map { "\($0.since)" }
    requests = report.requests
    failures = report.failures
    lastSuccessAt = report.lastSuccessAt.map { "\($0)" }
    isInSession = report.freshness?.isInSession
    stalenessSeconds = report.freshness?.stalenessSeconds
    limitSeconds = report.freshness?.limitSeconds
    isFresh = report.freshness?.isFresh
    fault = report.fault.map { fault in
      StatusDocument.Fault(
        code: fault.code, host: fault.host, attempts: fault.attempts, since: "\(fault.since)",
        sentence: fault.advice(at: now))
    }
  }
}
