import Commits
import ExchangeSimulator
import Feeds
import Ledgers
import Market
import Polling
import Store
import TestExchange
import TestSupport
import Testing

@testable import Ingest

/// The whole way of a repair: an outage, the gap, the certificate, the K-line, the gap closed.
@Suite struct `A day with an outage` {
  @Test func `is healed after the close, and its account stays exact`() async throws {
    let day = try #require(TradingDay("2026-07-06"))
    let history = SimulatedHistory(seed: 31, instruments: 16, through: day, days: 1)
    let outage = Timestamp(day: day, secondOfDay: 14 * 3_600 + 45 * 60)
    let exchange = MemoryExchange(
      history: history,
      faults: FaultPlan([.silence(from: outage, to: outage.adding(seconds: 240))]))
    var run = try WorkerRun(
      SimulatedWorld(exchange), history.symbols,
      from: Timestamp(day: day, secondOfDay: 14 * 3_600 + 40 * 60),
      to: Timestamp(day: day, secondOfDay: 16 * 3_600))
    run.workers.repairs.requestsPerNight = 100
    let database = try StoreDatabase()
    let writer = StoreWriter(url: database.url)
    try await writer.connect()
    _ = try await writer.load()
    let unsaved = try await run.run(writer)
    #expect(unsaved.isNone)
    // A suspended instrument passed nothing unseen, and has no K-line to say so.
    let outages = "from gap where cause = 2 and volume > 0"
    let all = try database.value("select count(*) \(outages)")
    let closed = try database.value("select count(*) \(outages) and closed_by = 'kline'")
    #expect(all != "0" && closed == all)
    #expect(
      try database.value("select count(*) from day_audit where balanced is not true") == "0")
    await writer.disconnect()
  }
}
