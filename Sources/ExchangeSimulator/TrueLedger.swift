import Market

/// What really traded, minute by minute: from the trades themselves, not from any line.
public struct TrueLedger: Sendable {
  /// One minute of one instrument; prices in units of its scale, money in thousandths. No trade:
  /// everything zero.
  struct Minute: Sendable {
    var open: Int64 = 0
    var high: Int64 = 0
    var low: Int64 = 0
    var close: Int64 = 0
    var volume: Int64 = 0
    var turnover: Int64 = 0
  }

  static let minutesPerDay = 240

  public let day: TradingDay
  let symbols: [Symbol]
  let scales: [UInt8]
  /// Instrument-major: 240 for each.
  let minutes: [Minute]
  let afterHours: [Minute]

  /// Gathers trades while the day runs.
  final class Builder {
    private let market: SimulatedMarket
    private var minutes: [Minute]
    private var afterHours: [Minute]

    init(_ market: SimulatedMarket) {
      self.market = market.withoutLines()
      minutes = Array(
        repeating: Minute(), count: market.symbols.count * TrueLedger.minutesPerDay)
      afterHours = Array(repeating: Minute(), count: market.symbols.count)
    }

    func add(_ trades: [Trade]) {
      for trade in trades {
        if trade.isAfterHours {
          Builder.enter(trade, into: &afterHours[Int(trade.instrument)])
        } else {
          let place =
            Int(trade.instrument) * TrueLedger.minutesPerDay
            + TrueLedger.minute(ofMillisecond: Int(trade.millisecond))
          Builder.enter(trade, into: &minutes[place])
        }
      }
    }

    private static func enter(_ trade: Trade, into minute: inout Minute) {
      if minute.volume == 0 {
        minute.open = trade.price
        minute.high = trade.price
        minute.low = trade.price
      }
      minute.high = max(minute.high, trade.price)
      minute.low = min(minute.low, trade.price)
      minute.close = trade.price
      minute.volume += trade.size
      minute.turnover += trade.amount
    }

    func ledger() -> TrueLedger {
      TrueLedger(
        day: market.day, symbols: market.symbols, scales: market.traits.map(\.scale),
        minutes: minutes, afterHours: afterHours)
    }
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
  public func totals(of symbol: Symbol, minute: Int) -> (
    volume: ExactDecimal, turnover: ExactDecimal
  )? {
    guard let place = symbols.firstIndex(of: symbol) else { return nil }
    let found = minutes[place * TrueLedger.minutesPerDay + minute]
    return (ExactDecimal(found.volume), ExactDecimal(units: found.turnover, scale: 3))
  }

  /// What the whole day traded, without the session after the close.
  public func totals(of symbol: Symbol) -> (volume: ExactDecimal, turnover: ExactDecimal)? {
    guard let place = symbols.firstIndex(of: symbol) else { return nil }
    var volume: Int64 = 0
    var turnover: Int64 = 0
    for minute in 0..<TrueLedger.minutesPerDay {
      volume += minutes[place * TrueLedger.minutesPerDay + minute].volume
      turnover += minutes[place * TrueLedger.minutesPerDay + minute].turnover
    }
    return (ExactDecimal(volume), ExactDecimal(units: turnover, scale: 3))
  }
}
