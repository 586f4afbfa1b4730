import Market
import PaperTrading
import Testing

/// One case a row of the tables: an order on a day, and what becomes of it.
@Suite struct RuleTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let name: String
    var code = "sh600000"
    var time = 10 * 3600
    var side = Side.buy
    var kind = OrderKind.limit
    var force = TimeInForce.day
    var quantity = "100"
    var limit: String? = "10.00"
    var stop: String?
    var sellable = "0"
    var change: @Sendable (inout Snapshot) -> Void = { _ in }
    let refused: Refusal.Code?

    var testDescription: String { name }
  }

  static let sizes = [
    Case(name: "a lot", refused: nil),
    Case(name: "half a lot", quantity: "50", refused: .lot),
    Case(name: "an odd lot", quantity: "150", refused: .lot),
    Case(name: "a part of a share", quantity: "100.5", refused: .quantity),
    Case(name: "nothing", quantity: "0", refused: .quantity),
    Case(name: "STAR, 200", code: "sh688001", quantity: "200", refused: nil),
    Case(name: "STAR, 201", code: "sh688001", quantity: "201", refused: nil),
    Case(name: "STAR, 199", code: "sh688001", quantity: "199", refused: .lot),
    Case(name: "Beijing, 101", code: "bj920000", quantity: "101", refused: nil),
    Case(name: "a bond, 10", code: "sz123001", quantity: "10", refused: nil),
    Case(name: "a bond, 15", code: "sz123001", quantity: "15", refused: .lot),
    Case(name: "main, most", quantity: "1000000", refused: nil),
    Case(name: "main, more", quantity: "1000100", refused: .size),
    Case(name: "ChiNext, most", code: "sz300001", quantity: "300000", refused: nil),
    Case(name: "ChiNext, more", code: "sz300001", quantity: "300100", refused: .size),
    Case(name: "STAR, more", code: "sh688001", quantity: "100001", refused: .size),
    Case(
      name: "STAR, market, more", code: "sh688001", kind: .fiveBestThenCancel, quantity: "50001",
      limit: nil, refused: .size),
    Case(
      name: "ChiNext, market, more", code: "sz300001", kind: .fiveBestThenCancel,
      quantity: "150100", limit: nil, refused: .size),
    Case(name: "a rest with its lots", side: .sell, quantity: "150", sellable: "250", refused: nil),
    Case(
      name: "a part of a rest", side: .sell, quantity: "130", sellable: "250", refused: .remainder),
    Case(
      name: "STAR, the whole rest", code: "sh688001", side: .sell, quantity: "150",
      sellable: "150", refused: nil),
    Case(
      name: "STAR, a part of it", code: "sh688001", side: .sell, quantity: "100", sellable: "150",
      refused: .remainder),
    Case(
      name: "more than there is", side: .sell, quantity: "300", sellable: "200",
      refused: .sellable),
  ]

  static let prices = [
    Case(name: "off the tick", limit: "10.005", refused: .tick),
    Case(name: "a fund's tick", code: "sh510300", limit: "10.005", refused: nil),
    Case(name: "no limit", limit: nil, refused: .price),
    Case(name: "above limit-up", time: 9 * 3600 + 1000, limit: "11.01", refused: .band),
    Case(name: "limit-up in the auction", time: 9 * 3600 + 1000, limit: "11.00", refused: nil),
    Case(name: "inside the cage", limit: "10.21", refused: nil),
    Case(name: "outside the cage", limit: "10.22", refused: .cage),
    Case(name: "Beijing's cage", code: "bj920000", limit: "10.51", refused: nil),
    Case(name: "outside it", code: "bj920000", limit: "10.52", refused: .cage),
    Case(name: "a fund of 20 %", code: "sz159915", limit: "11.900", refused: nil),
    Case(
      name: "a fund, market", code: "sh510300", kind: .fiveBestThenCancel, limit: nil,
      refused: nil),
    Case(name: "a fund has none", code: "sh510300", limit: "10.90", refused: nil),
    Case(
      name: "ten ticks of a low price", limit: "1.11",
      change: {
        ($0.asks, $0.last) = ([], ExactDecimal(units: 101, scale: 2))
        $0.bids = [BookLevel(price: ExactDecimal(units: 101, scale: 2), volume: ExactDecimal(100))]
        $0.previousClose = ExactDecimal(units: 101, scale: 2)
      }, refused: nil),
    Case(
      name: "a sale below the cage", side: .sell, limit: "9.78", sellable: "100",
      refused: .cage),
    Case(name: "a stop without its price", kind: .stop, limit: nil, refused: .price),
    Case(name: "a stop", kind: .stop, limit: nil, stop: "10.50", refused: nil),
    Case(name: "a limit with a stop", stop: "10.50", refused: .price),
  ]

  static let times = [
    Case(name: "before the day", time: 8 * 3600, refused: nil),
    Case(name: "at noon", time: 12 * 3600, refused: nil),
    Case(name: "in the closing auction", time: 14 * 3600 + 58 * 60, refused: nil),
    Case(name: "after the close", time: 15 * 3600, refused: .session),
    Case(name: "at the fixed price", time: 15 * 3600 + 600, refused: .session),
    Case(name: "market, Shanghai", kind: .fiveBestThenLimit, limit: nil, refused: nil),
    Case(
      name: "market, Shenzhen", code: "sz000001", kind: .fiveBestThenLimit, limit: nil,
      refused: .kind),
    Case(name: "Shenzhen's own", code: "sz000001", kind: .allOrCancel, limit: nil, refused: nil),
    Case(name: "not Shanghai's", kind: .allOrCancel, limit: nil, refused: .kind),
    Case(
      name: "market in an auction", time: 9 * 3600 + 1000, kind: .ownBest, limit: nil,
      refused: .kind),
    Case(
      name: "market, a bond", code: "sz123001", kind: .fiveBestThenCancel, quantity: "10",
      limit: nil, refused: .kind),
    Case(
      name: "stop, a bond", code: "sz123001", kind: .stop, quantity: "10", limit: nil,
      stop: "10.50", refused: .kind),
    Case(
      name: "stop-limit, a bond", code: "sz123001", kind: .stopLimit, quantity: "10",
      stop: "10.50", refused: nil),
    Case(
      name: "market, gtc", kind: .ownBest, force: .goodTillCancelled, limit: nil,
      refused: .timeInForce),
    Case(name: "ioc", force: .immediateOrCancel, refused: nil),
    Case(
      name: "ioc in an auction", time: 9 * 3600 + 1000, force: .immediateOrCancel,
      refused: .timeInForce),
    Case(name: "halted", change: { $0.trading = .halted }, refused: .halted),
    Case(name: "an index", code: "sh000001", refused: .instrument),
    Case(name: "a B share", code: "sh900901", refused: .instrument),
  ]

  @Test(arguments: sizes + prices + times)
  func `an order is judged by its day's rules`(_ row: Case) throws {
    let instrument = try #require(Symbol(row.code).flatMap(Instrument.classify))
    let day = try #require(TradingDay("2026-07-06"))
    let ten = ExactDecimal(units: 1000, scale: 2)
    var snapshot = Snapshot(
      stamp: SnapshotStamp(day: day, secondOfDay: Int32(row.time), sequence: 1),
      previousClose: ten, last: ten, high: ten, low: ten, volume: .zero, turnover: .zero,
      bids: [BookLevel(price: ExactDecimal(units: 999, scale: 2), volume: ExactDecimal(100))],
      asks: [BookLevel(price: ExactDecimal(units: 1001, scale: 2), volume: ExactDecimal(100))])
    row.change(&snapshot)
    let order = Order(
      id: 1, account: 1, symbol: instrument.symbol, side: row.side, kind: row.kind,
      timeInForce: row.force, quantity: try ExactDecimal(row.quantity),
      limit: try row.limit.map { try ExactDecimal($0) },
      stop: try row.stop.map { try ExactDecimal($0) })
    let holding = Holding(sellable: try ExactDecimal(row.sellable), today: .zero)
    var refusal: Refusal?
    do throws(Refusal) {
      _ = try OrderRules.judge(
        order, of: TradedInstrument(instrument), against: snapshot, holding: holding,
        at: TradingMoment(day: day, secondOfDay: row.time))
    } catch {
      refusal = error
    }
    #expect(refusal?.code == row.refused)
    #expect(refusal.map { !$0.message.isEmpty && !$0.field.isEmpty } ?? true)
  }

  /// The widest band there is bounds what it may cost; its own is not known.
  @Test(arguments: [(Side.buy, "13.000"), (.sell, "7.000")])
  func `a market order of a fund is bounded by the widest limits`(
    side: Side, bound: String
  ) throws {
    let instrument = try #require(Symbol("sz159915").flatMap(Instrument.classify))
    let day = try #require(TradingDay("2026-07-06"))
    let ten = ExactDecimal(units: 1000, scale: 2)
    let snapshot = Snapshot(
      stamp: SnapshotStamp(day: day, secondOfDay: 36_000, sequence: 1), previousClose: ten,
      last: ten, high: ten, low: ten, volume: .zero, turnover: .zero, bids: [], asks: [])
    let order = Order(
      id: 1, account: 1, symbol: instrument.symbol, side: side, kind: .fiveBestThenCancel,
      quantity: ExactDecimal(100))
    let acceptance = try OrderRules.judge(
      order, of: MarketRow(snapshot, band: nil).traded(instrument), against: snapshot,
      holding: Holding(sellable: ExactDecimal(100), today: .zero),
      at: TradingMoment(day: day, secondOfDay: 36_001))
    #expect(acceptance.worstPrice == (try ExactDecimal(bound)))
  }

  @Test(arguments: [
    ("sh600000", "09:16", 33_360), ("sh600000", "09:21", 34_200), ("sh600000", "12:00", 46_800),
    ("sz000001", "12:00", 43_200), ("sh113050", "14:58", 53_880),
  ])
  func `a cancellation waits for minutes that allow it`(
    code: String, time: String, at second: Int
  ) throws {
    let instrument = try #require(Symbol(code).flatMap(Instrument.classify))
    let parts = time.split(separator: ":").compactMap { Int($0) }
    let moment = TradingMoment(
      day: try #require(TradingDay("2026-07-06")), secondOfDay: parts[0] * 3600 + parts[1] * 60)
    let allowed = TradingPhase.cancellation(of: instrument, entered: 0, at: moment)
    #expect(allowed == second)
  }

  @Test func `none is allowed in a closing auction, which funds have, too`() throws {
    let fund = try #require(Symbol("sh510300").flatMap(Instrument.classify))
    let moment = TradingMoment(
      day: try #require(TradingDay("2026-07-06")), secondOfDay: 14 * 3600 + 58 * 60)
    #expect(TradingPhase.cancellation(of: fund, entered: 0, at: moment) == nil)
  }

  @Test(arguments: [
    ("sh518880", true), ("sh511880", true), ("sh511010", true), ("sh513100", true),
    ("sz159920", true), ("sz159985", true), ("sz123001", true), ("sh510300", false),
    ("sz159915", false), ("sh600519", false),
  ])
  func `what may be sold on the day of its purchase is listed, fund by fund`(
    code: String, isSold: Bool
  ) throws {
    let day = try #require(TradingDay("2026-07-06"))
    let instrument = try #require(Symbol(code).flatMap(Instrument.classify))
    #expect(TradedInstrument(instrument).sellsSameDay(on: day) == isSold)
    let listed = TradedInstrument(instrument, isOnSameDayList: true).sellsSameDay(on: day)
    #expect(listed == (isSold || instrument.kind == .fund))
  }

  @Test func `the list of funds that ships is of funds`() {
    let listed = RuleBook.shippedRules
      .filter { $0.key == "same_day_sale" && !$0.board.isEmpty }
    #expect(listed.count == 333)
    for rule in listed {
      #expect(Symbol(rule.board).flatMap(Instrument.classify)?.kind == .fund, "\(rule.board)")
    }
  }
}
