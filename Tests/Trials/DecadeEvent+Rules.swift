import Market

/// Rules, units and lines that change, and sources that end.
extension DecadeEvent {
  static let rules = [
    DecadeEvent(
      number: 26, dates: ["2020-08-21", "2020-08-24"], world: "ChiNext moves by 20 percent",
      how: "bands are dated", isShort: true,
      check: { facts in
        let isWider = facts.day >= .of(2020, 8, 24)
        return try band("sz300277", isWider ? 20 : 10, facts) + band("sh600000", 10, facts)
      }),
    DecadeEvent(
      number: 26, dates: ["2026-07-03", "2026-07-06"], world: "ST moves by 10 percent",
      how: "as above",
      prepare: { plan in plan.change("sz000004") { $0.name = "*ST D04" } },
      check: { try band("sz000004", $0.day >= .of(2026, 7, 6) ? 10 : 5, $0) }),
    DecadeEvent(
      number: 26, dates: ["2026-07-20"], world: "… and a name without it", how: "as above",
      prepare: { plan in plan.change("sz000004") { $0.name = "D000004" } },
      check: { try band("sz000004", 10, $0) }),
    DecadeEvent(
      number: 27, dates: ["2019-01-08"],
      world: "the exchange trades until 16:00, and nobody entered that",
      how: "noticed within the day",
      prepare: { plan in
        plan.watchClosely()
        plan.mayMiss = true
        plan.hasClose = false
        plan.spans = [34_200..<41_400, 46_800..<57_600]
      },
      check: { facts in
        let later = try facts.count(
          "select count(*) from candle where trading_day = '\(facts.day)' and timeframe = 1 "
            + "and opened_at >= '\(facts.day) 15:00+08' and source = 1")
        let warned = try facts.count(
          "select count(*) from rejected where trading_day = '\(facts.day)' "
            + "and detail like 'kept: volume grew %'")
        return expect(later > 0 || warned > 0, "trades behind 15:00 were not noticed")
      }),
    hundredfold("2026-03-04", from: 10 * 3600 + 1800, "in mid-day"),
    hundredfold("2026-03-05", from: 0, "from the first row"),
    DecadeEvent(
      number: 30, dates: ["2023-09-04"], world: "a line of Sina's has a field more",
      how: "what is behind the known fields is not read", isShort: true,
      prepare: { $0.hasExtraField = true },
      check: { facts in
        let days = try facts.count(
          "select count(*) from day_audit where trading_day = '\(facts.day)' and balanced")
        return expect(days > 8, "\(days) certificates")
      }),
    DecadeEvent(
      number: 31, dates: (1...10).map { "2021-06-\($0 < 10 ? "0" : "")\($0)" },
      world: "Sina does not answer for days", how: "Tencent is booked, and the log says so",
      prepare: { plan in
        plan.watchClosely()
        plan.mayMiss = true
        plan.silent = [.live: 0..<86_400]
      },
      check: { facts in
        let minutes = try facts.count(
          "select count(*) from candle where trading_day = '\(facts.day)' and timeframe = 1 "
            + "and volume > 0")
        let served = facts.minutes.values.reduce(0) { $0 + $1.count }
        return expect(minutes > served * 9 / 10, "\(minutes) minutes of \(served)")
          + expect(!facts.lines.isEmpty, "the log says nothing")
      }),
  ]

  private static func hundredfold(
    _ date: String, from second: Int, _ when: String
  ) -> DecadeEvent {
    DecadeEvent(
      number: 29, dates: [date],
      world: "Tencent's volumes are a hundred times too large \(when), and Sina is away till 11:00",
      how: "turnover over volume is no price of the day: held, nothing is scaled",
      isShort: second == 0,
      prepare: { plan in
        plan.watchClosely()
        plan.mayMiss = true
        plan.silent = [.live: 9 * 3600 + 1200..<11 * 3600]
        plan.hundredfoldFrom = second
      },
      check: { facts in
        let rows = try facts.rows(
          "select i.symbol, a.exchange_volume::bigint from day_audit a join instrument i "
            + "on i.id = a.instrument_id where trading_day = '\(facts.day)' and i.source = 1")
        let wrong = rows.filter { row in
          guard let symbol = row[0].flatMap({ Symbol($0) }), symbol != DecadeMarket.index,
            let minutes = facts.minutes[symbol], !minutes.isEmpty
          else { return false }
          return row[1] != "\(minutes.values.reduce(0) { $0 + $1.shares })"
        }
        return expect(wrong.isEmpty, "totals of \(wrong.count) instruments: \(wrong.prefix(2))")
      })
  }
}
