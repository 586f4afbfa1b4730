/// The places of candles on the axis, and the times that are written below them. In a market of
/// fixed sessions each trading minute of a day has a place, whether or not a candle is there, and
/// breaks and nights have none. Elsewhere, and for days and longer, the places are the candles.

import Market

struct TimeAxis {
  /// By candle, ascending.
  let slots: [Int]
  let count: Int
  /// Whether what is written names the middle of a place, and not its beginning.
  let isCentred: Bool
  private let candles: [CandleRecord]
  private let zone: MarketZone
  private let sessions: Sessions?

  /// The axis of a market of fixed sessions.
  private struct Sessions {
    let hours: TradingHours
    let days: [TradingDay]
    let minutes: Int

    var slotsPerDay: Int { hours.minutesPerDay / minutes }

    /// How much of the day's places lies before a moment.
    func slot(before moment: Timestamp, on day: TradingDay, roundedUp: Bool) -> Int {
      let second = hours.clock.second(of: moment, on: day)
      let length = minutes * 60
      let seconds = hours.tradingSeconds(before: second) + (roundedUp ? length - 1 : 0)
      return seconds / length
    }
  }

  init(_ candles: [CandleRecord], timeframe: Timeframe, zone: MarketZone, isThinned: Bool) {
    self.candles = candles
    self.zone = zone
    let minutes = Int(timeframe.rawValue)
    isCentred = timeframe.rawValue >= Timeframe.day1.rawValue
    guard zone == .shanghai, timeframe.rawValue <= Timeframe.hour1.rawValue, !isThinned else {
      sessions = nil
      slots = Array(candles.indices)
      count = candles.count
      return
    }
    var days: [TradingDay] = []
    for candle in candles where candle.tradingDay != days.last { days.append(candle.tradingDay) }
    let sessions = Sessions(hours: .mainlandChina, days: days, minutes: minutes)
    var (slots, place) = ([Int](), 0)
    slots.reserveCapacity(candles.count)
    for candle in candles {
      if candle.tradingDay != days[place] { place += 1 }
      let slot = sessions.slot(before: candle.openedAt, on: candle.tradingDay, roundedUp: false)
      slots.append(place * sessions.slotsPerDay + min(slot, sessions.slotsPerDay - 1))
    }
    self.slots = slots
    self.sessions = sessions
    count = days.count * sessions.slotsPerDay
  }

  /// The places that a gap covers; nil where it has none.
  func slots(of gap: Gap) -> Range<Int>? {
    if let sessions {
      guard let place = sessions.days.firstIndex(of: gap.tradingDay) else { return nil }
      let last = sessions.slotsPerDay - 1
      let first = sessions.slot(before: gap.from, on: gap.tradingDay, roundedUp: false)
      let end = sessions.slot(before: gap.to, on: gap.tradingDay, roundedUp: true)
      let before = place * sessions.slotsPerDay
      return before + min(first, last)..<before + max(min(first, last) + 1, end)
    }
    let first = candles.partitioningIndex { $0.closedAt > gap.from }
    let end = candles.partitioningIndex { $0.openedAt >= gap.to }
    return first < end ? first..<end : nil
  }

  /// What the exchange's clock shows as a place begins.
  private func clock(at slot: Int) -> ClockReading {
    if let sessions {
      let minute = slot % sessions.slotsPerDay * sessions.minutes
      return ClockReading(
        day: sessions.days[slot / sessions.slotsPerDay],
        second: sessions.hours.opening(ofMinute: minute))
    }
    let day = candles[slot].tradingDay
    if isCentred { return ClockReading(day: day, second: 0) }
    return ClockReading(day: day, second: zone.wallClock(at: candles[slot].openedAt).second)
  }

  // MARK: Ticks

  struct Tick {
    let slot: Int
    let text: String
  }

  /// Where a unit of time begins: the smallest whose beginnings have room. The axis may begin in
  /// the middle of one, which is written where the next is not near.
  func ticks(countMax: Int) -> [Tick] {
    guard count > 0 else { return [] }
    let readings = (0..<count).map(clock(at:))
    let isOneDay = readings[0].day == readings[count - 1].day && !isCentred
    for unit in TimeUnit.all where unit.isWithinDay == isOneDay {
      let keys = readings.map(unit.key)
      var begins = keys.indices.filter { $0 > 0 && keys[$0] != keys[$0 - 1] }
      if begins.count > max(countMax, 1) { continue }
      if !isCentred, (begins.first ?? count) * countMax >= count { begins.insert(0, at: 0) }
      if !begins.isEmpty {
        return begins.map { Tick(slot: $0, text: unit.text(readings[$0])) }
      }
    }
    return [Tick(slot: 0, text: readings[0].day.description)]
  }
}

struct ClockReading {
  let day: TradingDay
  let second: Int
}

/// What times are rounded to.
private enum TimeUnit {
  case minutes(Int)
  case day
  case week
  case months(Int)
  case years(Int)

  /// The smallest first.
  static let all: [TimeUnit] = [
    .minutes(30), .minutes(60), .minutes(120), .minutes(360), .day, .week, .months(1), .months(3),
    .years(1), .years(2), .years(5), .years(10), .years(50),
  ]

  var isWithinDay: Bool {
    if case .minutes = self { return true }
    return false
  }

  /// The same for all times of one unit, and no others.
  func key(_ reading: ClockReading) -> Int {
    switch self {
    case .minutes(let count): reading.second / (count * 60)
    case .day: Int(reading.day.daysSince1970)
    // 1970-01-05 was a Monday.
    case .week: (Int(reading.day.daysSince1970) + 700_003) / 7
    case .months(let count): (reading.day.civil.year * 12 + reading.day.civil.month - 1) / count
    case .years(let count): reading.day.civil.year / count
    }
  }

  func text(_ reading: ClockReading) -> String {
    switch self {
    case .minutes: ClockText.minute(reading.second)
    case .day, .week: String(reading.day.description.suffix(5))
    case .months: String(reading.day.description.prefix(7))
    case .years: String(reading.day.description.prefix(4))
    }
  }
}
