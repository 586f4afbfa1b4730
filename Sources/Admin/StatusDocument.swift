/// `/status`: the report as JSON, for `candled status` and for people with jq. Names are those of
/// the metrics where there is one; times are RFC 3339.

import Foundation
import Ingest
import Journal
import Market
import Operations
import Polling
import Store

public struct StatusDocument: Codable, Sendable, Equatable {
  public var version: String
  public var at: String
  public var startedAt: String
  public var uptimeSeconds: Int64
  public var role: String
  public var leader: String?
  public var term: Int64?
  public var isReady: Bool
  public var notReady: [String]
  public var staleLoops: [String]
  public var loops: [String: Double]
  public var engine: Engine?
  /// nil while it answers and takes what it is given.
  public var storeTrouble: String?
  public var sources: [Source]
  public var journal: Journal?
  public var reload: Reload?
  public var residentMemoryBytes: Int64

  public struct Engine: Codable, Sendable, Equatable {
    public var now: String
    /// `morning session`, or when the next one begins; nil where none is polled.
    public var market: String?
    public var nextSessionAt: String?
    public var symbols: Int
    public var sweeps: Int
    public var commits: Int
    public var candles: Int
    public var gapsOpened: Int
    public var gapsClosed: Int
    public var revisions: Int
    public var rejections: Int
    public var pendingCandles: Int
    public var backlogEntries: Int64
    public var lastCommitAt: String?
    public var commitMilliseconds: Double?
    public var lagMilliseconds: Double?
    public var changeSeq: Int64
    public var journalFault: String?
    public var keysParked: Int
    public var calendarDaysLeft: Int
    public var isCatchingUp: Bool
    public var isCertificateOverdue: Bool
  }

  public struct Source: Codable, Sendable, Equatable {
    public var source: String
    public var endpoint: String
    public var state: String
    public var since: String?
    public var requests: Int
    public var failures: Int
    public var lastSuccessAt: String?
    public var isInSession: Bool?
    public var stalenessSeconds: Int64?
    public var limitSeconds: Int64?
    public var isFresh: Bool?
    /// nil while it is well.
    public var fault: Fault?
  }

  public struct Fault: Codable, Sendable, Equatable {
    /// As `candled_request_faults_total` and `candled_answers_total` have it.
    public var code: String
    public var host: String?
    public var attempts: Int
    public var since: String
    /// The same for people, with what to do about it.
    public var sentence: String
  }

  public struct Journal: Codable, Sendable, Equatable {
    public var position: Int64?
    public var syncedPosition: Int64?
    public var committedPosition: Int64?
    public var segments: Int
    public var bytes: Int64
    public var diskFreeBytes: Int64
  }

  public struct Reload: Codable, Sendable, Equatable {
    public var at: String
    public var isAccepted: Bool
    public var problem: String?
    public var accepted: Int
    public var refused: Int
    /// Settings whose old values stay in force until a restart.
    public var needsRestart: [String]
  }
}

// MARK: - From a report

extension StatusDocument {
  public init(_ report: DaemonReport, _ build: BuildFacts) {
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
        position: report.engine?.lastPosition.sequence,
        syncedPosition: report.engine?.syncedPosition.sequence,
        committedPosition: report.engine?.status.committed.sequence,
        segments: diskUsage.segments, bytes: diskUsage.bytes, diskFreeBytes: diskUsage.freeBytes)
    }
    reload = report.reload.map { reload in
      Reload(
        at: "\(reload.at)", isAccepted: reload.isAccepted, problem: reload.problem,
        accepted: reload.accepted, refused: reload.refused, needsRestart: reload.needsRestart)
    }
    residentMemoryBytes = report.process.residentBytes
  }

  public var json: String {
    let encoder = JSONEncoder()
    encoder.keyEncodingStrategy = .convertToSnakeCase
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
  }

  /// nil if it is none.
  public init?(json: String) {
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
    nextSessionAt = report.nextSession.map { "\($0)" }
    symbols = report.symbols
    sweeps = status.sweeps
    commits = status.commits
    candles = status.candlesSaved
    gapsOpened = status.gapsOpened
    gapsClosed = status.gapsClosed
    revisions = status.revisionsSaved
    rejections = report.counters.rejectedRows.values.reduce(0, +)
    pendingCandles = report.pendingCandles
    backlogEntries = report.backlogEntries
    lastCommitAt = status.lastCommitAt.map { "\($0)" }
    if status.commits > 0 {
      commitMilliseconds = Double(status.commitMicroseconds) / 1_000
      lagMilliseconds = Double(status.lagMicroseconds) / 1_000
    }
    changeSeq = status.sequence
    journalFault = status.journalFault?.rawValue
    keysParked = report.keysParked.values.reduce(0, +)
    calendarDaysLeft = report.calendarDaysLeft
    isCatchingUp = report.isCatchingUp
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
