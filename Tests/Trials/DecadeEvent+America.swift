import Market

/// New York's days.
extension DecadeEvent {
  static let americas = [
    DecadeEvent(
      number: 9, dates: ["2018-11-28", "2018-12-05", "2024-12-27", "2025-01-09"],
      world: "New York withdraws a session 4 and 10 days ahead",
      how: "the next calendar lacks it: both readings are kept, and no bar is waited for",
      prepare: night,
      check: { facts in
        guard DecadeAmerica.withdrawn[facts.day] != nil else { return [] }
        let readings = try facts.rows(
          "select opens < closes, known_to is null from market_session where exchange = "
            + "\(Exchange.unitedStates.rawValue) and day = '\(facts.day)' order by known_from")
        return expect(readings == [["t", "f"], ["f", "t"]], "readings \(readings)")
      }),
    DecadeEvent(
      number: 10,
      dates: [
        "2020-03-09", "2020-03-12", "2020-03-16", "2020-03-18", "2021-11-26", "2024-07-03",
      ],
      world: "New York closes at 13:00, or halts for 15 minutes", how: "bars are what there is",
      prepare: night, check: bars),
    DecadeEvent(
      number: 11,
      dates: (2016...2026).flatMap { ["\($0)-03-14", "\($0)-11-07"] },
      world: "New York's clock changes, twice a year",
      how: "the zone is built in; where the system has another rule a start says so", isShort: true,
      prepare: night, check: bars),
    DecadeEvent(
      number: 12, dates: ["2020-01-02", "2020-01-08"],
      world: "Alpaca's calendar ends with 2029 and is longer three days later",
      how: "bars of the week before are requested once it is", prepare: night,
      check: { facts in
        guard facts.day.civil.day > 6 else { return [] }
        let first = TradingDay.of(facts.day.civil.year, 1, 2)
        return try (0...4).map { first.advanced(by: $0) }.flatMap { try bars(of: $0, facts) }
      }),
    DecadeEvent(
      number: 28, dates: ["2025-11-03"],
      world: "New York has prices of half a penny", how: "prices are exact decimals",
      prepare: night,
      check: { facts in
        let halves = try facts.count(
          "select count(*) from candle where trading_day = '\(facts.day)' and source <> 1 "
            + "and (close * 1000)::bigint % 10 = 5")
        return expect(halves > 0, "no price of half a penny")
      }),
  ]

  private static let night: @Sendable (inout DecadePlan) -> Void = { plan in
    plan.hasNight = true
    // To the next morning of Shanghai.
    plan.end = 86_400 + 8 * 3600
  }

  private static let bars: Check = { facts in try bars(of: facts.day, facts) }

  private static func bars(of day: TradingDay, _ facts: DecadeFacts) throws -> [String] {
    let expected = DecadeAmerica().starts(on: day).map {
      Timestamp(day: day, newYorkSecondOfDay: $0).seconds
    }
    let found = try facts.rows(
      "select extract(epoch from c.opened_at)::bigint from candle c where timeframe = 1 "
        + "and source <> 1 and trading_day = '\(day)' order by 1"
    ).compactMap { $0[0].flatMap(Int64.init) }
    return expect(found == expected, "\(day): \(found.count) bars of \(expected.count)")
  }
}
