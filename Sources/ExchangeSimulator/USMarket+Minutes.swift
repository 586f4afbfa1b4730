import Market
import Platform

/// The minutes inside a day: a bridge from its open to its close, kept inside its range.
extension USMarket {
  private static let minutesBeforeOpen = 330

  /// One session's minute bars as they finally stand, ascending; minutes without a trade are not
  /// there.
  func minutes(_ share: Int, session: Int, feed: Feed) -> [Bar] {
    let key = SessionKey(share: share, session: session, feed: feed)
    if let known = drawn.withLock({ $0.bars[key] }) { return known }
    let bars = drawnMinutes(share, session: session, feed: feed)
    drawn.withLock { $0.keep(bars, for: key) }
    return bars
  }

  private func drawnMinutes(_ share: Int, session: Int, feed: Feed) -> [Bar] {
    let day = day(share, session: session, feed: feed)
    let hours = calendar.sessions[session]
    var random = Randomness(
      seed: Randomness.mixed(seed &+ UInt64(session) &+ (feed == .iex ? 0x1E8 : 0)),
      stream: UInt64(share) &+ 0x3111)
    let regular = (hours.closes - USCalendar.Session.opens) / 60
    let slots = presentSlots(share, feed: feed, regular: regular, using: &random)
    let weights = slots.map { weight(of: $0, regular: regular, using: &random) }
    let total = weights.reduce(0, +)
    let path = bridge(day, regular: regular, using: &random)
    let start = Timestamp(
      day: hours.day, newYorkSecondOfDay: USCalendar.Session.extendedOpens)
    let inside = slots.filter { isRegular($0, regular: regular) }
    let peak = inside[Int(random.below(Int64(inside.count)))]
    let trough = inside[Int(random.below(Int64(inside.count)))]
    var bars: [Bar] = []
    for (slot, weight) in zip(slots, weights) {
      var bar = self.bar(slot, in: day, path: path, regular: regular, using: &random)
      bar.start = start.adding(seconds: Int64(slot) * 60)
      bar.volume = max(day.volume * weight / total, 1)
      bar.trades = min(max(day.trades * weight / total, 1), bar.volume)
      if slot == peak { bar.high = day.high }
      if slot == trough { bar.low = day.low }
      bar.average = bar.low * 100 + random.below((bar.high - bar.low) * 100 + 1)
      bars.append(bar)
    }
    complete(
      &bars, to: day, at: slots.firstIndex(of: USMarket.minutesBeforeOpen + regular - 1))
    return bars
  }

  /// What rounding left over goes to the closing minute.
  private func complete(_ bars: inout [Bar], to day: Bar, at closing: Int?) {
    guard let closing else { return }
    bars[closing].volume += day.volume - bars.reduce(0) { $0 + $1.volume }
    bars[closing].trades += day.trades - bars.reduce(0) { $0 + $1.trades }
  }

  /// Minutes since 04:00 in which something trades; the first and last regular ones always do.
  private func presentSlots(
    _ share: Int, feed: Feed, regular: Int, using random: inout Randomness
  ) -> [Int] {
    let liquid = shares[share].minutesPerMille
    let inside = feed == .sip ? liquid : liquid * 83 / 100
    let outside = (feed == .sip ? 300 : 30) * (liquid - 500) / 500
    let last = USMarket.minutesBeforeOpen + regular - 1
    return (0...last + 240).filter { slot in
      let isThere = random.chance(perMille: isRegular(slot, regular: regular) ? inside : outside)
      return isThere || slot == USMarket.minutesBeforeOpen || slot == last
    }
  }

  private func isRegular(_ slot: Int, regular: Int) -> Bool {
    (0..<regular).contains(slot - USMarket.minutesBeforeOpen)
  }

  private func weight(of slot: Int, regular: Int, using random: inout Randomness) -> Int64 {
    guard isRegular(slot, regular: regular) else { return 1 + random.below(8) }
    let place = slot - USMarket.minutesBeforeOpen
    if place == regular - 1 { return 4000 }
    return (20 + random.below(80)) * (place < 15 ? 4 : 1)
  }

  /// Prices at the ends of the regular minutes, from the open to the close.
  private func bridge(_ day: Bar, regular: Int, using random: inout Randomness) -> [Int64] {
    let stride = max((day.high - day.low) / 12, 100)
    var walk: [Int64] = [0]
    for place in 0..<regular { walk.append(walk[place] + random.below(2 * stride + 1) - stride) }
    let drift = day.close - day.open - walk[regular]
    return walk.indices.map { place in
      let price = day.open + walk[place] + drift * Int64(place) / Int64(regular)
      // Most prints are on the cent.
      let rounded = random.chance(perMille: 850) ? price / 100 * 100 : price
      let isEnd = place == 0 || place == regular
      return isEnd ? (place == 0 ? day.open : day.close) : min(max(rounded, day.low), day.high)
    }
  }

  private func bar(
    _ slot: Int, in day: Bar, path: [Int64], regular: Int, using random: inout Randomness
  ) -> Bar {
    let place = slot - USMarket.minutesBeforeOpen
    var (open, close): (Int64, Int64)
    if isRegular(slot, regular: regular) {
      (open, close) = (path[place], path[place + 1])
    } else {
      let near = place < 0 ? day.open : day.close
      open = near + (random.below(41) - 20) * 100
      close = open + (random.below(7) - 3) * 100
    }
    let reach = (day.high - day.low) / 40 / 100 + 1
    var high = max(open, close) + random.below(reach) * 100
    var low = min(open, close) - random.below(reach) * 100
    if isRegular(slot, regular: regular) { (high, low) = (min(high, day.high), max(low, day.low)) }
    return Bar(
      start: day.start, open: open, high: high, low: low, close: close, volume: 0, trades: 0,
      average: 0)
  }
}

/// Sessions drawn of late, so that a poller that asks every minute does not have them drawn anew.
struct DrawnSessions: Sendable {
  private(set) var bars: [SessionKey: [USMarket.Bar]] = [:]
  private var order: [SessionKey] = []

  /// Both feeds of all shares for three days: 5 MB.
  private static let sessionsMax = 72

  mutating func keep(_ drawn: [USMarket.Bar], for key: SessionKey) {
    if bars.updateValue(drawn, forKey: key) == nil { order.append(key) }
    if order.count > DrawnSessions.sessionsMax { bars[order.removeFirst()] = nil }
  }
}

struct SessionKey: Sendable, Hashable {
  var share: Int
  var session: Int
  var feed: USMarket.Feed
}
