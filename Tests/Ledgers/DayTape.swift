import ExchangeSimulator
import Market

/// Every state an instrument's line had during the day, in order.
///
/// One array an instrument, 40 bytes a change: some seven million changes of a whole market are
/// 300 MB.
struct DayTape {
  struct Frame {
    var stamp: Int32
    var last: Int32
    var high: Int32
    var low: Int32
    var volume: Int64
    var turnover: Int64
    /// Whether the line said that trading is suspended, or that there is no such instrument.
    var suspension: Suspension
    /// The second the line began to look like this.
    var shownAt: Int32
  }

  enum Suspension: UInt8 {
    case none, halted, unlisted
  }

  struct AfterHoursFrame {
    var stamp: Int32
    var volume: Int64
    var turnover: Int64
  }

  let day: TradingDay
  let symbols: [Symbol]
  let scales: [UInt8]
  let traits: [Traits]
  /// Today's previous close, in units of the instrument's scale.
  let references: [Int64]
  private(set) var opens: [Int64]
  private(set) var frames: [[Frame]]
  private(set) var afterHours: [[AfterHoursFrame]]

  init(_ market: SimulatedMarket) {
    day = market.day
    symbols = market.symbols
    scales = market.traits.map(\.scale)
    traits = market.traits
    references = market.traits.map(\.previousClose)
    opens = Array(repeating: 0, count: market.symbols.count)
    frames = Array(repeating: [], count: market.symbols.count)
    afterHours = Array(repeating: [], count: market.symbols.count)
  }

  mutating func add(_ market: SimulatedMarket) {
    for place in market.events.changed {
      let state = market.states[Int(place)]
      opens[Int(place)] = state.open
      frames[Int(place)].append(
        Frame(
          stamp: state.stamp, last: Int32(state.last), high: Int32(state.high),
          low: Int32(state.low), volume: state.volume, turnover: state.turnover,
          suspension: DayTape.suspension(state), shownAt: Int32(market.second)))
      if state.afterHours.isShown {
        afterHours[Int(place)].append(
          AfterHoursFrame(
            stamp: state.stamp, volume: state.afterHours.volume,
            turnover: state.afterHours.turnover))
      }
    }
  }

  /// From what the line shows, by docs/sources/sina.md#status: a status counts only without a book,
  /// all zeros after the opening mean a halt, and zeros with no previous close mean no instrument.
  private static func suspension(_ state: InstrumentState) -> Suspension {
    if state.status == .notListed || state.status == .delisted { return .unlisted }
    if state.book.bid != 0 || state.book.ask != 0 { return .none }
    switch state.status {
    case .haltedOneHour, .halted, .haltedAllDay, .haltedTemporarily, .haltedHalfDay, .paused:
      return .halted
    default:
      return state.last == 0 && Int(state.stamp) >= Grid.morningOpen ? .halted : .none
    }
  }

  /// Whether an instrument's volume ever fell.
  func hasTakenBack(_ place: Int) -> Bool {
    zip(frames[place], frames[place].dropFirst()).contains { $1.volume < $0.volume }
  }

  /// The place of the state shown at `second` in an instrument's frames; -1 if there was none yet.
  static func place(in frames: [Frame], at second: Int32, near start: Int) -> Int {
    var place = min(max(start, -1), frames.count - 1)
    while place >= 0, frames[place].shownAt > second { place -= 1 }
    while place + 1 < frames.count, frames[place + 1].shownAt <= second { place += 1 }
    return place
  }
}

/// A running hash (FNV-like, 64 bits) over every change of a day.
struct DayDigest {
  private(set) var value: UInt64

  init(seed: UInt64) { value = Randomness.mixed(seed) }

  mutating func add(_ market: SimulatedMarket) {
    for place in market.events.changed {
      let state = market.states[Int(place)]
      mix(UInt64(place) << 32 | UInt64(state.stamp))
      mix(UInt64(state.last))
      mix(UInt64(state.volume))
      mix(UInt64(state.turnover))
      mix(state.book.seed)
      mix(UInt64(state.afterHours.volume))
    }
  }

  private mutating func mix(_ word: UInt64) {
    value = (value ^ word) &* 0x0000_0100_0000_01B3
    value ^= value >> 29
  }
}
