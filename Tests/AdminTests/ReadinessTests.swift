import Admin
import Commits
import Journal
import Market
import Polling
import Postgres
import Store
import TestSupport
import Testing
import Transport

@testable import Ingest

@Suite struct ReadinessTests {
  private func readiness(_ change: (inout EngineReport) -> Void) -> Readiness {
    var engine = Sample.engine()
    change(&engine)
    return Readiness(Sample.leading(engine))
  }

  @Test func `a leader with a fresh source and a willing store is ready`() {
    let readiness = Readiness(Sample.leading())
    #expect(readiness.isReady && readiness.headline == "ready" && readiness.reasons.isEmpty)
    #expect(readiness.lines.contains("sina quotes ok, 3 s behind, limit 15 s"))
    #expect(readiness.lines.contains("role leading, term 4"))
  }

  @Test func `a source that is late in its session is reported with its staleness`() {
    let readiness = readiness { $0.sources = [Sample.quotes(.stalled, staleness: 16)] }
    #expect(!readiness.isReady)
    #expect(readiness.headline == "sina quotes stalled, 16 s behind, limit 15 s")
  }

  @Test func `a source that cannot be reached is reported with the reason`() throws {
    let fault = SourceFault(.transport(.resolve), host: "hq.sinajs.cn", since: Sample.now)
    let change = { (engine: inout EngineReport) in
      engine.sources = [Sample.quotes(.stalled, staleness: nil)]
      engine.sources[0].fault = fault
    }
    #expect(
      readiness(change).headline
        == "sina quotes stalled, no data yet, limit 15 s: "
        + "cannot resolve hq.sinajs.cn (1 attempt since 10:00): check DNS or the network")
    var engine = Sample.engine()
    change(&engine)
    let sources = try Sample.status(Sample.leading(engine))["sources"] as? [[String: Any]]
    let reported = try #require(sources?.first?["fault"] as? [String: Any])
    #expect(reported["code"] as? String == "resolve" && reported["attempts"] as? Int == 1)
    #expect(reported["host"] as? String == "hq.sinajs.cn")
    #expect(reported["since"] as? String == "2026-07-06T10:00:00+08:00")
    #expect(reported["sentence"] as? String == fault.advice(at: Sample.now))
  }

  @Test func `out of session the next one is named`() throws {
    let saturday = Timestamp(day: try #require(TradingDay("2026-07-04")), secondOfDay: 36_000)
    var engine = Sample.engine()
    engine.now = saturday
    engine.symbols = 1
    engine.calendar.nextSession = TradingCalendar.shanghai.nextSession(after: saturday)
    engine.sources = [Sample.quotes(isInSession: false, staleness: 90_000)]
    let words = "market closed, next session Mon 09:15 Shanghai"
    #expect(Readiness(Sample.leading(engine)).lines.contains(words))
    let shown = try Sample.status(Sample.leading(engine))["engine"] as? [String: Any]
    #expect(shown?["market"] as? String == words)
    #expect(shown?["next_session_at"] as? String == "2026-07-06T09:15:00+08:00")
  }

  @Test func `a source nothing was seen of is not fresh in its session`() {
    #expect(!readiness { $0.sources = [Sample.quotes(staleness: nil)] }.isReady)
  }

  @Test func `out of session a source is not late`() {
    let readiness = readiness {
      $0.sources = [Sample.quotes(.stalled, isInSession: false, staleness: 900)]
    }
    #expect(readiness.isReady && readiness.lines.contains { $0.contains("out of session") })
  }

  @Test func `a day that is closed against its calendar is ready, with the reason`() {
    let readiness = readiness {
      ($0.symbols, $0.calendar.dateKept) = (1, TradingDay("2026-07-03"))
      $0.sources = [Sample.quotes(isInSession: false, staleness: 0)]
    }
    let reason = "closed, which no calendar said: every source keeps rows of 2026-07-03, market"
    #expect(readiness.isReady && readiness.lines.contains { $0.hasPrefix(reason) })
  }

  @Test func `a weekday that no calendar knows is served like a trading day, which is reported`()
    throws
  {
    let notice = "waiting for the trading calendar, which ended on 2026-07-05: today is recorded "
    let change = { (engine: inout EngineReport) in
      engine.sources = [Sample.quotes(staleness: 3)]
      (engine.calendar.daysLeft, engine.symbols) = (-1, 1)
      engine.calendar.isTodaySupposed = true
    }
    let served = readiness(change)
    #expect(served.isReady && served.lines.contains { $0.hasPrefix(notice) }, "\(served.lines)")
    let late = readiness {
      change(&$0)
      $0.sources = [Sample.quotes(.stalled, staleness: 900)]
    }
    #expect(!late.isReady)
    // Answers come, and none has a row of today.
    let closed = readiness {
      change(&$0)
      $0.sources = [Sample.quotes(staleness: 900)]
      $0.sources[0].freshness?.mayBeClosed = true
    }
    #expect(closed.isReady)
    #expect(closed.lines.contains { $0.hasSuffix("no row of today: the market may be closed") })
    let idle = readiness {
      change(&$0)
      $0.symbols = 0
    }
    #expect(!idle.lines.contains { $0.contains("waiting for") })
  }

  @Test func `a store that refuses, hangs or is behind is not ready`() {
    let refuses = readiness {
      $0.status.store.fault = .init(code: .connectionLost, since: Sample.now)
    }
    #expect(refuses.reasons == ["store commits fail: connection_lost"])
    let hangs = readiness { $0.backlog.commitWaitMicroseconds = 12_000_000 }
    #expect(hangs.reasons == ["store has not responded for 12 s"])
    #expect(readiness { $0.backlog.commitWaitMicroseconds = 9_000_000 }.isReady)
    let behind = readiness {
      $0.backlog.isCatchingUp = true
      $0.backlog.entries = 7
    }
    #expect(behind.reasons == ["store behind the journal by 7 entries"])
  }

  @Test func `a private server whose programs are gone is reported with the command`() throws {
    var report = Sample.leading()
    report.privateServer = PrivateServer()
    report.privateServer?.major = 15
    report.privateServer?.maintainedUntil = TradingDay("2026-07-07")
    var page = try PrometheusPage(Sample.page(report))
    #expect(Readiness(report).isReady && page["candled_postgres_missing"] == nil)
    // 10:00 in Shanghai: 14 hours are left of today, and all of its last day.
    #expect(page["candled_due_seconds", ["kind": "postgres"]] == 136_800.0)
    let install = "apt-get install postgresql-15"
    report.privateServer?.install = install
    page = try PrometheusPage(Sample.page(report))
    #expect(Readiness(report).isReady)
    #expect(page["candled_postgres_missing", ["install": install]] == 1)
    #expect(StatusDocument(report).text.contains("its programs are missing: \(install)"))
    report.role = .starting
    report.privateServer?.fault = "no programs: `\(install)`"
    #expect(Readiness(report).reasons == ["starting", "store no programs: `\(install)`"])
    #expect(report.statusLine.hasSuffix(" · no programs: `\(install)`"))
    let server = try Sample.status(report)["private_server"] as? [String: Any]
    #expect(server?["install"] as? String == install)
    #expect(try PrometheusPage(Sample.page(report))["candled_store_up"] == 0)
  }

  @Test func `a store that nobody writes to by night is missed when it is away`() throws {
    var report = Sample.leading()
    report.storeAwaySince = report.at.adding(seconds: -10)
    #expect(Readiness(report).isReady)
    report.storeAwaySince = report.at.adding(seconds: -11)
    #expect(Readiness(report).reasons == ["store cannot renew the lease for 11 s"])
    #expect(try Sample.status(report)["store_trouble"] != nil)
    #expect(try PrometheusPage(Sample.page(report))["candled_store_up"] == 0)
    // Nor has it an engine when it stands by.
    (report.role, report.engine) = (.standby(leader: "host-a"), nil)
    #expect(try PrometheusPage(Sample.page(report))["candled_store_up"] == 0)
    report.storeAwaySince = nil
    #expect(try PrometheusPage(Sample.page(report))["candled_store_up"] == 1)
  }

  @Test func `a journal that refuses entries is not ready`() {
    #expect(!readiness { $0.status.journal.fault = .full }.isReady)
  }

  @Test func `only a leader is ready`() {
    for (role, words) in [
      (DaemonRole.standby(leader: "host-a"), "standby behind host-a"), (.starting, "starting"),
      (.draining, "draining"),
    ] {
      let report = DaemonReport(at: Sample.now, startedAt: Sample.now, role: role)
      #expect(Readiness(report).headline == words && !Readiness(report).isReady)
    }
  }

  @Test func `a daemon that waits for its database at the start reports it`() {
    var report = DaemonReport(at: Sample.now, startedAt: Sample.now, role: .starting)
    report.storeAwaySince = Sample.now
    #expect(Readiness(report).reasons == ["starting", "no connection to the database yet"])
  }
}
