import Admin
import Commits
import EmbeddedPostgres
import Feeds
import Foundation
import Market
import Operations
import Polling
import Store
import TestSupport
import Testing
import Transport

@testable import Ingest
@testable import Journal
@testable import Postgres

/// Reports as tests want them: an ordinary one, and one in which everything has happened.
enum Sample {
  static let now = Timestamp(seconds: 1_783_303_200)  // 2026-07-06 10:00 in Shanghai

  static func quotes(
    _ condition: SourceState.Condition = .ok, isInSession: Bool = true, staleness: Int64? = 3
  ) -> SourceReport {
    var source = SourceReport(source: .sina, endpoint: "quotes")
    source.state = SourceState(condition, since: now)
    source.requests = 12
    source.outcomes = ["ok": 12]
    source.freshness = SourceReport.Freshness(
      isInSession: isInSession, stalenessSeconds: staleness, limitSeconds: 15)
    return source
  }

  static func engine() -> EngineReport {
    var engine = EngineReport(
      now: now, status: EngineStatus(), counters: PipelineCounters())
    engine.sources = [quotes()]
    engine.status.commits.duration.record(microseconds: 7_400)
    engine.status.commits.count = 1
    return engine
  }

  static func leading(_ engine: EngineReport = engine()) -> DaemonReport {
    DaemonReport(
      at: now, startedAt: now.adding(seconds: -90), role: .leading(term: 4), engine: engine)
  }

  /// Every label has every value, those nobody declared included.
  static func full() -> DaemonReport {
    var engine = engine()
    engine.sources = [
      (.sina, "quotes"), (.sina, "history"), (.mairui, "lists"), (.alpacaIEX, "bars"),
      (.alpacaSIP, "bars"), (.sina, "unheard of"),
    ].map { source, endpoint in
      var report = quotes()
      report.source = source
      report.endpoint = endpoint
      report.outcomes = Dictionary(
        uniqueKeysWithValues: (0..<200).map { ("outcome_\($0)", $0) })
      return report
    }
    for code in TransportError.Code.allCases { engine.status.quotes.transportFaults[code] = 1 }
    for code in StoreError.Code.allCases { engine.status.store.faults[code] = 1 }
    for code in JournalError.Code.allCases { engine.status.journal.faults[code] = 1 }
    for reason in RejectionReason.allCases { engine.counters.rejectedRows[reason] = 1 }
    for reason in KeyParking.allCases { engine.keys.parked[reason] = 1 }
    engine.status.store.notificationQueue = .zero
    engine.status.store.monthsLeft = 2
    engine.status.store.replicas = [
      ReplicaLink(
        name: "standby", isConnected: true, keptBytes: 1, limitBytes: 2, lagBytes: 3,
        lagMicroseconds: 4)
    ]
    engine.status.commits.lastAt = now
    engine.status.commits.lag.record(microseconds: 99_000_000)
    engine.quarantined = 900
    engine.symbols = 1
    engine.counters.links.suspected = 2
    engine.calendar.newYorkEnd = TradingDay("2026-12-24")
    engine.status.store.contradictedFactors.instruments = 2
    engine.status.store.contradictedFactors.lastDay = TradingDay("2026-06-25")
    var report = leading(engine)
    report.loops = (0..<100).map {
      DaemonReport.Loop(name: "loop\($0)", ageMicroseconds: 1, isStale: false)
    }
    report.privateServer = PrivateServer()
    report.privateServer?.major = 15
    report.privateServer?.maintainedUntil = TradingDay("2027-11-11")
    report.privateServer?.backup = BackupState(
      baseAt: now, waitingSegments: 1,
      drill: DrillResult(at: now, hasPassed: true, sentence: "7 rows"))
    report.privateServer?.install = "apt-get install postgresql-15"
    report.disks = [
      DiskForecast(name: "database", freeBytes: 1, fullOn: TradingDay("2026-09-01"))
    ]
    report.authorityEnds = ["hq.example": now.adding(seconds: 400 * 86_400)]
    report.keyEnds = ["mairui": now.shanghaiDay.advanced(by: 90)]
    report.reload = ReloadOutcome(at: now, problem: "no", accepted: 1, refused: 2)
    report.journal = DiskUsage(
      segments: 1, bytes: 2, diskBytes: 3, freeBytes: 4)
    report.process = ProcessReport()
    return report
  }

  /// What `/status` shows, by name.
  static func status(_ report: DaemonReport) throws -> [String: Any] {
    try members(of: StatusDocument(report).json)
  }

  static func members(of json: String) throws -> [String: Any] {
    try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
  }

  static func page(_ report: DaemonReport) -> String {
    MetricTable.families.exposition(of: report)
  }
}
