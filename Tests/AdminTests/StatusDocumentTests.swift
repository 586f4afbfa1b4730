import Admin
import Feeds
import Foundation
import Market
import Operations
import Polling
import TestSupport
import Testing
import Transport

@testable import Ingest
@testable import Journal
@testable import Postgres

@Suite struct StatusDocumentTests {
  /// Every name has a value.
  private var report: DaemonReport {
    var engine = Sample.engine()
    engine.sources = [
      Sample.quotes(), Sample.quotes(.stalled, isInSession: false, staleness: nil),
      SourceReport(source: .mairui, endpoint: "lists"),
    ]
    engine.sources[1].fault = SourceFault(
      .transport(.resolve), host: "hq.sinajs.cn", since: Sample.now)
    engine.sources[1].lastSuccessAt = Sample.now
    engine.symbols = 5
    engine.backlog.isCatchingUp = true
    engine.backlog.entries = 7
    engine.backlog.lastPosition = JournalPosition(12)
    engine.status.commits.lag.microseconds = 5_000
    engine.status.commits.lastAt = Sample.now
    engine.status.journal.fault = .full
    engine.keys.parked[.quota] = 2
    engine.calendar.nextSession = TradingCalendar.shanghai.nextSession(after: Sample.now)
    engine.isCertificateOverdue = true
    engine.status.store.replicas = [
      ReplicaLink(
        name: "analysts", isConnected: false, keptBytes: 8 << 30, limitBytes: 10 << 30),
      ReplicaLink(name: "standby", isConnected: true, lagBytes: 16, lagMicroseconds: 1_500),
    ]
    var report = Sample.leading(engine)
    report.storeAwaySince = Sample.now.adding(seconds: -60)
    report.loops = [
      .init(name: "engine", ageMicroseconds: 1_234_567, isStale: true),
      .init(name: "admin", ageMicroseconds: 2_000_000, isStale: false),
    ]
    report.journal = DiskUsage(
      segments: 1, bytes: 2 << 20, diskBytes: 3 << 30, freeBytes: 4 << 30)
    report.reload = ReloadOutcome(
      at: Sample.now, problem: "line \"3\"/4\u{1B}[2J", accepted: 1, refused: 2,
      needsRestart: ["store.url"])
    return report
  }

  @Test func `the JSON has every name once, in a fixed order`() throws {
    let json = StatusDocument(report).json
    let expected = #"""
      {"version":"\#(BuildVersion.current)","at":"2026-07-06T10:00:00+08:00",
      "started_at":"2026-07-06T09:58:30+08:00",
      "uptime_seconds":90,"role":"leading","term":4,"is_ready":false,
      "not_ready":["no progress: engine","store cannot renew the lease for 60 s",
      "journal cannot be written: full"],
      "due":[{"kind":"calendar_shanghai","day":"2026-07-06","days_left":0,
      "what":"Shanghai's trading calendar ends","to_do":"the next year's days come by themselves
       around New Year; if not, install a newer release"}],
      "stale_loops":["engine"],"loops":{"admin":2,"engine":1.234},
      "engine":{"now":"2026-07-06T10:00:00+08:00","market":"morning session",
      "next_session_at":"2026-07-06T13:00:00+08:00","serving":"sina","is_on_fallback":false,
      "symbols":5,"sweeps":0,"commits":1,"candles":0,
      "gaps_opened":0,"gaps_closed":0,"revisions":0,"rejections":0,"pending_candles":0,
      "backlog_entries":7,"last_commit_at":"2026-07-06T10:00:00+08:00","commit_milliseconds":7.4,
      "lag_milliseconds":5,"change_seq":0,"journal_fault":"full","keys_parked":2,
      "codes_suspected":0,
      "is_catching_up":true,"is_certificate_overdue":true,
      "replicas":[{"replica":"analysts","is_connected":false,"slot_bytes":8589934592,
      "slot_limit_bytes":10737418240,"alarm":"near_limit"},
      {"replica":"standby","is_connected":true,"lag_bytes":16,"lag_milliseconds":1.5}]},
      "store_trouble":"cannot renew the lease for 60 s",
      "sources":[{"source":"sina","endpoint":"quotes","state":"ok",
      "since":"2026-07-06T10:00:00+08:00","is_serving":true,"requests":12,"failures":0,
      "is_in_session":true,
      "staleness_seconds":3,"limit_seconds":15,"is_fresh":true},
      {"source":"sina","endpoint":"quotes","state":"stalled",
      "since":"2026-07-06T10:00:00+08:00","is_serving":true,"requests":12,"failures":0,
      "last_success_at":"2026-07-06T10:00:00+08:00","is_in_session":false,"limit_seconds":15,
      "is_fresh":true,"fault":{"code":"resolve","host":"hq.sinajs.cn","attempts":1,
      "since":"2026-07-06T10:00:00+08:00",
      "sentence":"cannot resolve hq.sinajs.cn (1 attempt since 10:00): check DNS or the network"}},
      {"source":"mairui","endpoint":"lists","state":"waiting","requests":0,"failures":0}],
      "journal":{"position":12,"synced_position":0,"committed_position":0,"segments":1,
      "bytes":2097152,"disk_free_bytes":4294967296},
      "reload":{"at":"2026-07-06T10:00:00+08:00","is_accepted":false,
      "problem":"line \"3\"/4\u001b[2J","accepted":1,"refused":2,"needs_restart":["store.url"]},
      "resident_memory_bytes":0}
      """#
    #expect(json == expected.split(separator: "\n").joined())
    #expect(try Sample.members(of: json)["role"] as? String == "leading")
  }

  @Test func `the text has a line for each fact that people ask for`() {
    let text = StatusDocument(report).text
    let expected = """
      candled                    \(BuildVersion.current), up 1 min
      role                       leading, term 4
      ready                      no progress: engine; store cannot renew the lease for 60 s; \
      journal cannot be written: full
      due 2026-07-06             Shanghai's trading calendar ends: the next year's days come by \
      themselves around New Year; if not, install a newer release
      no progress                engine
      market                     morning session
      sweeps                     0 over 5 symbols
      commits                    1, the last in 7.4 ms, lag 5 ms
      journal cannot be written  full
      keys parked                2
      catching up                7 entries to go
      certificate                overdue
      replica analysts           not connected, 8192 MiB of at most 10240 kept for its slot
      replica standby            connected, 16 bytes behind
      store                      cannot renew the lease for 60 s, 0 candles pending
      sina quotes                ok, 3 s behind (limit 15 s), 12 requests, 0 failures
      sina quotes                stalled, out of session, 12 requests, 0 failures: \
      cannot resolve hq.sinajs.cn (1 attempt since 10:00): check DNS or the network
      mairui lists               waiting, 0 requests, 0 failures
      journal                    entry 12, committed 0, 2 MiB in 1 file, 4 GiB free
      last reload                refused: line "3"/4 [2J at 2026-07-06T10:00:00+08:00; \
      after a restart: store.url
      memory                     0 MiB
      """
    #expect(text == expected)
  }

  /// The first source is banned, and the second serves.
  private var failedOver: DaemonReport {
    var engine = Sample.engine()
    var first = Sample.quotes(.banned, staleness: nil)
    (first.isStandby, first.freshness) = (true, nil)
    first.fault = SourceFault(
      .response(status: 456, outcome: "banned"), host: "hq.sinajs.cn", since: Sample.now)
    var second = Sample.quotes()
    second.source = Source(name: "tencent") ?? .sina
    second.servingSince = Sample.now.adding(seconds: -1_680)
    engine.sources = [first, second]
    engine.isOnFallback = true
    engine.symbols = 5
    return Sample.leading(engine)
  }

  @Test func `one line says which source serves, since when, and who stands by`() throws {
    let document = StatusDocument(failedOver)
    let lines = document.text.split(separator: "\n").filter { $0.contains("quotes") }
    #expect(
      lines.map(String.init) == [
        "live quotes     from the fallback tencent since 09:32, standby: sina",
        "sina quotes     banned, standby, 12 requests, 0 failures: "
          + "hq.sinajs.cn returned HTTP 456, banned (1 attempt since 10:00)",
        "tencent quotes  ok, serving, 3 s behind (limit 15 s), 12 requests, 0 failures",
      ])
    let status = try Sample.members(of: document.json)
    let engine = try #require(status["engine"] as? [String: Any])
    #expect(engine["serving"] as? String == "tencent" && engine["is_on_fallback"] as? Bool == true)
    var back = failedOver
    back.engine?.isOnFallback = false
    #expect(
      StatusDocument(back).text
        .contains("from tencent since 09:32, standby: sina"))
  }

  @Test func `a standby has neither engine nor journal, and both forms say so`() throws {
    let report = DaemonReport(
      at: Sample.now, startedAt: Sample.now, role: .standby(leader: "host-a"))
    let document = StatusDocument(report)
    #expect(
      document.json
        == #"{"version":"\#(BuildVersion.current)","at":"2026-07-06T10:00:00+08:00","#
        + #""started_at":"2026-07-06T10:00:00+08:00","uptime_seconds":0,"role":"standby","#
        + #""leader":"host-a","is_ready":false,"not_ready":["standby behind host-a"],"due":[],"#
        + #""stale_loops":[],"loops":{},"sources":[],"resident_memory_bytes":0}"#)
    #expect(document.text.split(separator: "\n").count == 4)
  }

  @Test func `whatever happened, a daemon has a status`() throws {
    let status = try Sample.status(Sample.full())
    #expect(status["role"] as? String == "leading" && status["term"] as? Int == 4)
    #expect(status["is_ready"] as? Bool == true && status["uptime_seconds"] as? Int == 90)
    #expect((status["sources"] as? [Any])?.count == 6)
  }
}
