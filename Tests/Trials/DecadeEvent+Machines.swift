import Ingest
import Market

/// The daemon's machine, its clock, and what it is given.
extension DecadeEvent {
  static let machines = [
    DecadeEvent(
      number: 38, dates: (0..<40).map { TradingDay.of(2019, 6, 10).advanced(by: $0).description },
      world: "the machine is off for 40 days", how: "as below", isMachineOff: true,
      needsTrading: false),
    DecadeEvent(
      number: 38, dates: ["2019-07-22"], world: "… and comes back",
      how: "of the last 30 days each has a gap by name, none a candle; the calendar goes on",
      prepare: { $0.watchClosely() },
      check: { facts in
        let year = facts.day.civil.year
        let span = "trading_day between '\(year)-06-10' and '\(year)-07-19'"
        let candles = try facts.count("select count(*) from candle where \(span) and source = 1")
        let named = try facts.count("select count(distinct trading_day) from gap where \(span)")
        let balanced = try facts.count("select count(*) from day_audit where \(span) and balanced")
        return expect(candles + balanced == 0, "\(candles) candles, \(balanced) certificates")
          + expect(named > 15, "\(named) days have a gap")
          + (try firstMinute(facts))
      }),
    clock("2022-09-08", at: 10 * 3600, by: 3_600),
    clock("2023-09-08", at: 13 * 3600 + 1200, by: -3_600),
    DecadeEvent(
      number: 39, dates: ["2016-02-29", "2020-02-28", "2024-02-29"], world: "29 February",
      how: "a day as others", prepare: { $0.watchClosely() }, check: firstMinute),
    lists("2023-05-08", .half, "lists have half of the market for a week"),
    lists("2024-05-13", .none, "lists are empty for a week"),
  ]

  private static func clock(_ date: String, at second: Int, by seconds: Int64) -> DecadeEvent {
    DecadeEvent(
      number: 39, dates: [date], world: "the machine's clock is set by \(seconds) s",
      how: "the steady clock counts until the sources' dates agree", isShort: seconds > 0,
      prepare: { plan in
        plan.watchClosely()
        plan.restartAt = nil
        let at = Timestamp(day: plan.day, secondOfDay: second)
        plan.jumps = [WallClockJump(at: at, seconds: seconds)]
      }, check: isUndisturbed)
  }

  private static func lists(
    _ date: String, _ listed: DecadePlan.Listed, _ world: String
  ) -> DecadeEvent {
    let first = TradingDay(date) ?? .of(2023, 1, 1)
    return DecadeEvent(
      number: 39, dates: (0..<8).map { first.advanced(by: $0).description }, world: world,
      how: "an implausible list changes nothing",
      prepare: { plan in
        plan.listed = listed
        plan.end = 17 * 3600
      },
      check: { facts in
        let gone = try facts.count(
          "select count(*) from instrument where delisted_at is not null "
            + "and delisted_at >= '\(facts.day.advanced(by: -8))'")
        return expect(gone == 0, "\(gone) instruments were delisted")
      })
  }
}
