import ExchangeSimulator
import Journal
import Market
import TestExchange
import Testing
import Trials

@testable import Ingest

/// Two days in a row, and days whose beginning or end nobody saw.
@Suite struct DayRolloverTests {
  private static let friday = TradingDay(daysSince1970: 20_637)  // 2026-07-03
  private static let monday = friday.advanced(by: 3)

  private func recording(_ day: TradingDay, from start: Int) -> Recording {
    var plan = Recording.plan(seed: 11)
    plan.day = day
    plan.instruments = 14
    plan.start = start
    return Recording(plan)
  }

  private func run(_ entries: [JournalEntry], restartAt cut: Int? = nil) throws -> Tables {
    var tables = Tables()
    var pipeline = Pipeline()
    for (place, entry) in entries.enumerated() {
      if place == cut { pipeline = try Pipeline(stored: tables.stored) }
      pipeline.process(entry, at: JournalPosition(Int64(place + 1)))
      if let commit = pipeline.takeCommit() { tables.take(commit) }
    }
    return tables
  }

  private func certificates(_ tables: Tables, of day: TradingDay) -> [Tables.CertificateKey:
    DayCertificate]
  {
    tables.certificates.filter { $0.key.day == day }
  }

  private func candles(
    _ tables: Tables, of day: TradingDay
  ) -> [Tables.CandleKey: Candle] {
    tables.candles.filter { $0.value.tradingDay == day }
  }

  @Test func `Friday and Monday are two days, each certified, no candle in the other`() throws {
    let first = recording(Self.friday, from: 9 * 3600 + 60)
    let second = recording(Self.monday, from: 9 * 3600 + 60)
    let entries = first.entries + second.entries
    for cut in [nil, first.entries.count + 1] {
      let tables = try run(entries, restartAt: cut)
      #expect(tables.candlesTwice.isEmpty)
      #expect(candles(tables, of: Self.friday) == first.tables.candles)
      #expect(candles(tables, of: Self.monday) == second.tables.candles)
      #expect(certificates(tables, of: Self.friday) == first.tables.certificates)
      #expect(certificates(tables, of: Self.monday) == second.tables.certificates)
      #expect(tables.certificates.values.allSatisfy { $0.isBalanced } && tables.gaps.isEmpty)
      #expect(tables.events == first.tables.events + second.tables.events)
    }
  }

  @Test func `a daemon stopped over the close certifies nothing it did not see`() throws {
    let first = recording(Self.friday, from: 9 * 3600 + 60)
    let stopped = Array(first.entries.prefix(first.entry(at: 15 * 3600)))
    let second = recording(Self.monday, from: 9 * 3600 + 60)
    let tables = try run(stopped + second.entries, restartAt: stopped.count)
    let unseen = certificates(tables, of: Self.friday).values
    #expect(!unseen.isEmpty && unseen.allSatisfy { $0.exchangeVolume == nil })
    // Monday's row ends Friday, and does not say what its previous close was.
    let references = certificates(tables, of: Self.friday).mapValues(\.reference)
    #expect(references.values.contains { $0?.source == .live })
    #expect(references == first.tables.certificates.mapValues(\.reference))
    #expect(tables.gaps.count == unseen.count)
    #expect(tables.gaps.allSatisfy { $0.cause == .unseenClose && $0.from <= $0.to })
    #expect(certificates(tables, of: Self.monday) == second.tables.certificates)
    #expect(candles(tables, of: Self.monday) == second.tables.candles)
  }

  @Test func `who did not see the close only supposes that a dividend was paid`() throws {
    let first = recording(Self.friday, from: 9 * 3600 + 60)
    // Of another market: no price of Friday's is Monday's previous close.
    var plan = Recording.plan(seed: 12)
    (plan.day, plan.instruments, plan.start) = (Self.monday, 14, 9 * 3600 + 60)
    let monday = Array(Recording(plan).entries.prefix(40))
    func exRights(_ entries: [JournalEntry]) -> ExRights {
      var pipeline = Pipeline()
      var exRights = ExRights()
      for (place, entry) in entries.enumerated() {
        exRights.add(pipeline.process(entry, at: JournalPosition(Int64(place + 1))).found)
      }
      return exRights
    }
    let whole = exRights(first.entries + monday)
    #expect(whole.seen.count > 5)
    // Those without a trade on Friday, or suspended: their rows are of its morning.
    #expect(whole.supposed.map(\.description).sorted() == ["bj920001", "sh600001", "sh600002"])
    let stopped = exRights(first.entries.prefix(first.entry(at: 15 * 3600)) + monday)
    #expect(stopped.supposed.count > 5 && stopped.seen.isEmpty)
    // Nor who saw no price, as of a stock that is suspended.
    let unpriced = exRights(first.entries.prefix(first.entry(at: 9 * 3600 + 600)) + monday)
    #expect(unpriced.supposed.count > 5 && unpriced.seen.isEmpty)
  }

  @Test func `a daemon started on a Saturday certifies Friday and begins Monday whole`() throws {
    var market = SimulatedMarket(seed: 11, day: Self.friday, instruments: 14)
    market.advance(to: Timestamp(day: Self.friday, secondOfDay: 16 * 3600))
    let saturday = Timestamp(day: Self.friday.advanced(by: 1), secondOfDay: 11 * 3600)
    let sweep = JournalEntry.response(
      asking: market.symbols, body: market.body(for: market.symbols), at: saturday)
    var pipeline = Pipeline()
    pipeline.process(sweep, at: JournalPosition(1))
    #expect(pipeline.nextDeadline == nil)
    let second = recording(Self.monday, from: 9 * 3600 + 60)
    let tables = try run([sweep] + second.entries)
    let whole = recording(Self.friday, from: 9 * 3600 + 60)
    let days = tables.candles.filter { $0.key.timeframe == .day1 }
    #expect(
      days.filter { $0.value.tradingDay == Self.friday }
        == whole.tables.candles.filter { $0.key.timeframe == .day1 })
    #expect(certificates(tables, of: Self.friday).values.allSatisfy { $0.isBalanced })
    #expect(candles(tables, of: Self.friday).values.allSatisfy { $0.timeframe != .minute1 })
    #expect(candles(tables, of: Self.monday) == second.tables.candles)
    #expect(certificates(tables, of: Self.monday) == second.tables.certificates)
  }
}
