import ExchangeSimulator
import Market

/// One line while it is written, group by group of fields; each writes its own separators behind.
struct TencentLine {
  /// Field 40.
  enum Letter {
    case trading, halted, delisted, unlisted
  }

  var text = LineWriter(bytesTypical: TencentLineWriter.lineBytesTypical)
  let state: InstrumentState
  let traits: Traits
  let profile: TencentProfile
  let letter: Letter
  /// Decimals of prices.
  private let digits: Int
  /// A price's last digit, in units of the state's.
  private let unit: Int64

  init(state: InstrumentState, traits: Traits, profile: TencentProfile) {
    self.state = state
    self.traits = traits
    self.profile = profile
    letter = TencentLine.letter(of: state, traits)
    digits = traits.kind == .fund ? 3 : 2
    unit = traits.kind == .fund ? 1 : traits.isShanghaiIndex ? 100 : 10
  }

  private static func letter(of state: InstrumentState, _ traits: Traits) -> Letter {
    switch state.status {
    case .delisted: return .delisted
    case .notListed, .noRecord: return .unlisted
    case .haltedOneHour, .halted, .haltedAllDay, .haltedTemporarily, .haltedHalfDay, .paused:
      return .halted
    case .normal, .unknown:
      let isHalted = traits.behaviour == .haltedUnmarked && !state.isPreviousSession
      return isHalted ? .halted : .trading
    }
  }

  /// In units of the line's last digit.
  private func shown(_ price: Int64) -> Int64 { RefreshedLines.nearest(price, unit: unit) }

  private var previousClose: Int64 {
    switch letter {
    case .delisted: shown(traits.previousClose)
    case .unlisted: 0
    case .trading, .halted: shown(state.reference)
    }
  }

  /// The last trade's; in the opening auction that of the virtual match; else the previous close.
  private var last: Int64 {
    if state.volume > 0 { return shown(state.last) }
    let isMatching = state.book.kind == .auction && state.book.bid > 0
    return isMatching ? shown(state.book.bid) : previousClose
  }

  /// Lots, or shares on the STAR market.
  private var volume: Int64 { RefreshedLines.lots(state.volume, traits) }
  private var yuan: Int64 { RefreshedLines.yuan(state.turnover) }

  private mutating func separate() { text.write(TencentLineWriter.separator) }

  private mutating func write(price: Int64) { write(price, digits: digits) }

  private mutating func write(whole: Int64) {
    text.write(whole: whole)
    separate()
  }

  private mutating func write(_ units: Int64, digits: Int) {
    text.write(units: units, digits: digits)
    separate()
  }

  private mutating func write(empty count: Int) { for _ in 0..<count { separate() } }

  private static func percent(_ part: Int64, of whole: Int64) -> Int64 {
    whole > 0 ? (abs(part) * 20_000 + whole) / (2 * whole) * part.signum() : 0
  }
}

extension TencentLine {
  /// Fields 3…8.
  mutating func writePrices() {
    write(price: last)
    write(price: previousClose)
    write(price: state.hidesOpen || state.volume == 0 ? 0 : shown(state.open))
    write(whole: volume)
    // Outer and inner: together one short of the volume, as they are in a session.
    let outer = traits.isIndex ? 0 : volume * 53 / 100
    write(whole: outer)
    write(whole: traits.isIndex ? 0 : max(volume - outer - 1, 0))
  }

  /// Fields 9…29: price first, whole lots everywhere.
  mutating func writeBook() {
    let levels = state.levels(traits)
    for place in levels.indices {
      write(price: shown(levels[place].price))
      write(whole: levels[place].volume / 100)
    }
    separate()
  }

  /// Field 30.
  mutating func writeStamp(date: [UInt8], second: Int) {
    text.write(date)
    text.write(compactClock: second)
    separate()
  }

  /// Fields 31…39.
  mutating func writeTotals() {
    let change = last - previousClose
    write(price: change)
    write(TencentLine.percent(change, of: previousClose), digits: 2)
    writeRange()
    text.write(units: last, digits: digits)
    text.write("/")
    text.write(whole: volume)
    text.write("/")
    write(whole: yuan)
    write(whole: volume)
    if traits.exchange == .beijing {
      write(RefreshedLines.nearest(yuan, unit: 100), digits: 2)
    } else {
      write(whole: RefreshedLines.nearest(yuan, unit: 10_000))
    }
    if letter == .unlisted {
      separate()
    } else {
      write(TencentLine.percent(state.volume, of: profile.shares), digits: 2)
    }
    if traits.kind != .fund { text.write("19.57") }
    separate()
  }

  /// High and low: fields 33 and 34, and again 41 and 42.
  private mutating func writeRange() {
    let hasTraded = state.volume > 0
    write(price: hasTraded ? shown(state.high) : 0)
    write(price: hasTraded ? shown(state.low) : 0)
  }

  /// Fields 40…56.
  mutating func writeLimits() {
    switch letter {
    case .trading: break
    case .halted: text.write("S")
    case .delisted: text.write("D")
    case .unlisted: text.write("U")
    }
    separate()
    writeRange()
    let range = state.volume > 0 ? shown(state.high) - shown(state.low) : 0
    write(TencentLine.percent(range, of: previousClose), digits: 2)
    // 亿: shares × price / 10^8, with two decimals.
    let capital =
      profile.shares / 10_000 * last / (traits.kind == .fund ? 100_000 : 10_000)
    if letter == .unlisted { separate() } else { write(capital, digits: 2) }
    write(capital, digits: 2)
    text.write("1.49")
    separate()
    writeStatedLimits()
    text.write(state.volume > 0 ? "0.91" : "0.00")
    separate()
    writeImbalance(inPercent: false)
    write(price: state.volume > 0 && !traits.isIndex ? averagePrice : 0)
    if traits.kind == .stock {
      text.write("6.81~6.93~~~0.08~")
    } else {
      write(empty: 5)
    }
  }

  private var averagePrice: Int64 { shown(state.turnover / max(state.volume, 1)) }

  /// Fields 47 and 48.
  private mutating func writeStatedLimits() {
    if letter == .unlisted { return text.write("0.00~0.00~") }
    guard letter != .delisted, traits.limits.up > 0 else { return text.write("-1~-1~") }
    for limit in [traits.limits.up, traits.limits.down] {
      // Those of the session before stood around another previous close.
      let own = state.isPreviousSession ? limit * state.reference / traits.previousClose : limit
      write(price: shown(own - own % traits.tick))
    }
  }

  /// Fields 50 and 74: what is wanted more than offered, in lots or in percent of both.
  private mutating func writeImbalance(inPercent: Bool) {
    let levels = state.levels(traits)
    var (wanted, offered): (Int64, Int64) = (0, 0)
    for place in levels.indices {
      if place < 5 { wanted += levels[place].volume / 100 }
      if place >= 5 { offered += levels[place].volume / 100 }
    }
    if inPercent {
      write(TencentLine.percent(wanted - offered, of: wanted + offered), digits: 2)
    } else {
      write(wanted - offered, digits: 0)
    }
  }

  /// Fields 57…87.
  mutating func writeRest() {
    write(yuan, digits: 4)
    write(RefreshedLines.yuan(state.afterHours.turnover), digits: 4)
    write(whole: RefreshedLines.lots(state.afterHours.volume, traits))
    text.write(profile.flags)
    separate()
    text.write(profile.type)
    separate()
    text.write(profile.returns)
    write(price: last * 12 / 10)
    write(price: last * 8 / 10)
    text.write("-1.71~-4.98~7.43~")
    write(whole: profile.shares)
    if !traits.isIndex { text.write(whole: profile.shares) }
    separate()
    writeImbalance(inPercent: true)
    text.write("-6.92~")
    text.write(whole: profile.shares)
    text.write(profile.tail)
    write(price: last)
    text.write(traits.board == .star ? "-31~100" : "-31~")
    text.write("\";\n")
  }
}

extension LineWriter {
  private static let powers: [Int64] = [1, 10, 100, 1000, 10_000]

  /// A number with so many decimals, which may be negative.
  fileprivate mutating func write(units: Int64, digits: Int) {
    if units < 0 { write(UInt8(ascii: "-")) }
    let scale = LineWriter.powers[digits]
    write(whole: abs(units) / scale)
    if digits > 0 { write(fraction: abs(units) % scale, digits: digits) }
  }

  /// `HHMMSS`.
  fileprivate mutating func write(compactClock second: Int) {
    write(pair: second / 3600)
    write(pair: second / 60 % 60)
    write(pair: second % 60)
  }
}
