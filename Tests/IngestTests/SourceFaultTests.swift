import Commits
import ExchangeSimulator
import Market
import Platform
import Polling
import Store
import TestExchange
import TestSupport
import Testing
import Transport

@testable import Ingest

@Suite struct SourceFaultTests {
  private let ten = Timestamp(day: TradingDay(daysSince1970: 20_640), secondOfDay: 10 * 3_600)

  private func fault(
    _ reason: SourceFault.Reason, host: String? = "hq.sinajs.cn", attempts: Int = 1
  ) -> SourceFault {
    var fault: SourceFault?
    for attempt in 0..<attempts {
      fault.record(reason, host: host, at: ten.adding(seconds: Int64(attempt)))
    }
    return fault ?? SourceFault(reason, host: host, since: ten)
  }

  @Test func `names what failed, the host, how often and since when`() {
    let fault = fault(.transport(.resolve), attempts: 16)
    #expect(fault.sentence(at: ten) == "cannot resolve hq.sinajs.cn (16 attempts since 10:00)")
    #expect(
      fault.advice(at: ten)
        == "cannot resolve hq.sinajs.cn (16 attempts since 10:00): check DNS or the network")
    #expect(fault.code == "resolve")
  }

  @Test func `names the day where it is not today's, and one attempt in the singular`() {
    let fault = fault(.transport(.connect))
    #expect(
      fault.sentence(at: ten.adding(seconds: 86_400))
        == "cannot connect to hq.sinajs.cn (1 attempt since 2026-07-06 10:00)")
  }

  @Test func `names the status of a response that cannot be used`() {
    let fault = fault(.response(status: 456, outcome: "banned"), attempts: 2)
    #expect(
      fault.sentence(at: ten) == "hq.sinajs.cn returned HTTP 456, banned (2 attempts since 10:00)")
    #expect(fault.advice(at: ten) == fault.sentence(at: ten))
  }

  @Test func `a source that never answers is logged and stored with the reason, and no success`()
    async throws
  {
    let lines = LogLines()
    var run = try EngineRun()
    run.lines = lines
    run.start = 10 * 3_600
    run.end = run.start + 60
    run.outages = [0..<86_400]
    let commits = Locked([Commit]())
    let engine = try run.engine(
      MemorySink(inspect: { commit in commits.withLock { $0.append(commit) } }))
    _ = try await engine.run()
    #expect(
      lines.lines.contains {
        $0.contains("state=stalled")
          && $0.contains("no response from exchange.test in time (")
          && $0.contains("attempts since 10:00)")
      }, "\(lines.lines)")
    let report = try #require(await engine.report(on: []).sources.first)
    #expect(report.lastSuccessAt == nil)
    #expect(report.fault?.code == "timeout" && report.fault?.host == "exchange.test")
    #expect((report.fault?.attempts ?? 0) > 16)
    let stored = commits.withLock { $0 }
    let row = try #require(stored.last?.reference.health.last)
    #expect(row.lastSuccessAt == nil)
    #expect(row.detail.hasPrefix("no response from exchange.test in time ("))
    let health = stored.flatMap(\.reference.health)
    let times = stored.map(\.knownAt) + health.map { $0.updatedAt ?? $0.since }
    #expect(times.allSatisfy { $0 >= run.moment(run.start) })
  }

  @Test func `the reason is gone once the source is well`() async throws {
    var run = try EngineRun()
    run.outages = [(run.start + 60)..<(run.start + 120)]
    let commits = Locked([SourceHealthRow]())
    let engine = try run.engine(
      MemorySink(inspect: { commit in commits.withLock { $0 += commit.reference.health } }))
    _ = try await engine.run()
    let report = try #require(await engine.report(on: []).sources.first)
    #expect(report.fault == nil && report.lastSuccessAt != nil)
    let details = commits.withLock { $0.map(\.detail) }
    #expect(details.contains { $0.hasPrefix("no response from exchange.test in time (") })
    #expect(details.last == "ok")
  }
}
