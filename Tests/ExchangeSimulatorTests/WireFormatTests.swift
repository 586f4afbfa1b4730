import Market
import Testing

@testable import ExchangeSimulator
@testable import TestExchange

/// docs/sources/sina.md, line by line.
@Suite struct WireFormatTests {
  private func market(at hour: Int, _ minute: Int, _ second: Int = 0) throws -> SimulatedMarket {
    var market = try Fixture.market()
    market.advance(to: try Fixture.moment(hour, minute, second))
    return market
  }

  private func first(_ market: SimulatedMarket, _ behaviour: Behaviour, _ exchange: Exchange)
    throws -> Symbol
  {
    try #require(
      Fixture.symbols(market) { $0.behaviour == behaviour && $0.exchange == exchange }.first)
  }

  @Test func `every line has the fields of its exchange`() throws {
    var market = try market(at: 10, 0)
    for line in WireLine.all(in: market.bodyOfAll()) {
      let line = try #require(line)
      let count = ["sh": 34, "sz": 33, "bj": 39][line.symbol.prefix(2)]
      #expect(line.fields.count == count, "\(line.symbol)")
      #expect(line.text(30) == "2026-07-07" && line.text(31).utf8.count == 8)
      for field in 1..<30 { #expect(try !line.number(field).isNegative) }
    }
  }

  @Test func `an unknown symbol is an empty line`() throws {
    var market = try market(at: 10, 0)
    let symbol = try Fixture.symbol("sh999999")
    #expect(market.body(for: [symbol]) == Array("var hq_str_sh999999=\"\";\n".utf8))
  }

  @Test func `before nine the session before is shown`() throws {
    var market = try market(at: 8, 59)
    let symbol = try first(market, .liquid, .shanghai)
    let line = try market.line(symbol)
    #expect(line.text(30) == "2026-07-06" && line.text(31) == "15:00:00")
    #expect(try line.number(3) == market.listing(of: symbol)?.previousClose)
  }

  @Test func `after nine everything but the previous close is zero`() throws {
    var market = try market(at: 9, 3)
    let symbol = try first(market, .liquid, .shenzhen)
    let line = try market.line(symbol)
    #expect(try line.isZero([1, 3, 4, 5, 6, 7, 8, 9] + Array(10..<30)))
    #expect(try line.number(2) == market.listing(of: symbol)?.previousClose)
  }

  @Test func `an auction shows its virtual match and nothing that traded`() throws {
    var market = try market(at: 9, 24, 57)
    let line = try market.line(try first(market, .liquid, .shanghai))
    #expect(try line.isZero([1, 3, 4, 5, 8, 9]))
    #expect(try line.number(6) == line.number(7) && line.number(6).isPositive)
    #expect(try line.number(10) == line.number(20) && line.number(10).isPositive)
    #expect(try line.number(11) == line.number(6) && line.number(21) == line.number(6))
    #expect(try line.isZero([13, 23, 14, 15, 16, 17, 18, 19, 24, 25, 26, 27, 28, 29]))
    #expect(try line.number(12).isZero || line.number(22).isZero)
  }

  @Test func `the opening print makes one price of four`() throws {
    var market = try market(at: 9, 25, 5)
    for exchange in [Exchange.shanghai, .shenzhen, .beijing] {
      let line = try market.line(try first(market, .liquid, exchange))
      #expect(Set([1, 3, 4, 5].map(line.text)).count == 1)
      #expect(try line.number(8).isPositive)
      #expect(("09:25:00"..."09:25:05").contains(line.text(31)))
    }
  }

  @Test func `the first row of Shanghai after the auction has no open`() throws {
    var market = try market(at: 9, 25, 2)
    let shanghai = try market.line(try first(market, .liquid, .shanghai))
    #expect(shanghai.text(1) == "0.000" && Set([3, 4, 5].map(shanghai.text)).count == 1)
    #expect(try shanghai.number(3).isPositive && shanghai.number(8).isPositive)
    let shenzhen = try market.line(try first(market, .liquid, .shenzhen))
    #expect(Set([1, 3, 4, 5].map(shenzhen.text)).count == 1)
  }

  @Test func `nothing moves between the opening print and half past nine`() throws {
    var market = try market(at: 9, 25, 5)
    let symbols = Fixture.symbols(market) { $0.kind != .index }
    let printed = market.body(for: symbols)
    market.advance(to: try Fixture.moment(9, 29, 57))
    #expect(market.body(for: symbols) == printed)
  }

  @Test func `the book is five levels away from each other by a tick`() throws {
    var market = try market(at: 10, 0)
    let line = try market.line(try first(market, .liquid, .shanghai))
    #expect(try line.number(6) == line.number(11) && line.number(7) == line.number(21))
    #expect(try line.number(6) < line.number(7))
    for level in 1..<5 {
      #expect(try line.number(11 + 2 * level) < line.number(9 + 2 * level))
      #expect(try line.number(21 + 2 * level) > line.number(19 + 2 * level))
    }
  }

  @Test func `at the upper limit nobody sells`() throws {
    var market = try market(at: 10, 0)
    for symbol in Fixture.symbols(market, .lockedLimitUp) {
      let line = try market.line(symbol)
      #expect(try line.number(3) == market.listing(of: symbol)?.limitUp)
      #expect(try line.number(6) == line.number(3))
      #expect(try line.isZero([7] + Array(20..<30)))
    }
  }

  @Test func `at the lower limit nobody buys`() throws {
    var market = try market(at: 10, 0)
    for symbol in Fixture.symbols(market, .lockedLimitDown) {
      let line = try market.line(symbol)
      #expect(try line.number(3) == market.listing(of: symbol)?.limitDown)
      #expect(try line.number(7) == line.number(3))
      #expect(try line.isZero([6] + Array(10..<20)))
    }
  }

  @Test func `the halted are zeros, with status 03 or without any`() throws {
    var market = try market(at: 10, 0)
    for symbol in Fixture.symbols(market, .haltedAllDay) + Fixture.symbols(market, .haltedUnmarked)
    {
      let line = try market.line(symbol)
      let isMarked = market.listing(of: symbol)?.behaviour == .haltedAllDay
      #expect(try line.isZero([1, 3, 4, 5, 6, 7, 8, 9] + Array(10..<30)))
      #expect(line.text(32) == (isMarked ? "03" : "00"))
      #expect(line.text(31) == "09:30:00")
    }
  }

  @Test func `a halt in mid-day empties the book and keeps the totals`() throws {
    var market = try Fixture.market()
    let symbols = Fixture.symbols(market, .haltedMidday)
    for symbol in symbols {
      let traits = market.traits[try Fixture.place(market, symbol)]
      var copy = market
      copy.advance(to: Timestamp(day: market.day, secondOfDay: Int(traits.halt.from) + 60))
      let line = try copy.line(symbol)
      #expect(line.text(32) == "04")
      #expect(try line.number(8).isPositive)
      #expect(try line.isZero([6, 7] + Array(10..<30)))
    }
    market.advance(to: try Fixture.moment(10, 31))
    let late = try market.line(Fixture.first(market, .haltedAtOpening))
    #expect(late.text(32) == "00" && late.text(31) >= "10:30:30")
  }

  @Test func `what never trades has a book and no price all day`() throws {
    var market = try market(at: 14, 0)
    for symbol in Fixture.symbols(market, .untraded) {
      let line = try market.line(symbol)
      #expect(try line.isZero([1, 3, 4, 5, 8, 9]))
      #expect(try line.number(6).isPositive && line.number(7).isPositive)
    }
  }

  @Test func `a delisted code has no previous close`() throws {
    var market = try market(at: 10, 0)
    let line = try market.line(Fixture.first(market, .delisted))
    #expect(line.text(32) == "-3")
    #expect(try line.isZero(1..<30))
  }

  @Test func `a Shanghai index has four decimals, lots, and a stamp that never rests`() throws {
    var market = try market(at: 10, 0)
    let symbol = try Fixture.symbol("sh000001")
    let line = try market.line(symbol)
    let place = try Fixture.place(market, symbol)
    #expect(try line.number(3).scale == 4)
    #expect(try line.number(8) * ExactDecimal(100) == ExactDecimal(market.states[place].volume))
    #expect(line.text(6) == "0" && line.text(10) == "0" && line.text(33) == "")
    for (hour, minute, second, stamp) in [
      (10, 0, 3, "10:00:03"), (11, 33, 1, "11:33:00"), (12, 0, 0, "11:35:00"),
      (14, 58, 2, "14:58:00"), (15, 30, 0, "15:30:00"), (15, 45, 0, "15:43:30"),
    ] {
      market.advance(to: try Fixture.moment(hour, minute, second))
      #expect(try market.line(symbol).text(31) == stamp)
    }
  }

  @Test func `a Shenzhen index has three decimals and shares`() throws {
    var market = try market(at: 10, 0)
    let symbol = try Fixture.symbol("sz399001")
    let line = try market.line(symbol)
    let place = try Fixture.place(market, symbol)
    #expect(try line.number(3).scale == 3 && line.text(6) == "0.000")
    #expect(try line.number(8) == ExactDecimal(market.states[place].volume))
  }

  @Test func `the close is stamped 15_00_00 in Shanghai and 15_00_03 in Shenzhen`() throws {
    var market = try market(at: 15, 0)
    let shanghai = try first(market, .liquid, .shanghai)
    let shenzhen = try first(market, .liquid, .shenzhen)
    #expect(try market.line(shanghai).text(31) == "15:00:00")
    let before = try market.line(shenzhen).number(8)
    market.advance(to: try Fixture.moment(15, 0, 3))
    #expect(try market.line(shenzhen).text(31) == "15:00:03")
    #expect(try market.line(shenzhen).number(8) > before)
  }

  @Test func `the session after the close is a trailer and not volume`() throws {
    var market = try market(at: 15, 4)
    let closed = market.states.map(\.volume)
    market.advance(to: try Fixture.moment(15, 45))
    #expect(market.states.map(\.volume) == closed)
    var fills = 0
    for place in market.symbols.indices where market.states[place].afterHours.volume > 0 {
      let line = try market.line(market.symbols[place])
      let trailer = line.text(33).split(separator: "|")
      let isShanghai = line.symbol.hasPrefix("sh")
      #expect(trailer.count == 3 && trailer[0] == "D")
      #expect(try ExactDecimal(trailer[2].description).scale == (isShanghai ? 2 : 3))
      #expect(
        try ExactDecimal(trailer[1].description) * line.number(3)
          == ExactDecimal(trailer[2].description))
      fills += 1
    }
    #expect(fills > 5)
  }

  @Test func `an index of New York has 36 fields, one that is unknown none`() throws {
    let market = try market(at: 10, 0)
    var body: [UInt8] = []
    for name in ["gb_$ixic", "gb_$dji", "gb_$inx", "rt_hkHSI"] {
      SinaOverview.appendLine(try Fixture.symbol(name), of: market, to: &body)
    }
    #expect(WireLine.all(in: body).map { $0?.fields.count } == [36, 36, 36, 1])
  }
}
