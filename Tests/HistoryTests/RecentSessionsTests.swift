import History
import Market
import TestSupport
import Testing

/// What the tests of `candled backfill` ask for, on any day the machine's clock may show.
@Suite struct RecentSessionsTests {
  private static let days: [String] = [
    "2026-11-21", "2026-11-22", "2026-11-23", "2026-11-24", "2026-11-27",  // Saturday to Friday
    "2026-02-23", "2026-02-24", "2026-10-08",  // around the long holidays
    "2026-12-30", "2026-12-31", "2027-01-01", "2027-01-02", "2027-01-04", "2027-01-14",
    "2027-07-01", "2028-02-29",
  ]

  private func plan(
    _ sessions: RecentSessions, on day: TradingDay, _ symbol: Symbol
  ) throws -> BackfillPlan {
    let order = BackfillOrder(
      source: .sina, name: "sina", form: .newest(barsMax: 1_970), symbols: [symbol],
      timeframe: .minute1,
      from: try #require(sessions.minuteDays.first), to: day)
    return BackfillPlan(order, today: day, lastOver: day.advanced(by: -1)) {
      sessions.calendar.isTradingDay($0)
    }
  }

  @Test(arguments: days)
  func `every minute can be had, today and just after midnight`(_ text: String) throws {
    let today = try #require(TradingDay(text))
    let symbol = try #require(Symbol("sh600519"))
    let sessions = RecentSessions(before: today, earlierDays: 20)
    for day in [today, today.advanced(by: 1)] {
      let plan = try plan(sessions, on: day, symbol)
      #expect(plan.reachesOnlyTo == nil, "asked on \(day): \(sessions.minuteDays)")
      #expect(plan.chunks.map(\.from) == [sessions.minuteDays.first])
    }
  }

  @Test(arguments: days)
  func `they are the last sessions before today, as many as can be had`(_ text: String) throws {
    let today = try #require(TradingDay(text))
    let sessions = RecentSessions(before: today, earlierDays: 20)
    #expect((6...8).contains(sessions.minuteDays.count))
    let all = sessions.earlierDays + sessions.minuteDays
    let first = try #require(all.first)
    #expect(all == (first..<today).filter { sessions.calendar.isTradingDay($0) == true })
    #expect(sessions.earlierDays.count == 20)
    #expect(sessions.learnt.isEmpty == (today < TradingCalendar.shanghai.lastDay))
  }

  @Test func `a Saturday reaches one session further than a Friday`() throws {
    let counts = try ["2026-11-20", "2026-11-21"].map { text in
      RecentSessions(before: try #require(TradingDay(text)), earlierDays: 0).minuteDays.count
    }
    #expect(counts == [7, 8])
  }
}
