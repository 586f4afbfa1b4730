import Market

/// Dividends, splits and rights, and files that have them wrong.
extension DecadeEvent {
  static let factors = [
    exDay(
      13, ["2017-07-18"], "sh601009", cash: 260, bonus: 400, "0.26 yuan and 4 shares for 10",
      "the file's step is proven by the previous close", expecting: ["proven"], isShort: true),
    exDay(
      13, ["2020-11-24"], "sh601009", cash: 0, rights: 250, at: 8_370, "rights, 2.5 for 10",
      "as above", expecting: ["proven"]),
    exDay(
      14, ["2023-08-25"], "sz000002", cash: 680, off: 10,
      "the exchange's previous close is a tick off the file's cash",
      "the exchange counts, and the exception is named", expecting: ["within_a_tick"]),
    exDay(
      16, (2016...2025).map { "\($0)-12-02" }, "sh510050", cash: 55,
      "a fund pays out each December", "cash and splits are two series",
      expecting: ["proven", "within_a_tick", "untestable"]),
    exDay(
      16, ["2023-02-16"], "sz159939", cash: 0, bonus: 1_000, "a fund splits 1 to 2", "as above",
      expecting: ["proven", "within_a_tick"]),
    wrongFile(17, "2018-06-13", .tenfold, "a file whose newest factor is ten times too large"),
    wrongFile(17, "2020-06-10", .tenth, "a file whose newest factor is a tenth"),
    wrongFile(17, "2022-06-15", .twoRows, "a file with two rows of a day"),
    DecadeEvent(
      number: 15, dates: ["2019-05-20", "2019-05-22", "2019-05-27"],
      world: "an ex-day while the share is suspended",
      how: "the previous close holds from the ex-day, and the file has the day",
      prepare: { plan in
        let day = plan.day
        plan.end = 17 * 3600
        plan.change("sz000004") { instrument in
          instrument.isSuspended = day.civil.day < 27
          if day.civil.day == 22 { instrument.goEx(on: day, cash: 500) }
        }
      },
      check: { facts in
        guard facts.day.civil.day >= 27 else { return [] }
        return try verdict(
          of: "sz000004", on: .of(facts.day.civil.year, 5, 22), facts,
          ["proven", "within_a_tick", "untestable"])
      }),
    DecadeEvent(
      number: 15, dates: ["2024-06-05"], world: "an ex-day on which the daemon does not run",
      how: "the next day's previous close and the file", isMachineOff: true),
    DecadeEvent(
      number: 15, dates: ["2024-06-06"], world: "… and the day after it", how: "as above",
      prepare: { plan in
        plan.end = 17 * 3600
        let day = plan.day.advanced(by: -1)
        plan.change("sh600150") { $0.goEx(on: day, cash: 400) }
      },
      check: { facts in
        let rows = try facts.rows(
          "select from_day, basis, verdict from factors where symbol = 'sh600150' "
            + "and kind = 'hfq' and known_to is null and from_day > '2000-01-01'")
        return expect(!rows.isEmpty, "no factor is known")
      }),
  ]

  private static func exDay(
    _ number: Int, _ dates: [String], _ symbol: String, cash: Int64, bonus: Int64 = 0,
    rights: Int64 = 0, at price: Int64 = 0, off: Int64 = 0, _ world: String, _ how: String,
    expecting: Set<String>, isShort: Bool = false
  ) -> DecadeEvent {
    DecadeEvent(
      number: number, dates: dates, world: world, how: how, isShort: isShort,
      prepare: { plan in
        let day = plan.day
        plan.end = 17 * 3600
        plan.change(symbol) {
          $0.goEx(on: day, cash: cash, bonus: bonus, rights: rights, at: price, off: off)
        }
      }, check: { try verdict(of: symbol, on: $0.day, $0, expecting) })
  }

  private static func wrongFile(
    _ number: Int, _ date: String, _ fault: DecadePlan.FactorFault, _ world: String
  ) -> DecadeEvent {
    DecadeEvent(
      number: number, dates: [date], world: world, how: "not served; derived from the closes",
      prepare: { plan in
        let day = plan.day
        plan.end = 17 * 3600
        plan.factorFault = (DecadeMarket.symbol("sh600000"), fault)
        plan.change("sh600000") { $0.goEx(on: day, cash: 300) }
      },
      check: { facts in
        // One day's cash moves a factor by less than a tenth.
        let rows = try facts.rows(
          "select f.factor / lag(f.factor) over (order by f.from_day) between 0.9 and 1.1 "
            + "from factors f where symbol = 'sh600000' and kind = 'hfq' and known_to is null "
            + "order by from_day desc limit 1")
        return expect(rows.first == ["t"] || rows.first == [nil], "served: \(rows)")
      })
  }

  private static func verdict(
    of symbol: String, on day: TradingDay, _ facts: DecadeFacts, _ expected: Set<String>
  ) throws -> [String] {
    let rows = try facts.rows(
      "select verdict, basis, exception from factors where symbol = '\(symbol)' and kind = 'hfq' "
        + "and from_day = '\(day)' and known_to is null")
    guard let found = rows.first?.first.flatMap({ $0 }) else {
      return ["\(symbol): no factor of \(day)"]
    }
    return expect(expected.contains(found), "\(symbol): \(rows)")
  }
}

extension DecadeMarket.Instrument {
  /// The exchange puts another price in the previous close's place, and the file has a step more.
  /// - Parameters: thousandths a share: cash, new shares, shares that can be bought at a price, and
  ///   by how much the exchange's number is off.
  mutating func goEx(
    on day: TradingDay, cash: Int64, bonus: Int64 = 0, rights: Int64 = 0, at price: Int64 = 0,
    off: Int64 = 0
  ) {
    let money = (close - cash) * 1_000 + rights * price
    let shares = 1_000 + bonus + rights
    reference = (money + shares * tick / 2) / (shares * tick) * tick + off
    let step = Int64(Int128(close) * Int128(shares) * 1_000_000_000_000 / Int128(money))
    let last = factors.last
    factors.append(
      DecadeMarket.Factor(
        day: day, step: step, cash: (last?.cash ?? 0) + cash,
        split: (last?.split ?? 1_000) * (1_000 + bonus) / 1_000))
  }
}
