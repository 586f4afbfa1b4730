import Market
import Testing

@testable import ExchangeSimulator
@testable import Ledgers
@testable import TestExchange

/// docs/sources/tencent.md, line by line.
@Suite struct TencentTests {
  /// What a client sees, and the market as it is then.
  private struct View {
    var exchange: MemoryExchange
    var market: SimulatedMarket

    init(seed: UInt64 = Fixture.seed, faults: [Fault] = []) throws {
      market = try Fixture.market(seed)
      exchange = MemoryExchange(
        history: SimulatedHistory(market), faults: FaultPlan(seed: 3, faults))
    }

    mutating func answer(_ symbols: [Symbol], at moment: Timestamp) throws -> [UInt8] {
      let list = symbols.map(\.description).joined(separator: ",")
      let given = exchange.response("/q=\(list)", at: moment)
      return try #require(given).body
    }

    mutating func lines(
      _ symbols: [Symbol]? = nil, at hour: Int, _ minute: Int, _ second: Int = 0
    ) throws -> [TencentWireLine] {
      let moment = try Fixture.moment(hour, minute, second)
      let body = try answer(symbols ?? market.symbols, at: moment)
      return try TencentWireLine.all(in: body).map { try #require($0) }
    }

    mutating func lines(
      _ behaviour: Behaviour, at hour: Int, _ minute: Int, _ second: Int = 0
    ) throws -> [TencentWireLine] {
      try lines(Fixture.symbols(market, behaviour), at: hour, minute, second)
    }

    /// The market some seconds before a moment.
    func earlier(_ seconds: Int64, than moment: Timestamp) -> SimulatedMarket {
      var copy = market
      copy.advance(to: moment.adding(seconds: -seconds))
      return copy
    }
  }

  @Test func `every line has 88 fields that agree with each other`() throws {
    var view = try View()
    let lines = try view.lines(at: 10, 0)
    #expect(lines.count == view.market.symbols.count)
    for line in lines {
      #expect(line.fields.count == 88, "\(line.symbol)")
      #expect(line.symbol.hasSuffix(line[2]))
      let parts = line[35].split(separator: "/").map(String.init)
      #expect(parts.prefix(2) == [line[3], line[6]])
      #expect(try ExactDecimal(parts[2]) == line.number(57) * ExactDecimal(10_000))
      #expect(line[36] == line[6] && line[41] == line[33] && line[42] == line[34])
      let isStar = line.symbol.hasPrefix("sh688")
      #expect(line[87] == (isStar ? "100" : "") && (line[61] == "GP-A-KCB") == isStar)
      #expect(line[0] == ["sh": "1", "sz": "51", "bj": "62"][line.symbol.prefix(2)])
    }
  }

  @Test func `a name may hold the separator, and is padded`() throws {
    var view = try View()
    let lines = try view.lines(at: 10, 0)
    #expect(lines.contains { $0.fields[1].suffix(2).elementsEqual([0x81, 0x7E]) })
    #expect(lines.contains { String(decoding: $0.fields[1], as: UTF8.self).contains("  ") })
  }

  @Test func `volume is whole lots to the nearest, shares in STAR, and money whole yuan`() throws {
    var view = try View()
    let moment = try Fixture.moment(15, 40)
    let market = view.earlier(0, than: moment)
    var odd = 0
    for line in try view.lines(at: 15, 40) where line[40].isEmpty {
      let place = try Fixture.place(market, Fixture.symbol(line.symbol))
      let (state, traits) = (market.states[place], market.traits[place])
      let shown = try #require(Int64(line[6]))
      if traits.board == .star {
        #expect(shown == state.volume)
      } else {
        #expect(abs(shown * 100 - state.volume) <= 50)
        if state.volume % 100 != 0 { odd += 1 }
      }
      let yuan = try #require(Int64(line[35].split(separator: "/")[2]))
      #expect(abs(yuan * 1000 - state.turnover) <= 500)
      let levels = state.levels(traits)
      for level in levels.indices {
        #expect(Int64(line[10 + 2 * level]) == levels[level].volume / 100)
      }
    }
    #expect(odd > 0)
  }

  @Test func `an opening auction shows its virtual match as the price`() throws {
    var view = try View()
    for line in try view.lines(.liquid, at: 9, 24, 50) {
      #expect(line[3] == line[9] && line[3] == line[19])
      #expect(try line.number(3).isPositive && line.number(10).isPositive)
      #expect(line[10] == line[20] && line[6] == "0")
      #expect(try [5, 33, 34, 57].allSatisfy { try line.number($0).isZero })
      #expect(try line.number(31) == line.number(3) - line.number(4))
      let unmatched = [(11, 12), (21, 22)].filter { line[$0.1] != "0" }
      #expect(try unmatched.count <= 1 && unmatched.allSatisfy { try line.number($0.0).isZero })
    }
  }

  @Test func `the halted have a price, a letter and a stamp that moves`() throws {
    var view = try View()
    for behaviour in [Behaviour.haltedAllDay, .haltedUnmarked] {
      let early = try view.lines(behaviour, at: 10, 0)
      let late = try view.lines(behaviour, at: 10, 1)
      for (line, later) in zip(early, late) {
        #expect(line[40] == "S" && line[3] == line[4] && line[6] == "0")
        #expect(try line.number(3).isPositive && line.number(47).isPositive)
        #expect(try (9...28).allSatisfy { try line.number($0).isZero })
        #expect(line[30] < later[30])
      }
    }
  }

  @Test func `the delisted are stamped nine o'clock and the unlisted have no price`() throws {
    var view = try View()
    for line in try view.lines(.delisted, at: 14, 0) {
      #expect(line[40] == "D" && line[3] == line[4] && line[30] == "20260707090000")
      #expect(try line.number(3).isPositive && line[47] == "-1" && line[48] == "-1")
    }
    for line in try view.lines(.notListed, at: 14, 0) {
      #expect(line[40] == "U" && line[3] == "0.00" && line[4] == "0.00" && line[44].isEmpty)
    }
  }

  @Test func `limits are those of the day, or none`() throws {
    var view = try View()
    for line in try view.lines(at: 10, 0) where line[40].isEmpty {
      let listing = try #require(view.market.listing(of: Fixture.symbol(line.symbol)))
      if let up = listing.limitUp, let down = listing.limitDown {
        #expect(try line.number(47) == up && line.number(48) == down)
      } else {
        #expect(line[47] == "-1" && line[48] == "-1")
      }
    }
  }

  @Test(arguments: 1...3 as ClosedRange<UInt64>)
  func `a line shows a state of up to six seconds ago under a stamp of its own`(
    _ seed: UInt64
  ) throws {
    var view = try View(seed: seed)
    var (phases, ages): (Set<Int>, Set<Int64>) = ([], [])
    for second in 0..<6 {
      let moment = try Fixture.moment(10, 0, second)
      let markets = (0...6).map { view.earlier($0, than: moment) }
      for line in try view.lines(.liquid, at: 10, 0, second) {
        let symbol = try Fixture.symbol(line.symbol)
        let place = try Fixture.place(view.market, symbol)
        let volume = try #require(Int64(line[6]))
        let age = markets.firstIndex {
          RefreshedLines.lots($0.states[place].volume, $0.traits[place]) == volume
        }
        ages.insert(Int64(try #require(age, "seed \(seed), \(symbol)")))
        let stamp = try #require(Int(line[30].suffix(2)))
        #expect((stamp + 60 - second) % 60 == 0 || (second + 60 - stamp) % 60 < 3)
        phases.insert(stamp % 3)
      }
    }
    #expect(phases == [0, 1, 2] && ages.count > 3, "seed \(seed)")
  }

  @Test func `stamps rest at noon and are renewed a quarter past four`() throws {
    var view = try View()
    let symbols = Fixture.symbols(view.market) { $0.behaviour == .liquid }
    let noon = try view.lines(symbols, at: 12, 0)
    let later = try view.lines(symbols, at: 12, 59, 59)
    #expect(later.map { $0[30] } == noon.map { $0[30] })
    #expect(noon.allSatisfy { $0[30].hasPrefix("2026070711300") || $0[30].hasSuffix("113010") })
    for line in try view.lines(symbols, at: 16, 30) {
      let isBeijing = line.symbol.hasPrefix("bj")
      #expect(line[30].hasPrefix(isBeijing ? "20260707153430" : "2026070716"))
    }
    let night = try view.lines(symbols, at: 8, 0)
    #expect(night.allSatisfy { $0[30].hasPrefix("20260706") && $0[6] != "0" })
  }

  @Test func `what trades after hours stands apart`() throws {
    var view = try View()
    let market = view.earlier(0, than: try Fixture.moment(15, 45))
    var fills = 0
    for line in try view.lines(at: 16, 30) {
      let place = try Fixture.place(market, Fixture.symbol(line.symbol))
      let afterHours = market.states[place].afterHours
      let lot = RefreshedLines.lot(market.traits[place])
      #expect(Int64(line[59]).map { $0 * lot } == afterHours.volume)
      let yuan = try line.number(58) * ExactDecimal(10_000)
      #expect(try yuan - ExactDecimal(afterHours.turnover / 1000) <= ExactDecimal(1))
      if afterHours.volume > 0 { fills += 1 }
    }
    #expect(fills > 5)
  }

  @Test func `unknown symbols have no line, and nothing but unknown ones one of its own`() throws {
    var view = try View()
    let moment = try Fixture.moment(10, 0)
    let unknown = try Fixture.symbol("sh999999")
    let both = try view.answer([unknown, view.market.symbols[0]], at: moment)
    #expect(TencentWireLine.all(in: both).count == 1)
    for list in ["sh999999", "600000", "", "SH600000"] {
      let given = view.exchange.response("/q=\(list)", at: moment)
      let answer = try #require(given)
      #expect(answer.status == 200 && answer.body == Array("v_pv_none_match=\"1\";\n".utf8))
    }
  }

  @Test func `a question of more than eight kilobytes is refused`() throws {
    var view = try View()
    let moment = try Fixture.moment(10, 0)
    for (count, status) in [(900, 200), (950, 414)] {
      let list = Array(repeating: "sh600000", count: count).joined(separator: ",")
      let answer = view.exchange.response("/q=\(list)", at: moment)
      #expect(answer?.status == status)
    }
  }

  @Test(
    arguments: [(.forbidden, 403), (.emptyBody, 200), (.badGateway, 502)] as [(Fault.Kind, Int)])
  func `its faults are its own`(_ kind: Fault.Kind, _ status: Int) throws {
    var view = try View(faults: [Fault(kind, on: .tencentQuotes)])
    let moment = try Fixture.moment(10, 0)
    let symbols = Array(view.market.symbols.prefix(3))
    let refused = view.exchange.response("/q=sh600000", at: moment)
    #expect(refused?.status == status && refused?.body.starts(with: "v_".utf8) == false)
    let answer = view.exchange.response(
      Fixture.path(symbols, at: moment), headers: ["referer": "https://finance.sina.com.cn/"],
      at: moment)
    #expect(answer?.body.starts(with: "var hq_str_".utf8) == true)
  }

  @Test func `lines are cut or doubled and answers are in UTF-8 now and then`() throws {
    var view = try View(faults: [Fault(.cutLine, on: .tencentQuotes, chancePerMille: 100)])
    let moment = try Fixture.moment(10, 0)
    let cut = TencentWireLine.all(in: try view.answer(view.market.symbols, at: moment))
    #expect(cut.count(where: { $0 == nil }) > 3 && cut.count == view.market.symbols.count)
    view = try View(faults: [Fault(.duplicateRow, on: .tencentQuotes, chancePerMille: 100)])
    let doubled = try view.lines(at: 10, 0).map(\.symbol)
    #expect(doubled.count > Set(doubled).count)
    view = try View(faults: [Fault(.utf8Names, on: .tencentQuotes)])
    let body = try view.answer(view.market.symbols, at: moment)
    #expect(String(validating: body, as: UTF8.self)?.contains("上证指数") == true)
    #expect(Fault.tencentOddities.count == 3)
  }

  @Test(arguments: [50, 67, 87]) func `a line of the past is shorter`(_ count: Int) throws {
    var upstream = SimulatedUpstreams(
      SimulatedExchange(SimulatedHistory(try Fixture.market()), clock: .request),
      protocols: [TencentProtocol(TencentOptions(fieldCount: count))])
    let moment = try Fixture.moment(10, 0).microseconds / 1000
    let body = upstream.response(SimulatedRequest(target: "/?_=\(moment)&q=sh600000")).body
    let line = try #require(TencentWireLine.all(in: body).first ?? nil)
    #expect(line.fields.count == count && line[30].hasPrefix("20260707"))
  }
}

/// A line of the wire, split at its `~`; the name stays bytes.
struct TencentWireLine {
  let symbol: String
  let fields: [[UInt8]]

  init?(_ bytes: ArraySlice<UInt8>) {
    guard bytes.starts(with: "v_".utf8), bytes.suffix(3).elementsEqual("\";\n".utf8),
      let equals = bytes.firstIndex(of: UInt8(ascii: "="))
    else { return nil }
    symbol = String(decoding: bytes[(bytes.startIndex + 2)..<equals], as: UTF8.self)
    var fields: [[UInt8]] = [[]]
    var isSecond = false
    for byte in bytes[(equals + 2)..<(bytes.endIndex - 3)] {
      if byte == UInt8(ascii: "~"), !isSecond {
        fields.append([])
      } else {
        fields[fields.count - 1].append(byte)
        isSecond = !isSecond && byte > 0x80
      }
    }
    self.fields = fields
  }

  static func all(in body: [UInt8]) -> [TencentWireLine?] {
    body.split(separator: UInt8(ascii: "\n")).map { TencentWireLine($0 + [UInt8(ascii: "\n")]) }
  }

  subscript(field: Int) -> String { String(decoding: fields[field], as: UTF8.self) }

  func number(_ field: Int) throws -> ExactDecimal { try ExactDecimal(self[field]) }
}
