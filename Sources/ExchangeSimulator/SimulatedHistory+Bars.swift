import Market

/// The history as bars of up to a day, the way Sina cuts them.
///
/// Minute bars are stamped with their end; a day has 238 of one minute, because the closing auction
/// is one bar at 15:00 (docs/sources/sina.md#k-lines). The bar that is running is there with what
/// it has so far. Without a trade a bar is flat at the last price; a day an instrument does not
/// trade has no bars.
package struct HistoryBar: Sendable, Hashable {
  package var day: TradingDay
  /// End of a minute bar in seconds since Shanghai midnight; nil for days.
  package var end: Int?
  /// Units of the instrument's scale; thousandths of a yuan.
  package var sums: TrueLedger.Minute
}

extension SimulatedHistory {
  /// The newest `count` bars that have begun at `moment`, ascending.
  package mutating func bars(
    of instrument: Int, timeframe: Timeframe, at moment: Timestamp, count: Int
  ) -> [HistoryBar] {
    if timeframe == .day1 { return dayBars(of: instrument, at: moment).suffix(count) }
    return minuteBars(of: instrument, scale: Int(timeframe.rawValue), at: moment, count: count)
  }

  private mutating func minuteBars(
    of instrument: Int, scale: Int, at moment: Timestamp, count: Int
  ) -> [HistoryBar] {
    var newestFirst: [[HistoryBar]] = []
    var left = count
    let today = place(at: moment)
    for place in (0...today).reversed() where left > 0 {
      let market = morning(place)
      guard market.traits[instrument].canTrade else { continue }
      let second = place == today ? market.publication(at: moment) : Grid.dayEnd
      let ledger = ledger(place, at: second)
      let bars = TrueLedger.bars(
        Array(ledger.minutes(at: instrument)), on: ledger.day, from: ledger.references[instrument],
        scale: scale, until: second
      ).suffix(left)
      newestFirst.append(Array(bars))
      left -= bars.count
    }
    let earlier = left > 0 && earlierMinuteDays > 0 ? earlier(instrument) : nil
    for index in earlierDays.indices.suffix(earlierMinuteDays).reversed() where left > 0 {
      guard let earlier, earlier.bars[index].volume > 0 else { continue }
      let bars = TrueLedger.bars(
        earlier.minutes(at: index), on: earlierDays[index], from: earlier.references[index],
        scale: scale, until: Grid.dayEnd
      ).suffix(left)
      newestFirst.append(Array(bars))
      left -= bars.count
    }
    return newestFirst.reversed().flatMap { $0 }
  }

  /// All that there are: days without a trade have none.
  private mutating func dayBars(of instrument: Int, at moment: Timestamp) -> [HistoryBar] {
    let today = place(at: moment)
    let earlier = earlier(instrument)
    var bars = zip(earlierDays, earlier.bars).map { HistoryBar(day: $0, end: nil, sums: $1) }
    for index in bars.indices.suffix(earlierMinuteDays) {
      bars[index].sums = earlier.bar(byMinutesAt: index)
    }
    for place in 0..<today {
      bars.append(HistoryBar(day: days[place], end: nil, sums: sums(place)[instrument]))
    }
    let second = morning(today).publication(at: moment)
    bars.append(
      HistoryBar(
        day: days[today], end: nil, sums: ledger(today, at: second).sum(at: instrument)))
    return bars.filter { $0.sums.volume > 0 }
  }
}

extension TrueLedger {
  /// A day's bars of `scale` minutes that have begun at `second`, `reference` being the previous
  /// close.
  fileprivate static func bars(
    _ minutes: [Minute], on day: TradingDay, from reference: Int64, scale: Int, until second: Int
  ) -> [HistoryBar] {
    var last = reference
    var bars: [HistoryBar] = []
    for range in ranges(scale) {
      let begin = Grid.opening(ofMinute: range.lowerBound)
      let end = Grid.opening(ofMinute: range.upperBound - 1) + 60
      // The closing auction has no bar before it has matched.
      let shown = scale == 1 && range.count > 1 ? end - 1 : begin
      guard second > shown else { break }
      var sums = Minute(minutes[range])
      if sums.volume == 0 {
        sums = Minute(open: last, high: last, low: last, close: last, volume: 0, turnover: 0)
      }
      last = sums.close
      bars.append(HistoryBar(day: day, end: end, sums: sums))
    }
    return bars
  }

  private static func ranges(_ scale: Int) -> [Range<Int>] {
    if scale > 1 {
      return stride(from: 0, to: minutesPerDay, by: scale).map { $0..<$0 + scale }
    }
    let auction = minutesPerDay - 3
    return (0..<auction).map { $0..<$0 + 1 } + [auction..<minutesPerDay]
  }
}

extension Traits {
  /// Has a book today: it may trade, even if it does not.
  var canTrade: Bool { trades || behaviour == .untraded }
}
