import Market
import Testing

/// Rules as dated rows: those that ship, an operator's over them, and the day that decides.
@Suite struct RuleBookTests {
  private func day(_ text: String) throws -> TradingDay { try #require(TradingDay(text)) }

  private func book(_ lines: String..., on today: String = "2026-11-28") throws -> RuleBook {
    let (rules, problems) = RuleFile.parse(lines.joined(separator: "\n"), isOperators: true)
    #expect(problems.isEmpty)
    return RuleBook(operators: rules, on: try day(today))
  }

  // MARK: - Those that ship

  /// How far a price may move, as the rule books have it, a day before and on the day of a change.
  @Test(
    arguments: [
      ("sh600000", "1996-12-13", nil, "1996-12-16", 100),
      ("sh688001", "2019-07-19", nil, "2019-07-22", 200),
      ("sz300001", "2020-08-21", 100, "2020-08-24", 200),
      ("bj920000", "2021-11-12", nil, "2021-11-15", 300),
      ("sz123001", "2022-07-29", nil, "2022-08-01", 200),
      ("sh510300", "2020-08-21", 100, "2020-08-24", nil),
    ] as [(String, String, Int64?, String, Int64?)])
  func `a limit holds from its day`(
    _ code: String, _ before: String, _ old: Int64?, _ after: String, _ new: Int64?
  ) throws {
    for (text, permille) in [(before, old), (after, new)] {
      let band = PriceLimit.band(
        for: try instrument(code), previousClose: ExactDecimal(units: 100_000, scale: 3),
        on: try day(text), specialTreatment: false, tradingDaysSinceListing: nil)
      let expected = permille.map { 100_000 + 100 * $0 }
      #expect(try band.map { try $0.upper.rescaled(places: 3).units } == expected, "\(text)")
    }
  }

  @Test(arguments: [("2026-07-03", "95.00"), ("2026-07-06", "90.00")])
  func `an ST share moves as any other since 2026-07-06`(_ text: String, _ lower: String) throws {
    let band = PriceLimit.band(
      for: try instrument("sh600000"), previousClose: ExactDecimal(units: 10_000, scale: 2),
      on: try day(text), specialTreatment: true, tradingDaysSinceListing: nil)
    #expect(band?.lower.description == lower)
  }

  @Test func `the first days of a listing follow the rule of its own day`() throws {
    let share = try instrument("sh600000")
    func band(_ text: String, age: Int) throws -> String? {
      PriceLimit.band(
        for: share, previousClose: ExactDecimal(units: 10_000, scale: 2), on: try day(text),
        specialTreatment: false, tradingDaysSinceListing: age)?.upper.description
    }
    #expect(try band("2023-04-07", age: 0) == "144.00")
    #expect(try band("2023-04-10", age: 1) == "110.00")
    #expect(try band("2023-04-10", age: 0) == nil)
    #expect(try band("2023-04-14", age: 4) == nil)
    #expect(try band("2023-04-17", age: 5) == "110.00")
  }

  @Test func `the stamp duty was halved on 2023-08-28, and shares alone pay it`() throws {
    let rules = RuleBook(on: try day("2026-11-28"))
    let share = try instrument("sh600000")
    #expect(rules.stampDuty(of: share, on: try day("2023-08-25")).description == "0.001")
    #expect(rules.stampDuty(of: share, on: try day("2023-08-28")).description == "0.0005")
    #expect(rules.stampDuty(of: try instrument("sh510300"), on: try day("2026-07-06")) == .zero)
    #expect(rules.transferFee(of: share, on: try day("2026-07-06")).description == "0.00001")
  }

  @Test func `on all days of the table the mainland has the hours that it has today`() throws {
    let rules = RuleBook(on: try day("2026-11-28"))
    for year in 1991...2027 {
      let market = rules.mainlandChina(on: .first(of: year))
      #expect(market.sessions.map(\.opens) == [34_200, 46_800])
      #expect(market.sessions.map(\.closes) == [41_400, 54_000])
      #expect(market.silentMinutes == [53_820, 53_880])
      #expect(market.auction == SessionHours(opens: 33_300, closes: 33_900))
      #expect(market.afterHours == SessionHours(opens: 54_300, closes: 55_800))
      #expect(TradingHours.mainlandChina(on: .first(of: year)) == TradingHours(market))
    }
    #expect(rules.unitedStates(on: .first(of: 2026)).sessions.map(\.closes) == [57_600])
  }

  @Test func `a source counts lots as its rule says, by kind and board`() throws {
    let rules = RuleBook(on: try day("2026-11-28"))
    func lots(_ source: String, _ row: Int) -> Bool {
      rules.codePlan(of: source)[row].countsLots
    }
    #expect(lots("sina", 0) && !lots("sina", 600) && !lots("sina", 1_399))
    #expect(lots("tencent", 600) && lots("tencent", 1_300) && !lots("tencent", 688))
  }

  // MARK: - An operator's

  @Test func `longer hours from a Monday hold from that day`() throws {
    let rules = try book(
      "cn,,,hours,09:30-11:30 13:00-16:00,2029-01-08,,SSE notice",
      "cn,,,closing_auction,15:57-16:00,2029-01-08,,SSE notice")
    let before = rules.mainlandChina(on: try day("2029-01-05"))
    #expect(before.sessions.map(\.closes) == [41_400, 54_000])
    let monday = try day("2029-01-08")
    let longer = rules.mainlandChina(on: monday)
    #expect(longer.sessions.map(\.closes) == [41_400, 57_600])
    #expect(longer.silentMinutes == [57_420, 57_480])
    let hours = try #require(TradingHours(longer))
    #expect(hours.minutesPerDay == 300)
    // The session at the closing price is still entered as it was.
    #expect(hours.dayEnds == 57_600 + 6 * 60)
    let phases = rules.phases(of: try instrument("sh600000"), on: monday)
    #expect(phases.closingAuction?.closes == 57_600)
  }

  @Test func `a tick of one share is another for six months, and history keeps its own`() throws {
    let rules = try book("us,AAPL,,tick,0.005,2026-11-02,2027-04-30,SEC")
    let apple = try #require(Symbol("AAPL"))
    let other = try #require(Symbol("MSFT"))
    #expect(rules.tick(of: apple, on: try day("2026-10-30")).description == "0.01")
    #expect(rules.tick(of: apple, on: try day("2026-11-02")).description == "0.005")
    #expect(rules.tick(of: apple, on: try day("2027-05-03")).description == "0.01")
    #expect(rules.tick(of: other, on: try day("2026-11-02")).description == "0.01")
  }

  @Test func `a narrower rule counts first, and an operator's over the one that ships`() throws {
    let rules = try book(
      "cn,,,tick,0.5,2027-01-01,,test", "cn,,stock,tick,0.05,2027-01-01,,test",
      "cn,sh600000,,tick,0.02,2027-01-01,,test")
    let next = try day("2027-01-04")
    #expect(rules.tick(of: try #require(Symbol("sh600000")), on: next).description == "0.02")
    #expect(rules.tick(of: try #require(Symbol("sh600001")), on: next).description == "0.05")
    #expect(rules.tick(of: try #require(Symbol("sh510300")), on: next).description == "0.5")
    #expect(rules.tick(of: try #require(Symbol("sz200012")), on: next).description == "0.01")
    let share = try #require(Symbol("sh600001"))
    #expect(rules.tick(of: share, on: try day("2026-12-31")).description == "0.01")
  }

  @Test func `a new prefix is a kind and a board from a line`() throws {
    #expect(Instrument.classify(try #require(Symbol("sz304001"))) == nil)
    let rules = try book("cn,chinext,stock,codes,304,2027-01-01,,SZSE notice", on: "2027-01-01")
    let row = rules.codePlan(of: "tencent", on: try day("2027-01-04"))[1_304]
    #expect(row.kind == .stock && row.countsLots)
    #expect(rules.codePlan(of: "tencent", on: try day("2026-12-31"))[1_304].kind == nil)
  }

  @Test func `the same lines are the same rules, whichever counts first`() throws {
    let lines = "cn,,,tick,0.5,2027-01-01,,test\ncn,sh600000,,tick,0.02,2027-01-01,,test"
    let operators = RuleFile.parse(lines, isOperators: true).rules
    let rules = RuleBook(operators: operators, on: try day("2027-01-04"))
    #expect(rules.has(operators) && !rules.has([operators[0]]))
  }

  // MARK: - Wrong lines

  @Test(
    arguments: [
      ("cn,,tick", nil), ("jp,,,tick,0.01,,,x", "market"), ("cn,moon base,,tick,0.01,,,x", "board"),
      ("cn,,bond,tick,0.01,,,x", "kind"), ("cn,,,ticks,0.01,,,x", "key"),
      ("cn,,,tick,0,,,x", "value"), ("cn,,,tick,-0.01,,,x", "value"),
      ("cn,,,hours,15:00-13:00,,,x", "value"), ("cn,,,hours,09:30-11:30 11:00-15:00,,,x", "value"),
      ("cn,,,closing_auction,1457-1500,,,x", "value"), ("cn,,stock,limit,ten,,,x", "value"),
      ("cn,,stock,limit,120%,,,x", "value"), ("cn,,stock,codes,3040,,,x", "value"),
      ("cn,,stock,codes,304,,,x", "value"), ("cn,,,volume_unit.sina,7,,,x", "value"),
      ("cn,,,tick,0.01,2027-02-30,,x", "from_day"), ("cn,,,tick,0.01,,soon,x", "to_day"),
      ("cn,,,tick,0.01,2027-02-02,2027-02-01,x", "to_day"), ("cn,,,tick,0.01,,,", "source"),
      ("cn,,stock,stamp_duty,-0.1,,,x", "value"), ("cn,,stock,lot,100,,,x", "value"),
      ("cn,,fund,same_day_sale,maybe,,,x", "value"),
      ("cn,,,zone,America/New_York,,,x", "value"),
      ("cn,sh000300,,volume_unit.tencent,1,,,x", "value"),
    ] as [(String, String?)])
  func `a wrong line is named by its field`(_ line: String, _ field: String?) {
    let (rules, problems) = RuleFile.parse("# a comment\n\n" + line, isOperators: true)
    #expect(rules.isEmpty)
    #expect(problems.map(\.line) == [3])
    #expect(problems.map(\.field) == [field], "\(problems)")
  }

  @Test func `the same rule twice from one day is refused`() {
    let line = "cn,,stock,tick,0.01,2027-01-04,,x"
    let (_, problems) = RuleFile.parse(line + "\n" + line.replacing("0.01", with: "0.02"))
    #expect(problems.map(\.line) == [2])
    #expect(problems.first?.sentence == "the same rule begins on line 1")
  }
}
