import Market

/// Who is listed: a seed's market of shares, funds and indexes with invented names.
///
/// The first `specials` entries hold one of everything a feed must cope with, so that even a small
/// market shows all of it; the rest is drawn in about the proportions of the real one.
package struct InstrumentTable {
  private(set) var listings: [Listing] = []
  private(set) var traits: [Traits] = []

  private let seed: UInt64
  private let day: TradingDay
  private let stamps: SimulatedMarket.Stamps
  private let names = Names()
  private var random: Randomness
  private var stocks = 0
  private var funds = 0
  private var counters: [Segment: Int] = [:]

  /// Where a code comes from.
  enum Segment: CaseIterable {
    case shanghaiMain, star, shenzhenMain, chiNext, beijing, shanghaiFund, shenzhenFund
  }

  /// From this day on main-board ST shares have the 10 % band too, and the fixed-price session is
  /// for all shares and funds (SSE 上证发〔2026〕41号; docs/exchange-rules.md).
  private static let rulesOf2026 = TradingDay(year: 2026, month: 7, day: 6)

  /// One of every kind and every behaviour.
  static let specials: [(Segment, Behaviour)] = [
    (.shanghaiMain, .liquid), (.shenzhenMain, .liquid), (.star, .liquid), (.chiNext, .liquid),
    (.beijing, .liquid), (.shanghaiFund, .liquid), (.shenzhenFund, .liquid),
    (.shanghaiMain, .untraded), (.beijing, .untraded), (.shanghaiMain, .haltedAllDay),
    (.chiNext, .haltedAllDay), (.shenzhenMain, .haltedUnmarked), (.star, .haltedMidday),
    (.shenzhenMain, .haltedMidday), (.shanghaiMain, .haltedAtOpening),
    (.shanghaiMain, .lockedLimitUp), (.chiNext, .lockedLimitUp), (.shenzhenMain, .lockedLimitDown),
    (.beijing, .lockedLimitDown), (.shanghaiMain, .newListing), (.star, .newListing),
    (.shenzhenMain, .delisted), (.shanghaiMain, .notListed), (.shanghaiMain, .illiquid),
    (.shenzhenMain, .illiquid), (.star, .illiquid), (.chiNext, .illiquid), (.beijing, .illiquid),
    (.shanghaiFund, .illiquid), (.shenzhenFund, .active), (.shanghaiMain, .active),
    (.shenzhenMain, .active), (.star, .active), (.chiNext, .active), (.beijing, .active),
    (.shanghaiFund, .active),
  ]

  init(seed: UInt64, day: TradingDay, count: Int, stamps: SimulatedMarket.Stamps) {
    precondition(count > 0, "a market has at least one instrument")
    self.seed = seed
    self.day = day
    self.stamps = stamps
    random = Randomness(seed: seed, stream: UInt64.max)
    addIndexes()
    for (segment, behaviour) in InstrumentTable.specials { add(segment, behaviour: behaviour) }
    while listings.count < count { add(drawSegment(), behaviour: drawBehaviour()) }
    listings.removeLast(listings.count - count)
    traits.removeLast(traits.count - count)
  }

  private mutating func drawSegment() -> Segment {
    switch random.below(100) {
    case ..<31: .shanghaiMain
    case ..<42: .star
    case ..<67: .shenzhenMain
    case ..<90: .chiNext
    case ..<95: .beijing
    case ..<98: .shanghaiFund
    default: .shenzhenFund
    }
  }

  private mutating func drawBehaviour() -> Behaviour {
    switch random.below(1000) {
    case ..<120: .liquid
    case ..<600: .active
    case ..<935: .illiquid
    case ..<950: .untraded
    case ..<958: .haltedAllDay
    case ..<965: .haltedUnmarked
    case ..<975: .haltedMidday
    case ..<978: .haltedAtOpening
    case ..<988: .lockedLimitUp
    case ..<996: .lockedLimitDown
    case ..<998: .newListing
    default: .active
    }
  }
}

/// Codes and names.
extension InstrumentTable {
  /// Codes run upwards inside a segment, in the ranges the exchanges use.
  private mutating func nextCode(_ segment: Segment) -> String {
    let number = counters[segment, default: 0]
    counters[segment] = number + 1
    switch segment {
    case .shanghaiMain:
      return "sh"
        + String([600_000, 601_000, 603_000, 605_000][min(number / 999, 3)] + number % 999)
    case .star: return "sh" + String(688_001 + number)
    case .shenzhenMain:
      return "sz" + padded([1, 1001, 2001, 3001][min(number / 900, 3)] + number % 900)
    case .chiNext: return "sz" + String([300_001, 301_001][min(number / 990, 1)] + number % 990)
    case .beijing: return "bj" + String(920_000 + number)
    case .shanghaiFund: return "sh" + String(510_010 + 10 * number)
    case .shenzhenFund: return "sz" + String(159_001 + number)
    }
  }

  private func padded(_ code: Int) -> String {
    let digits = String(code)
    return String(repeating: "0", count: 6 - digits.utf8.count) + digits
  }

  private mutating func nextName(_ segment: Segment, behaviour: Behaviour) -> [UInt8] {
    if segment == .shanghaiFund || segment == .shenzhenFund {
      funds += 1
      return names.fund(funds - 1)
    }
    stocks += 1
    let name = names.stock(stocks - 1)
    return behaviour == .newListing ? [UInt8(ascii: "N")] + name : name
  }

  private static func symbol(_ text: String) -> Symbol {
    guard let symbol = Symbol(text) else { preconditionFailure("not a symbol: \(text)") }
    return symbol
  }
}

/// One instrument.
extension InstrumentTable {
  private mutating func addIndexes() {
    addIndex("sh000001", exchange: .shanghai, name: names.shanghaiIndex, level: 39_565_710)
    addIndex("sz399001", exchange: .shenzhen, name: names.shenzhenIndex, level: 12_104_350)
    addIndex("sh000300", exchange: .shanghai, name: names.otherIndexes[0], level: 45_918_020)
    addIndex("sz399006", exchange: .shenzhen, name: names.otherIndexes[2], level: 2_604_118)
  }

  private mutating func addIndex(
    _ code: String, exchange: Exchange, name: [UInt8], level: Int64
  ) {
    let scale: UInt8 = exchange == .shanghai ? 4 : 3
    append(
      symbol: InstrumentTable.symbol(code), name: name,
      traits: Traits(
        exchange: exchange, kind: .index, board: .main, behaviour: .index, scale: scale,
        afterHours: false, tick: 1, previousClose: level,
        pace: Traits.Pace(tradeChancePerMille: 1000)))
  }

  private mutating func add(_ segment: Segment, behaviour: Behaviour) {
    let name = nextName(segment, behaviour: behaviour)
    var traits = base(segment, behaviour: behaviour)
    setPrices(&traits, isSpecialTreatment: InstrumentTable.isSpecialTreatment(name))
    InstrumentTable.setPace(&traits, using: &random)
    InstrumentTable.setHalts(&traits, using: &random)
    append(symbol: InstrumentTable.symbol(nextCode(segment)), name: name, traits: traits)
  }

  private mutating func append(symbol: Symbol, name: [UInt8], traits: Traits) {
    var traits = traits
    if stamps == .own, !traits.isIndex {
      traits.phase = phase(of: symbol)
      traits.keptStampsPerMille = InstrumentTable.keptStampsPerMille
    }
    self.traits.append(traits)
    listings.append(Listing(symbol: symbol, name: name, traits: traits))
  }

  /// 116 of 73,292 recorded rows had the stamp of the row before and more volume.
  private static let keptStampsPerMille: Int64 = 2

  /// An instrument keeps its phase from day to day.
  private func phase(of symbol: Symbol) -> Int32 {
    var random = Randomness(seed: seed, stream: symbol.low)
    return Int32(random.below(Int64(Grid.periodSeconds)))
  }

  package static func isSpecialTreatment(_ name: [UInt8]) -> Bool {
    name.starts(with: "ST".utf8) || name.starts(with: "*ST".utf8)
  }

  private func base(_ segment: Segment, behaviour: Behaviour) -> Traits {
    let isFund = segment == .shanghaiFund || segment == .shenzhenFund
    let sinceRules = InstrumentTable.rulesOf2026.map { day >= $0 } ?? true
    var traits = Traits(
      exchange: .shanghai, kind: isFund ? .fund : .stock, board: .main, behaviour: behaviour,
      scale: 3, afterHours: sinceRules, tick: isFund ? 1 : 10, previousClose: 0)
    switch segment {
    case .shanghaiMain, .shanghaiFund: break
    case .star:
      traits.board = .star
      traits.afterHours = true
      traits.order.minimum = 200
      traits.order.step = 1
    case .shenzhenMain, .shenzhenFund: traits.exchange = .shenzhen
    case .chiNext:
      traits.exchange = .shenzhen
      traits.board = .chiNext
      traits.afterHours = true
    case .beijing:
      traits.exchange = .beijing
      traits.board = .beijing
      traits.afterHours = false
      traits.order.step = 1
    }
    return traits
  }

  private mutating func setPrices(_ traits: inout Traits, isSpecialTreatment: Bool) {
    let isFund = traits.kind == .fund
    let yuan = isFund ? 500 + random.below(5000) : drawPrice()
    let spread = isFund ? 0 : random.below(yuan)
    traits.previousClose = traits.onTick(yuan + spread)
    // A fund has its limits from the first day on.
    if traits.behaviour == .newListing, !isFund { return }
    InstrumentTable.setLimits(&traits, isSpecialTreatment: isSpecialTreatment, on: day)
  }

  private mutating func drawPrice() -> Int64 {
    switch random.below(100) {
    case ..<30: 3_000
    case ..<60: 9_000
    case ..<88: 28_000
    case ..<99: 90_000
    default: 1_700_000
    }
  }
}

/// What a day makes of an instrument: drawn for the first day by the roster, for each later one by
/// the day before it.
extension InstrumentTable {
  package static func setLimits(
    _ traits: inout Traits, isSpecialTreatment: Bool, on day: TradingDay
  ) {
    var percent: Int64 = 10
    switch traits.board {
    case .star, .chiNext: percent = 20
    case .beijing: percent = 30
    case .main:
      let isOld = InstrumentTable.rulesOf2026.map { day < $0 } ?? false
      if isSpecialTreatment, isOld { percent = 5 }
    }
    traits.limits.up = limit(traits, percent: 100 + percent)
    traits.limits.down = limit(traits, percent: 100 - percent)
  }

  /// Previous close × percent, rounded half up to the tick, in integers.
  private static func limit(_ traits: Traits, percent: Int64) -> Int64 {
    let numerator = traits.previousClose * percent
    let denominator = 100 * traits.tick
    return (2 * numerator + denominator) / (2 * denominator) * traits.tick
  }

  package static func setPace(_ traits: inout Traits, using random: inout Randomness) {
    switch traits.behaviour {
    case .liquid, .index:
      (traits.pace.gapSteps, traits.pace.tradeChancePerMille, traits.pace.sizeSteps) = (1, 950, 60)
    case .active, .lockedLimitUp, .lockedLimitDown, .newListing, .haltedMidday:
      traits.pace.gapSteps = 3 + random.below(6)
      (traits.pace.tradeChancePerMille, traits.pace.sizeSteps) = (700, 20)
    case .illiquid, .haltedAtOpening:
      traits.pace.gapSteps = 20 + random.below(60)
      (traits.pace.tradeChancePerMille, traits.pace.sizeSteps) = (350, 5)
    case .untraded, .haltedAllDay, .haltedUnmarked, .delisted, .notListed:
      traits.pace.gapSteps = 60
    }
    if traits.order.step == 1 { traits.pace.sizeSteps *= 100 }
  }

  /// Halts begin and end at half past a minute; one that would end after 14:50 does not end.
  package static func setHalts(_ traits: inout Traits, using random: inout Randomness) {
    switch traits.behaviour {
    case .haltedAtOpening:
      traits.halt.from = Int32(Grid.morningOpen)
      traits.halt.to = Int32(Grid.clock(10, 30, 30))
    case .haltedMidday:
      let isMorning = random.chance(perMille: 500)
      let start = isMorning ? Grid.clock(9, 45, 30) : Grid.clock(13, 5, 30)
      let halt = start + 60 * Int(random.below(80))
      var resume = halt + 600 + 60 * Int(random.below(60))
      if isMorning, resume > Grid.clock(11, 25) { resume = Grid.clock(13, 10, 30) }
      if resume > Grid.clock(14, 50) { resume = Grid.dayEnd }
      traits.halt.from = Int32(halt)
      traits.halt.to = Int32(resume)
    default: break
    }
  }
}
