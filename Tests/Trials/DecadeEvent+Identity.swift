import Market

/// Codes that change, merge, end and come back.
extension DecadeEvent {
  static let identities = [
    rename(18, ["2018-12-26"], [("sz000022", "sz001872")], "a port company gets another code"),
    rename(18, ["2019-12-16"], [("sz000043", "sz001914")], "another code after a restructuring"),
    rename(
      18, ["2025-05-06"], [("bj833819", "bj920819")], "the first codes of Beijing become 920…"),
    rename(
      19, ["2025-10-09"], [("bj830799", "bj920799")], "all other codes of Beijing, in a night"),
    DecadeEvent(
      number: 20, dates: ["2016-06-01", "2016-06-20", "2016-07-11", "2016-08-01"],
      world: "600018 of one company ends, and three lists lack it", how: "as below",
      prepare: { plan in
        plan.end = 17 * 3600
        plan.changes.append { $0.remove("sh600018") }
      }),
    DecadeEvent(
      number: 20, dates: ["2016-10-26", "2016-11-30"],
      world: "a code is another company's, months after the first one ended",
      how: "two instruments, whose days are not mixed",
      prepare: { plan in
        plan.end = 17 * 3600
        guard plan.day.civil.month == 10 else { return }
        plan.changes.append {
          $0.add(DecadeMarket.symbol("sh600018"), named: "PORT", close: 4_310)
        }
      },
      check: { facts in
        guard facts.day.civil.month == 11 else { return [] }
        let days = try facts.count(
          "select count(*) from candles('sh600018', '1d') "
            + "where opened_at < '\(facts.day.civil.year)-10-01'")
        return expect(days == 0, "\(days) days of another company under the code")
      }),
    merger("2025-02-06", "2025-03-04", "sh600837", into: "sh601211", "0.62"),
    merger("2025-08-13", "2025-09-05", "sh601989", into: "sh600150", "0.1339"),
    DecadeEvent(
      number: 22, dates: ["2026-02-10"],
      world: "a B share becomes an A share, in another currency",
      how: "a conversion links two series, each in its currency",
      prepare: { $0.declare("sz200771", "sz300277", .conversion) },
      check: { try linked("sz200771", "sz300277", "conversion", $0) }),
    DecadeEvent(
      number: 23, dates: ["2021-04-20", "2021-04-21", "2022-06-21"],
      world: "*ST in a name, and no more", how: "the band and the name of the day",
      prepare: { plan in
        let isMarked = plan.day.civil.year % 10 == 1
        plan.change("sz000004") { $0.name = isMarked ? "*ST D04" : "D000004" }
      },
      check: { facts in
        let percent: Int64 = facts.day.civil.year % 10 == 2 ? 10 : facts.isEqual ? 10 : 5
        return try band("sz000004", percent, facts)
          + (facts.day.civil.day == 20 ? [] : try named("sz000004", facts))
      }),
    DecadeEvent(
      number: 24, dates: ["2018-06-01"], world: "600087 leaves the exchange", how: "as below",
      prepare: { plan in plan.changes.append { $0.remove("sh600087") } }),
    DecadeEvent(
      number: 24, dates: ["2019-01-08", "2019-01-09"],
      world: "and comes back as 601975, with a price of another market",
      how: "two series with a link; a relisting has no band on its first day",
      prepare: { plan in
        plan.end = 17 * 3600
        guard plan.day.civil.day == 8 else { return }
        plan.declare("sh600087", "sh601975", .relisting)
        plan.changes.append {
          $0.add(DecadeMarket.symbol("sh601975"), named: "N D975", close: 4_310)
        }
      },
      check: { facts in
        guard facts.day.civil.day > 8 else { return [] }
        let days = try facts.rows(
          "select (select count(*) from candles('sh600087', '1d')), "
            + "(select count(*) from candles('sh601975', '1d') "
            + "where opened_at < '\(facts.day.civil.year)-01-01')")
        return try linked("sh600087", "sh601975", "relisting", facts)
          + expect(days[0][0] != "0", "its earlier days are gone")
          + expect(days[0][1] == "0", "the new code has days of the old one")
      }),
    rename(25, ["2025-02-17"], [("sz300114", "sz302132")], "the prefix 302 on its first day"),
    DecadeEvent(
      number: 25, dates: ["2021-09-01", "2021-09-16"],
      world: "the prefix 188 on its first days", how: "recorded, its board unknown",
      prepare: { plan in
        guard plan.day.civil.day == 1 else { return }
        plan.changes.append { $0.add(DecadeMarket.symbol("sh188001"), close: 10_000) }
      },
      check: { facts in
        guard facts.day.civil.day > 1 else { return [] }
        let minutes = try facts.count(
          "select count(*) from candle c join instrument i on i.id = c.instrument_id "
            + "where symbol = 'sh188001' and trading_day = '\(facts.day)' and volume > 0")
        return expect(minutes > 0, "not one minute a fortnight later")
      }),
  ]

  /// The first day of the new code is recorded, and history goes on through it.
  private static func rename(
    _ number: Int, _ dates: [String], _ codes: [(old: String, new: String)], _ world: String
  ) -> DecadeEvent {
    DecadeEvent(
      number: number, dates: dates, world: world,
      how: "proven by the previous close, or declared by a file: one series through the day",
      prepare: { plan in
        plan.watchClosely()
        plan.mayMiss = true
        plan.end = 17 * 3600
        plan.changes.append { market in
          for (old, new) in codes { market.rename(old, to: new) }
        }
      },
      check: { facts in
        try codes.flatMap { _, new in
          let rows = try facts.rows(
            "select count(*) filter (where opened_at >= '\(facts.day) 00:00+08'), "
              + "count(*) filter (where opened_at < '\(facts.day) 00:00+08') "
              + "from candles('\(new)', '1m', '\(facts.day.advanced(by: -12)) 00:00+08')")
          return expect(rows[0][0] != "0", "\(new): its first day was not recorded")
            + expect(rows[0][1] != "0", "\(new): no history from before")
        }
      })
  }

  private static func merger(
    _ suspended: String, _ ended: String, _ old: String, into new: String, _ ratio: String
  ) -> DecadeEvent {
    DecadeEvent(
      number: 21, dates: [suspended, ended], world: "\(old) merges into \(new), 1 to \(ratio)",
      how: "a link with its ratio; two series",
      prepare: { plan in
        // A fund has a price, and so has what is suspended: the last one.
        let isOver = plan.day.civil.month % 2 == 1
        if isOver { plan.declare(old, new, .merger, ratio: ratio) }
        plan.changes.append { market in
          if isOver { market.remove(old) } else { market.change(old) { $0.isSuspended = true } }
        }
      },
      check: { facts in
        guard facts.day.civil.month % 2 == 1 else { return [] }
        return try linked(old, new, "merger", facts)
      })
  }

  private static func linked(
    _ old: String, _ new: String, _ kind: String, _ facts: DecadeFacts
  ) throws -> [String] {
    guard try facts.count("select count(*) from pg_class where relname = 'links'") > 0 else {
      return ["there are no links between instruments"]
    }
    let found = try facts.count(
      "select count(*) from links where from_symbol = '\(old)' and to_symbol = '\(new)' "
        + "and kind = '\(kind)' and known_to is null")
    return expect(found > 0, "\(old) and \(new) are not linked")
  }

  /// The rule of a day, and the name that it goes by.
  static func band(_ text: String, _ percent: Int64, _ facts: DecadeFacts) throws -> [String] {
    let symbol = DecadeMarket.symbol(text)
    guard let known = facts.instruments[symbol], let instrument = Instrument.classify(symbol),
      let name = try facts.rows("select name from instrument where symbol = '\(text)'").first?[0],
      let found = PriceLimit.band(
        for: instrument, previousClose: ExactDecimal(units: known.reference, scale: 3),
        on: facts.day, specialTreatment: name.contains("ST"), tradingDaysSinceListing: nil)
    else { return ["\(text): no band"] }
    // Half a cent is rounded up.
    let cents = (known.reference * (100 + percent) + 500) / 1_000
    return expect(
      found.upper == ExactDecimal(units: cents, scale: 2),
      "\(text), \(name): the band of \(known.reference) ends at \(found.upper)")
  }

  private static func named(_ symbol: String, _ facts: DecadeFacts) throws -> [String] {
    guard try facts.count("select count(*) from pg_class where relname = 'instrument_name'") > 0
    else { return ["names have no dates"] }
    let names = try facts.count(
      "select count(distinct n.name) from instrument_name n join instrument i "
        + "on i.id = n.instrument_id where symbol = '\(symbol)'")
    return expect(names > 1, "\(symbol) has \(names) names")
  }
}

extension DecadePlan {
  /// By the operator's file, from this day on.
  fileprivate mutating func declare(
    _ old: String, _ new: String, _ kind: InstrumentLink.Kind, ratio: String? = nil
  ) {
    links.append(
      InstrumentLink(
        from: DecadeMarket.symbol(old), to: DecadeMarket.symbol(new), day: day, kind: kind,
        verdict: .declared, ratio: ratio.flatMap { try? ExactDecimal($0) }, source: "the operator"))
  }
}

extension DecadeMarket {
  mutating func remove(_ text: String) { instruments[Self.symbol(text)] = nil }
}

extension DecadeFacts {
  /// Whether ST shares move as far as others.
  fileprivate var isEqual: Bool { day >= .of(2026, 7, 6) }
}
