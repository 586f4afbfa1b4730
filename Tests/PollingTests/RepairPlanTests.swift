import Market
import Polling
import TestSupport
import Testing

@Suite struct RepairPlanTests {
  private let today = TradingDay(daysSince1970: 20_640)  // 2026-07-06, a Monday
  private var now: Timestamp { Timestamp(day: today, secondOfDay: 15 * 3600 + 2400) }

  private func symbol(_ number: Int) throws -> Symbol {
    try #require(Symbol("sh\(600_000 + number)"))
  }

  @Test func `an instrument is asked once, for the earliest of its days and its greatest want`()
    throws
  {
    let symbol = try symbol(1)
    let orders = RepairPlan().orders(
      [
        RepairCandidate(symbol: symbol, day: today, want: .flagged),
        RepairCandidate(symbol: symbol, day: today.advanced(by: -4), want: .confirmation),
        RepairCandidate(symbol: symbol, day: today.advanced(by: -3), want: .gap),
      ], at: now)
    #expect(orders.map(\.firstDay) == [today.advanced(by: -4)])
    #expect(orders.map(\.want) == [.gap])
  }

  @Test func `the neediest come first and the budget ends the night`() throws {
    let seed = UInt64.random(in: .min ... .max)
    var random = SplitMix(seed: seed)
    let candidates = try (0..<200).map { number in
      RepairCandidate(
        symbol: try symbol(number), day: today,
        want: RepairCandidate.Want.allCases.randomElement(using: &random) ?? .gap)
    }
    var plan = RepairPlan()
    plan.requestsPerNight = 120
    let orders = plan.orders(candidates.shuffled(using: &random), at: now)
    #expect(orders.count == 120, "seed \(seed)")
    #expect(zip(orders, orders.dropFirst()).allSatisfy { $0.want >= $1.want }, "seed \(seed)")
    let left = candidates.filter { candidate in
      !orders.contains { $0.symbol == candidate.symbol }
    }
    let least = try #require(orders.last?.want)
    #expect(left.allSatisfy { $0.want <= least }, "seed \(seed)")
  }

  @Test func `what was sought in vain rests until the second occasion`() throws {
    let hole = RepairCandidate(
      symbol: try symbol(1), day: today, want: .gap, lastCheckedAt: now)
    let plan = RepairPlan()
    #expect(plan.orders([hole], at: now.adding(seconds: 43_199)).isEmpty)
    #expect(plan.nextCheck([hole], at: now) == now.adding(seconds: 43_200))
    #expect(plan.orders([hole], at: now.adding(seconds: 43_200)).count == 1)
    #expect(plan.nextCheck([hole], at: now.adding(seconds: 43_200)) == nil)
  }

  @Test func `a night without a budget asks for nothing`() throws {
    var plan = RepairPlan()
    plan.requestsPerNight = 0
    let hole = RepairCandidate(symbol: try symbol(1), day: today, want: .gap)
    #expect(plan.orders([hole], at: now).isEmpty)
  }

  @Test func `minutes reach back eight trading days, over weekends and holidays`() throws {
    let calendar = TradingCalendar.shanghai
    let first = RepairPlan().firstDay(on: today) { calendar.isTradingDay($0) }
    #expect(first.description == "2026-06-25")
    let sunday = RepairPlan().firstDay(on: today.advanced(by: -1)) { calendar.isTradingDay($0) }
    #expect(sunday.description == "2026-06-24")
  }
}
