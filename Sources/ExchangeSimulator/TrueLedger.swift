import Market

/// What really traded, minute by minute: from the trades themselves, not from any line.
package struct TrueLedger: Sendable {
  /// One minute of one instrument; prices in units of its scale, money in thousandths. No trade:
  /// everything zero.
  package struct Minute: Sendable, Hashable {
    package var open: Int64
    package var high: Int64
    package var low: Int64
    package var close: Int64
    package var volume: Int64
    package var turnover: Int64

    package init(
      open: Int64 = 0, high: Int64 = 0, low: Int64 = 0, close: Int64 = 0, volume: Int64 = 0,
      turnover: Int64 = 0
    ) {
      (self.open, self.high, self.low, self.close) = (open, high, low, close)
      (self.volume, self.turnover) = (volume, turnover)
    }

    /// What traded in all of them, one after the other.
    init(_ minutes: some Sequence<Minute>) {
      self.init()
      for minute in minutes { append(minute) }
    }

    fileprivate mutating func enter(_ trade: Trade) {
      append(
        Minute(
          open: trade.price, high: trade.price, low: trade.price, close: trade.price,
          volume: trade.size, turnover: trade.amount))
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

  package static let minutesPerDay = 240

  package let day: TradingDay
  package let symbols: [Symbol]
  package let scales: [UInt8]
  /// Previous closes of the day, in units of each one's scale.
  package let references: [Int64]
  /// Instrument-major: 240 for each.
  package private(set) var minutes: [Minute]
  package private(set) var afterHours: [Minute]
  /// Of the day and of no minute, by instrument.
  package var takenBack: [Int32: (volume: Int64, turnover: Int64)] = [:]

  /// Of a day in which nothing has happened yet.
  package init(_ market: SimulatedMarket) {
    day = market.day
    symbols = market.symbols
    scales = market.traits.map(\.scale)
    references = market.traits.map(\.previousClose)
    minutes = Array(repeating: Minute(), count: symbols.count * TrueLedger.minutesPerDay)
    afterHours = Array(repeating: Minute(), count: symbols.count)
  }

  package mutating func add(_ trades: [Trade]) {
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
  package func minutes(at place: Int) -> ArraySlice<Minute> {
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
