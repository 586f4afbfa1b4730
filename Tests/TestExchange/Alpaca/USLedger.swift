import ExchangeSimulator
import Market

/// The true American bars at a moment: what the simulated Alpaca serves, and the judge of what a
/// daemon made of it.
///
/// A minute appears one to three seconds after its end and may change once: a third of them are
/// recalculated for late trades half a minute later, one in two hundred is corrected at 08:00 the
/// next morning. Every longer bar is put together from the minutes that are there.
package struct USLedger: Sendable {
  let market: USMarket

  /// Seconds after a minute's end at which late trades have been counted.
  static let recalculatedAfterSeconds: Int64 = 30
  private static let revisedPerMille: Int64 = 350
  private static let correctedPerMille: Int64 = 5
  private static let correctionSecondOfDay = 8 * 3600

  package init(seed: UInt64) { market = USMarket(seed: seed) }

  /// All twelve, ascending.
  package var symbols: [Symbol] { market.shares.map(\.symbol).sorted() }

  /// Bars of one session that begin inside it, as `now` knows them.
  func bars(
    _ share: Int, session: Int, feed: USMarket.Feed, minutes length: Int64,
    at now: Timestamp
  ) -> [USMarket.Bar] {
    let minutes = minutes(share, session: session, feed: feed, at: now)
    if length == 1 { return minutes }
    var bars: [USMarket.Bar] = []
    for minute in minutes {
      // Aligned to UTC, not to the opening.
      let start = minute.start.seconds / (length * 60) * length * 60
      if bars.last?.start.seconds == start {
        bars[bars.count - 1].append(minute)
      } else {
        bars.append(minute)
        bars[bars.count - 1].start = Timestamp(seconds: start)
      }
    }
    return bars
  }

  private func minutes(
    _ share: Int, session: Int, feed: USMarket.Feed, at now: Timestamp
  ) -> [USMarket.Bar] {
    let corrected = Timestamp(
      day: market.calendar.sessions[session].day.advanced(by: 1),
      newYorkSecondOfDay: USLedger.correctionSecondOfDay)
    return market.minutes(share, session: session, feed: feed).compactMap { final in
      let end = final.start.adding(seconds: 60)
      var random = Randomness(
        seed: Randomness.mixed(market.seed &+ UInt64(bitPattern: final.start.seconds)),
        stream: UInt64(share) &+ (feed == .iex ? 0x200 : 0x100))
      guard now >= end.adding(seconds: 1 + random.below(3)) else { return nil }
      var bar = final
      if random.chance(perMille: USLedger.correctedPerMille), now < corrected {
        bar.high += 500
        bar.volume += 100
      }
      let isRevised = random.chance(perMille: USLedger.revisedPerMille)
      if isRevised, now < end.adding(seconds: USLedger.recalculatedAfterSeconds) {
        bar.lack(&random)
      }
      return bar
    }
  }

  /// A day's bar; nil before its regular session has a trade.
  func day(
    _ share: Int, session: Int, feed: USMarket.Feed, at now: Timestamp
  ) -> USMarket.Bar? {
    market.day(of: minutes(share, session: session, feed: feed, at: now), session: session)
  }
}

extension USMarket.Bar {
  /// Without the trades that were reported late.
  fileprivate mutating func lack(_ random: inout Randomness) {
    volume = max(volume - volume * (1 + random.below(5)) / 100 - 1, 1)
    trades = max(trades - 1 - random.below(3), 1)
    if random.chance(perMille: 350) { close = (open + close) / 200 * 100 }
    close = min(max(close, low), high)
  }
}
