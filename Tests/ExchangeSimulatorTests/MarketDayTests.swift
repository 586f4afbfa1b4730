import Market
import Testing

@testable import ExchangeSimulator
@testable import TestExchange

@Suite struct MarketDayTests {
  private static let clocks = [
    8 * 3600, 32_400, 33_303, 33_900, 34_203, 36_000, 41_406, 43_200, 46_803, 53_826, 54_003,
    54_900, 56_700,
  ]

  @Test func `the same seed and day give the same bytes`() throws {
    var one = try Fixture.market(7)
    var other = try Fixture.market(7)
    for clock in MarketDayTests.clocks {
      let moment = Timestamp(day: one.day, secondOfDay: clock)
      one.advance(to: moment)
      other.advance(to: moment)
      #expect(one.bodyOfAll() == other.bodyOfAll())
    }
  }

  @Test func `the bytes of a moment do not depend on the steps that led there`() throws {
    var direct = try Fixture.market()
    var stepped = try Fixture.market()
    for second in stride(from: 32_000, to: 36_000, by: 7) {
      stepped.advance(to: Timestamp(day: stepped.day, secondOfDay: second))
      _ = stepped.body(for: Array(stepped.symbols.prefix(10)))
    }
    stepped.advance(to: try Fixture.moment(10, 0))
    direct.advance(to: try Fixture.moment(10, 0))
    #expect(direct.bodyOfAll() == stepped.bodyOfAll())
  }

  @Test func `another seed is another day`() throws {
    var one = try Fixture.market(1)
    var other = try Fixture.market(2)
    one.advance(to: try Fixture.moment(10, 0))
    other.advance(to: try Fixture.moment(10, 0))
    #expect(one.bodyOfAll() != other.bodyOfAll())
  }

  @Test func `a copy is a market of its own`() throws {
    var market = try Fixture.market()
    market.advance(to: try Fixture.moment(10, 0))
    var lagging = market
    let then = lagging.bodyOfAll()
    market.advance(to: try Fixture.moment(10, 5))
    #expect(lagging.bodyOfAll() == then)
    lagging.advance(to: try Fixture.moment(10, 5))
    #expect(lagging.bodyOfAll() == market.bodyOfAll())
  }

  @Test(arguments: 1...3 as ClosedRange<UInt64>)
  func `a small market has every behaviour and every segment`(_ seed: UInt64) throws {
    let market = try Fixture.market(seed)
    #expect(Set(market.listings.map(\.behaviour)) == Set(Behaviour.allCases))
    #expect(Set(market.listings.map(\.board)) == Set(Board.allCases))
    #expect(Set(market.listings.map(\.kind)).isSuperset(of: [.stock, .fund, .index]))
    #expect(market.symbols.first?.description == "sh000001")
    #expect(Set(market.symbols).count == market.symbols.count)
  }

  @Test func `the whole market has names of every awkward kind`() throws {
    let names = try Fixture.market(instruments: 5400).listings.map(\.name)
    #expect(names.allSatisfy { !$0.isEmpty && !$0.contains(UInt8(ascii: ",")) })
    let fourBytes: [UInt8] = [0x81, 0x39, 0xEE, 0x39]
    #expect(names.contains { $0.starts(with: fourBytes) })
    #expect(names.contains { $0.contains(UInt8(ascii: "|")) })
    #expect(names.contains { $0.contains(UInt8(ascii: " ")) })
    #expect(names.contains { $0.starts(with: "*ST".utf8) })
    #expect(names.contains { $0.first == UInt8(ascii: "N") })
  }

  @Test(arguments: 1...3 as ClosedRange<UInt64>)
  func `every trade is on tick, inside the limits and inside the session`(_ seed: UInt64) throws {
    var market = try Fixture.market(seed)
    var strays = 0
    while market.second < Grid.dayEnd {
      market.advance(to: market.now.adding(seconds: 3))
      for trade in market.events.trades {
        let traits = market.traits[Int(trade.instrument)]
        if traits.isIndex { continue }
        if trade.price % traits.tick != 0 || trade.size <= 0 { strays += 1 }
        if trade.amount != trade.price * trade.size { strays += 1 }
        if traits.limits.up > 0, !(traits.limits.down...traits.limits.up).contains(trade.price) {
          strays += 1
        }
        let millisecond = Int(trade.millisecond)
        let isFresh =
          millisecond <= market.second * 1000 && millisecond >= (market.second - 3) * 1000
        if !isFresh { strays += 1 }
      }
    }
    #expect(strays == 0, "seed \(seed)")
  }

  @Test func `the average price of every line lies between its low and its high`() throws {
    var market = try Fixture.market(instruments: 300)
    for clock in MarketDayTests.clocks {
      market.advance(to: Timestamp(day: market.day, secondOfDay: clock))
      for line in WireLine.all(in: market.bodyOfAll()) {
        let line = try #require(line)
        let symbol = try #require(Symbol(line.symbol))
        let volume = try line.number(8)
        if volume.isZero || market.listing(of: symbol)?.kind == .index { continue }
        let turnover = try line.number(9)
        #expect(try line.number(5) * volume <= turnover, "\(line.symbol) at \(clock)")
        #expect(try line.number(4) * volume >= turnover, "\(line.symbol) at \(clock)")
      }
    }
  }
}
