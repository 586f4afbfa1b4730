import Candles
import Market
import TestSupport
import Testing

@Suite struct RoundTheClockTests {
  private static let day = RoundTheClock.friday.advanced(by: 1)

  /// From Friday 23:00 to Sunday 01:00, a Saturday in between.
  private func weekend(every seconds: Int, from start: Int = 82_800) throws -> RoundTheClock {
    var market = try RoundTheClock(seed: 7)
    for (poll, second) in stride(from: start, through: 176_400, by: seconds).enumerated() {
      try market.poll(at: second, trades: poll % 11 == 0)
    }
    return market
  }

  @Test(arguments: [(10, 82_800), (7, 82_801), (15, 82_804)])
  func `every minute of a day without a close has a candle`(every seconds: Int, from: Int) throws {
    let market = try weekend(every: seconds, from: from)
    let minutes = market.minutes(of: Self.day)
    #expect(minutes.map { market.minute(of: $0) } == Array(0..<1440))
    for (minute, candle) in minutes.enumerated() {
      #expect(candle.openedAt == market.hours.moment(on: Self.day, secondOfDay: minute * 60))
      let traded = market.traded[Self.day]?[minute]
      #expect(candle.volume == traded ?? .zero, "minute \(minute)")
      #expect(candle.flags.contains(.noTrade) == (traded == nil), "minute \(minute)")
      #expect(candle.source == RoundTheClock.source)
    }
    #expect(minutes.last?.closedAt == market.hours.moment(on: Self.day, secondOfDay: 86_400))
    #expect(market.verdicts.allSatisfy { if case .accepted = $0 { true } else { false } })
  }

  @Test func `a day without a close is certified as the next one begins`() throws {
    let market = try weekend(every: 10)
    let certificate = try #require(market.certificate(of: Self.day))
    let volume = try market.traded[Self.day, default: [:]].values.reduce(.zero) { try $0 + $1 }
    #expect(certificate.exchangeVolume == volume && volume.scale == 8)
    #expect(certificate.isBalanced && certificate.gapVolume.isZero)
    #expect(certificate.minutesTraded + certificate.minutesUntraded == 1440)
    let candle = try #require(
      market.output.candles.first { $0.timeframe == .day1 && $0.tradingDay == Self.day })
    #expect(candle.openedAt == market.hours.moment(on: Self.day, secondOfDay: 0))
    #expect(candle.closedAt == market.hours.moment(on: Self.day.advanced(by: 1), secondOfDay: 0))
    #expect(candle.volume == volume)
  }

  @Test func `the minute before midnight and the day are complete soon after it`() throws {
    let market = try weekend(every: 10)
    let complete = market.output.events.compactMap { event in
      if case .minuteComplete(let minute) = event, minute.tradingDay == Self.day {
        minute
      } else {
        nil
      }
    }
    #expect(complete.count == 1440)
    #expect(complete.allSatisfy { $0.expected == 1 && $0.missing == 0 })
    let days = market.output.events.compactMap { event in
      if case .dayComplete(let day, let count, 0) = event { (day, count) } else { nil }
    }
    #expect(days.map(\.0) == [RoundTheClock.friday, Self.day] && days.allSatisfy { $0.1 == 1 })
  }

  @Test func `a trade stamped at midnight belongs to the day that ends`() throws {
    var market = try RoundTheClock(seed: 1)
    try market.poll(at: 86_340, trades: false)
    try market.poll(at: 86_400, trades: true)
    try market.poll(at: 86_401, trades: true)
    market.advance(to: 86_441)
    let last = try #require(market.minutes(of: RoundTheClock.friday).last)
    #expect(last.volume.isPositive && last.volume == market.traded[RoundTheClock.friday]?[1439])
    #expect(market.certificate(of: RoundTheClock.friday)?.isBalanced == true)
    #expect(market.book.formingCandle(at: 0)?.tradingDay == Self.day)
  }

  @Test func `an outage over midnight is a gap of either day`() throws {
    var market = try RoundTheClock(seed: 2)
    for second in stride(from: 0, through: 86_000, by: 10) {
      try market.poll(at: second + 1, trades: true)
    }
    for second in stride(from: 86_900, through: 87_600, by: 10) {
      try market.poll(at: second, trades: true)
    }
    #expect(market.output.gaps.map(\.cause) == [.unseenClose, .lateStart])
    let midnight = market.hours.moment(on: Self.day, secondOfDay: 0)
    #expect(market.output.gaps.map(\.to)[0] == midnight)
    #expect(market.output.gaps.map(\.from)[1] == midnight)
    let certificate = try #require(market.certificate(of: RoundTheClock.friday))
    #expect(certificate.exchangeVolume == nil && certificate.minutesMissing == 6)
  }

  @Test(arguments: [86_399, 86_401, 86_403, 86_420, 86_435, 86_460, 100_000])
  func `a restart changes nothing, around midnight either`(at second: Int) throws {
    var whole = try RoundTheClock(seed: 3)
    var restarted = whole
    for (poll, at) in stride(from: 82_800, through: 100_800, by: 9).enumerated() {
      try whole.poll(at: at, trades: poll % 5 == 0)
      try restarted.poll(at: at, trades: poll % 5 == 0)
      if (at..<at + 9).contains(second) { try restarted.restart() }
    }
    #expect(restarted.output.candles == whole.output.candles)
    #expect(restarted.output.events == whole.output.events)
    #expect(restarted.output.certificates == whole.output.certificates)
    #expect(restarted.output.gaps == whole.output.gaps)
  }

  @Test(arguments: [UInt64.random(in: .min ... .max)])
  func `minutes and gaps add up to each day, whatever passed unseen`(seed: UInt64) throws {
    var random = SplitMix(seed: seed)
    var market = try RoundTheClock(seed: seed)
    var second = Int.random(in: 1...90_000, using: &random)
    var seen: [TradingDay: ExactDecimal] = [:]
    while second < 4 * 86_400 {
      try market.poll(at: second, trades: Int.random(in: 0..<6, using: &random) == 0)
      seen[market.quote.tradingDay] = market.quote.volume
      if Int.random(in: 0..<900, using: &random) == 0 { try market.restart() }
      let isOutage = Int.random(in: 0..<700, using: &random) == 0
      second += Int.random(in: isOutage ? 16...9_000 : 3...15, using: &random)
    }
    let days = market.output.certificates.map(\.tradingDay)
    #expect(days.count >= 2 && Set(days).count == days.count, "seed \(seed)")
    for certificate in market.output.certificates {
      let minutes = market.minutes(of: certificate.tradingDay)
      let gaps = market.output.gaps.filter { $0.tradingDay == certificate.tradingDay }
      let minuteVolume = try minutes.reduce(.zero) { try $0 + $1.volume }
      let gapVolume = try gaps.reduce(.zero) { try $0 + $1.volume }
      let volume = try minuteVolume + gapVolume
      #expect(volume == seen[certificate.tradingDay] ?? .zero, "seed \(seed)")
      #expect(certificate.minuteVolume == minuteVolume, "seed \(seed)")
      #expect(certificate.gapVolume == gapVolume, "seed \(seed)")
      #expect(certificate.exchangeVolume == nil || certificate.isBalanced, "seed \(seed)")
      let count = certificate.minutesTraded + certificate.minutesUntraded
      #expect(count == minutes.count && count + certificate.minutesMissing == 1440, "seed \(seed)")
    }
  }
}
