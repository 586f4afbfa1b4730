import Market
import TestSupport

/// The exchange of the trial of ten years: twenty instruments whose trades are drawn day by day, so
/// that thousands of days cost seconds. What happened to real ones happens to them, on its day, by
/// `DecadeEvent`.
///
/// Each instrument trades once in each `printSeconds`, and in both auctions. Whoever looks in
/// between sees every trade with its own stamp, so the minutes that must be stored are known.
struct DecadeMarket: Sendable {
  struct Print: Sendable {
    var second: Int
    /// In thousandths.
    var price: Int64
    /// All of the day so far, in shares and in thousandths.
    var volume: Int64
    var turnover: Int64
    var high: Int64
    var low: Int64
    /// Of this one alone.
    var shares: Int64
  }

  /// What a line shows.
  struct Shown: Sendable {
    var day: TradingDay
    var second = 9 * 3600
    var previousClose: Int64
    var open: Int64 = 0
    var print = Print(
      second: 0, price: 0, volume: 0, turnover: 0, high: 0, low: 0, shares: 0)
  }

  struct Instrument: Sendable {
    enum Kind: Sendable { case index, share, fund }

    let symbol: Symbol
    var name: String
    var kind = Kind.share
    /// The last close of a day that traded, and what the exchange shows as the previous one.
    var close: Int64
    var reference: Int64
    var isSuspended = false
    var prints: [Print] = []
    /// The last line of the day before.
    var former: Shown
    /// Of its factor files: the day, what a unit's price is divided by, cash and split so far.
    var factors: [Factor] = []

    var tick: Int64 { kind == .fund ? 1 : 10 }
  }

  struct Factor: Sendable {
    var day: TradingDay
    /// Close over reference, unrounded, in units of 10⁻¹².
    var step: Int64
    var cash: Int64 = 0
    var split: Int64 = 1_000
  }

  let seed: UInt64
  private(set) var day: TradingDay
  private(set) var isOpen = false
  var instruments: [Symbol: Instrument] = [:]
  var symbols: [Symbol] { instruments.keys.sorted() }
  private(set) var plan = DecadePlan(TradingDay(daysSince1970: 0))

  static let index = symbol("sh000001")

  static func symbol(_ text: String) -> Symbol {
    guard let symbol = Symbol(text) else { preconditionFailure("\(text) is no symbol") }
    return symbol
  }

  private static let shares = [
    "sh600000", "sh600018", "sh600087", "sh600150", "sh600837", "sh601009", "sh601211", "sh601989",
    "sh688001", "sz000002", "sz000004", "sz000022", "sz000043", "sz300114", "sz300277", "bj830799",
    "bj833819",
  ]
  static let funds = ["sh510050", "sz159939", "sh510310"].map(symbol)

  init(seed: UInt64, before day: TradingDay) {
    self.seed = seed
    self.day = day
    add(Self.index, kind: .index, close: 3_000_000)
    for (place, text) in Self.shares.enumerated() {
      add(Self.symbol(text), close: Int64(8_000 + 1_370 * place) / 10 * 10)
    }
    for fund in Self.funds { add(fund, kind: .fund, close: 2_700) }
  }

  mutating func add(
    _ symbol: Symbol, named name: String? = nil, kind: Instrument.Kind = .share, close: Int64
  ) {
    let former = Shown(
      day: day, second: 15 * 3600, previousClose: close, open: close,
      print: Print(
        second: 15 * 3600, price: close, volume: 100, turnover: close * 100, high: close,
        low: close, shares: 100))
    instruments[symbol] = Instrument(
      symbol: symbol, name: name ?? "D\(symbol.description.dropFirst(2))", kind: kind,
      close: close, reference: close, former: former)
  }

  /// The symbol of an instrument becomes another one, whose history it has.
  mutating func rename(_ old: String, to new: String) {
    guard var instrument = instruments.removeValue(forKey: Self.symbol(old)) else { return }
    let symbol = Self.symbol(new)
    instrument = Instrument(
      symbol: symbol, name: instrument.name, kind: instrument.kind, close: instrument.close,
      reference: instrument.reference, former: instrument.former, factors: instrument.factors)
    instruments[symbol] = instrument
  }

  mutating func change(_ text: String, _ body: (inout Instrument) -> Void) {
    guard var instrument = instruments.removeValue(forKey: Self.symbol(text)) else { return }
    body(&instrument)
    instruments[instrument.symbol] = instrument
  }
}

// MARK: - A day

extension DecadeMarket {
  /// The day is over: what is shown until the next one begins.
  private mutating func close() {
    guard isOpen else { return }
    for symbol in symbols {
      guard var instrument = instruments[symbol] else { continue }
      instrument.former = shown(instrument, at: Self.lastStamp)
      if let last = instrument.prints.last { instrument.close = last.price }
      instrument.reference = instrument.close
      instrument.prints = []
      instruments[symbol] = instrument
    }
    isOpen = false
  }

  /// Draws a day. What its events do to instruments happens before its first line.
  mutating func begin(_ plan: DecadePlan) {
    close()
    for event in plan.changes { event(&self) }
    self.plan = plan
    guard plan.trades else { return }
    day = plan.day
    isOpen = true
    for symbol in symbols {
      guard var instrument = instruments[symbol], !instrument.isSuspended else { continue }
      instrument.prints = prints(of: instrument)
      instruments[symbol] = instrument
    }
  }

  private func prints(of instrument: Instrument) -> [Print] {
    var random = SplitMix(
      seed: seed &+ UInt64(truncatingIfNeeded: instrument.symbol.hashOfText)
        &+ UInt64(day.daysSince1970) &* 0x9E37_79B9)
    let tick = instrument.tick
    // Of both, turnover is whole yuan.
    let lot: Int64 = instrument.kind == .fund ? 1_000 : 100
    let most = max(instrument.reference / 100 / tick, 1)
    // Ten years of chance must not end at a tick, nor at a million.
    let pull: Int64 = instrument.reference < 3_000 ? 1 : instrument.reference > 60_000 ? -1 : 0
    // The opening auction's.
    var prints = [Print(after: nil, 9 * 3600 + 1_500, instrument.reference, 2 * lot)]
    for span in plan.spans {
      for start in stride(from: span.lowerBound, to: span.upperBound, by: plan.printSeconds) {
        guard start + plan.printSeconds <= span.upperBound else { break }
        // How late a row comes is learnt from its stamp: just before the sweep.
        let late = Int.random(in: 1..<min(plan.printSeconds, 12), using: &random)
        let second = start + plan.printSeconds - late
        if let still = plan.still, still.contains(second) { continue }
        let moved = Int64.random(in: -most...most, using: &random) + pull
        let shares = lot * Int64.random(in: 1...90, using: &random)
        let price = instrument.reference + moved * tick
        prints.append(Print(after: prints.last, second, price, shares))
      }
    }
    if let last = prints.last, plan.hasClose {
      prints.append(Print(after: last, 15 * 3600, last.price, 3 * lot))
    }
    return prints
  }

  /// What a line of an instrument says at a moment.
  func shown(_ symbol: Symbol, at moment: Timestamp) -> Shown? {
    instruments[symbol].map { instrument in
      guard isOpen, moment.shanghaiDay == day else { return instrument.former }
      return shown(instrument, at: moment.shanghaiSecondOfDay)
    }
  }

  private static let dayShown = 9 * 3600 + 180

  private func shown(_ instrument: Instrument, at second: Int) -> Shown {
    guard second >= Self.dayShown else { return instrument.former }
    var shown = Shown(day: day, previousClose: instrument.reference)
    let count = instrument.prints.partitioningIndex { $0.second > second }
    if count > 0 {
      shown.print = instrument.prints[count - 1]
      shown.open = instrument.prints[0].price
      shown.second = shown.print.second
    }
    if instrument.kind == .index { shown.second = indexStamp(at: second) }
    if second > Self.closingStamp, !instrument.symbol.description.hasPrefix("sh") {
      shown.second = min(second / 3 * 3, Self.lastStamp)
    }
    return shown
  }

  private static let closingStamp = 15 * 3600 + 3
  /// Shenzhen's and Beijing's stamps move on until then.
  private static let lastStamp = 15 * 3600 + 34 * 60

  /// Moves all day, but where nothing does.
  private func indexStamp(at second: Int) -> Int {
    var stamp = min(second / 3 * 3, Self.closingStamp)
    if (11 * 3600 + 1_803..<13 * 3600).contains(stamp) { stamp = 11 * 3600 + 1_803 }
    if !plan.hasClose, let last = plan.spans.last { stamp = min(stamp, last.upperBound) }
    if let still = plan.still, still.contains(stamp) { stamp = still.lowerBound }
    return stamp
  }

  /// The minutes in which an instrument traded, by the second at which they open: price and shares.
  func minutes(of symbol: Symbol) -> [Int: (close: Int64, shares: Int64)] {
    var minutes: [Int: (close: Int64, shares: Int64)] = [:]
    for print in instruments[symbol]?.prints ?? [] {
      // A stamp on the minute ends it; the auction is in the first.
      let opens = max((print.second - 1) / 60 * 60, 34_200)
      minutes[opens] = (print.price, (minutes[opens]?.shares ?? 0) + print.shares)
    }
    return minutes
  }
}

extension DecadeMarket.Print {
  fileprivate init(
    after last: DecadeMarket.Print?, _ second: Int, _ price: Int64, _ shares: Int64
  ) {
    self.init(
      second: second, price: price, volume: (last?.volume ?? 0) + shares,
      turnover: (last?.turnover ?? 0) + price * shares, high: max(last?.high ?? price, price),
      low: min(last?.low ?? price, price), shares: shares)
  }
}

extension Symbol {
  /// The same in every process.
  fileprivate var hashOfText: Int {
    description.utf8.reduce(5_381) { $0 &* 33 &+ Int($1) }
  }
}
