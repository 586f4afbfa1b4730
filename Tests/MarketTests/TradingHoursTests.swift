import Testing

@testable import Market

@Suite struct TradingHoursTests {
  private func madeUp(_ sessions: [(Int, Int)], zone: MarketZone = .utc) -> TradingHours? {
    TradingHours(
      MarketDefinition(
        code: 90, name: "made_up", zone: zone, currency: "USD",
        sessions: sessions.map { SessionHours(opens: $0.0, closes: $0.1) },
        tradingDays: .everyDay))
  }

  @Test func `the mainland has two sessions, auctions and a fixed-price session`() throws {
    let hours = TradingHours.mainlandChina
    #expect(hours.clock == .mainlandChina)
    #expect(hours.minutesPerDay == Session.minutesPerDay)
    #expect(hours.silentMinutes == 237..<239)
    #expect(hours.afterHours?.opens == Session.afterHoursOpen)
    #expect(hours.dayEnds == 15 * 3600 + 36 * 60)
    #expect((0..<240).filter(hours.endsSession) == [119, 239])
    #expect(hours.lastSecond == 86_399 && !hours.isUnbroken)
  }

  @Test func `a market that never closes has 1440 minutes, the last one through midnight`() throws {
    let hours = try #require(madeUp([(0, 86_400)]))
    #expect(hours.minutesPerDay == 1440 && hours.isUnbroken)
    let minutes = [0, 1, 60, 61, 43_200, 86_340, 86_341, 86_399, 86_400].map(hours.minute)
    #expect(minutes == [0, 0, 0, 1, 719, 1438, 1439, 1439, 1439])
    #expect(hours.closing(ofMinute: 1439) == 86_400)
    #expect(hours.tradingSeconds(before: 86_400) == 86_400)
    #expect(!(0..<1440).contains(where: hours.endsSession))
    #expect(hours.afterHours == nil && hours.silentMinutes.isEmpty)
    let day = TradingDay(daysSince1970: 20_644)
    let midnight = hours.moment(on: day, secondOfDay: 86_400)
    #expect(hours.clock.day(at: midnight) == day.advanced(by: 1))
    #expect(hours.clock.second(of: midnight, on: day) == 86_400)
  }

  @Test func `one session of six and a half hours`() throws {
    let hours = try #require(madeUp([(34_200, 57_600)]))
    #expect(hours.minutesPerDay == 390)
    let minutes = [0, 34_200, 34_260, 34_261, 57_600, 60_000].map(hours.minute)
    #expect(minutes == [0, 0, 0, 1, 389, 389])
    #expect((0..<390).filter(hours.endsSession) == [389])
  }

  @Test func `a clock with summer time, three sessions or half a minute are refused`() {
    #expect(TradingHours(.unitedStates) == nil)
    #expect(madeUp([(0, 60), (120, 180), (240, 300)]) == nil)
    #expect(madeUp([]) == nil)
    #expect(madeUp([(0, 90)]) == nil)
  }

  @Test func `every day is a trading day where a market never closes`() throws {
    let friday = TradingDay(daysSince1970: 20_644)
    #expect(TradingCalendar.everyDay.isTradingDay(friday.advanced(by: 1)) == true)
    #expect(TradingCalendar.everyDay.next(after: friday) == friday.advanced(by: 1))
    #expect(TradingCalendar.everyDay.previous(before: friday) == friday.advanced(by: -1))
    #expect(TradingCalendar.everyDay.freshness(on: friday) == .fresh)
  }
}
