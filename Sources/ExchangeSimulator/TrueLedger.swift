import Market

/// What really traded, minute by minute: from the trades themselves, not from any line.
package struct TrueLedger: Sendable {
  /// One minute of one instrument; prices in units of its scale, money in thousandths. No trade:
  /// everything zero.
  struct Minute: Sendable, Hashable {
    var open: Int64 = 0
    var high: Int64 = 0
    var low: Int64 = 0
    var close: Int64 = 0
    var volume: Int64 = 0
    var turnover: Int64 = 0

    fileprivate mutating func enter(_ trade: Trade) {
      if volume == 0 {
        open = trade.price
        high = trade.price
        low = trade.price
      }
      high = max(high, trade.price)
      low = min(low, trade.price)
      close = trade.price
      volume += trade.size
      turnover += trade.amount
    }

    /// What traded in this interval and then in `later`.
    mutating func append(_ later: Minute) {
      if later.volume == 0 { return }
      if volume == 0 {
        self = later
        return
      }
      high = max(high, later.high)
      low = min(low, later.low)
      close = later.close
      volume += later.volume
      turnover += later.turnover
    }
  }

  static let minutesPerDay = 240

  package let day: TradingDay
  let symbols: [Symbol]
  let scales: [UInt8]
  /// Previous closes of the day, in units of each one's scale.
  let references: [Int64]
  /// Instrument-major: 240 for each.
  private(set) var minutes: [Minute]
  private(set) var afterHours: [Minute]
  /// Of the day and of no minute, by instrument.
  private var takenBack: [Int32: (volume: Int64, turnover: Int64)] = [:]

  /// Of a day in which nothing has happened yet.
  init(_ market: SimulatedMarket) {
    day = market.day
    symbols = market.symbols
    scales = market.traits.map(\.scale)
    references = market.traits.map(\.previousClose)
    minutes = Array(repeating: Minute(), count: symbols.count * TrueLedger.minutesPerDay)
    afterHours = Array(repeating: Minute(), count: symbols.count)
  }

  mutating func takeBack(_ busts: [Bust]) {
    for bust in busts {
      takenBack[bust.place, default: (0, 0)].volume += bust.volume
      takenBack[bust.place, default: (0, 0)].turnover += bust.turnover
    }
  }

  mutating func add(_ trades: [Trade]) {
    for trade in trades {
      if trade.isAfterHours {
        afterHours[Int(trade.instrument)].enter(trade)
      } else {
        let place =
          Int(trade.instrument) * TrueLedger.minutesPerDay
          + TrueLedger.minute(ofMillisecond: Int(trade.millisecond))
        minutes[place].enter(trade)
      }
    }
  }

  /// The 240 minutes of one instrument.
  func minutes(at place: Int) -> ArraySlice<Minute> {
    minutes[place * TrueLedger.minutesPerDay..<(place + 1) * TrueLedger.minutesPerDay]
  }

  /// Left-open, right-closed; the opening auction in minute 0, prints after a close in the last
  /// minute before it.
  static func minute(ofMillisecond millisecond: Int) -> Int {
    let isMorning = millisecond < Grid.afternoonOpen * 1000
    let open = isMorning ? Grid.morningOpen : Grid.afternoonOpen
    let minute = (millisecond - open * 1000 - 1) / 60_000
    let half = minutesPerDay / 2
    return min(max(minute, 0), half - 1) + (isMorning ? 0 : half)
  }
}

/// Looking things up.
extension TrueLedger {
  /// Volume (shares) and turnover of one minute 0…239; nil for a symbol that is not listed.
  package func totals(of symbol: Symbol, minute: Int) -> (
    volume: ExactDecimal, turnover: ExactDecimal
  )? {
    guard let place = symbols.firstIndex(of: symbol) else { return nil }
    let found = minutes[place * TrueLedger.minutesPerDay + minute]
    return (ExactDecimal(found.volume), ExactDecimal(units: found.turnover, scale: 3))
  }

  /// What the whole day traded, without the session after the close, and without what the exchange
  /// took back.
  package func totals(of symbol: Symbol) -> (volume: ExactDecimal, turnover: ExactDecimal)? {
    guard let place = symbols.firstIndex(of: symbol) else { return nil }
    let taken = takenBack[Int32(place)] ?? (0, 0)
    var volume = -taken.volume
    var turnover = -taken.turnover
    for minute in 0..<TrueLedger.minutesPerDay {
      volume += minutes[place * TrueLedger.minutesPerDay + minute].volume
      turnover += minutes[place * TrueLedger.minutesPerDay + minute].turnover
    }
    return (ExactDecimal(volume), ExactDecimal(units: turnover, scale: 3))
  }
}
