import Market
import TestSupport
import Testing

@Suite struct TimestampTests {
  @Test(arguments: [
    (0, "1970-01-01T08:00:00+08:00"), (-1, "1970-01-01T07:59:59.999999+08:00"),
    (1_783_301_460_000_000, "2026-07-06T09:31:00+08:00"),
    (1_783_301_460_120_000, "2026-07-06T09:31:00.12+08:00"),
    (1_783_301_460_000_001, "2026-07-06T09:31:00.000001+08:00"),
    (-62_135_596_800_000_000, "0001-01-01T08:00:00+08:00"),
  ])
  func `a moment prints in Shanghai time with the fraction it has`(
    _ microseconds: Int64, _ text: String
  ) {
    #expect(Timestamp(microseconds: microseconds).description == text)
  }

  @Test func `day and second of day give the moment back`() {
    let seed = UInt64.random(in: .min ... .max)
    var generator = SplitMix(seed: seed)
    for _ in 0..<10_000 {
      let day = TradingDay(daysSince1970: Int32.random(in: -700_000...700_000, using: &generator))
      let second = Int.random(in: 0..<86_400, using: &generator)
      let moment = Timestamp(day: day, secondOfDay: second)
      #expect(moment.shanghaiDay == day, "seed \(seed)")
      #expect(moment.shanghaiSecondOfDay == second, "seed \(seed)")
      let later = Timestamp(microseconds: moment.microseconds + 999_999)
      #expect(later.seconds == moment.seconds, "seed \(seed)")
      #expect(later.shanghaiSecondOfDay == second, "seed \(seed)")
    }
  }

  @Test func `Shanghai's day begins eight hours before UTC's`() throws {
    let day = try #require(TradingDay("2026-07-06"))
    let midnight = Timestamp(day: day, secondOfDay: 0)
    #expect(midnight.seconds == Int64(day.daysSince1970) * 86_400 - 28_800)
    #expect(midnight.adding(milliseconds: -1).shanghaiDay == day.advanced(by: -1))
    #expect(midnight.adding(seconds: 86_400).shanghaiDay == day.advanced(by: 1))
  }

  @Test func `the extremes of the range print without trapping`() {
    #expect(!Timestamp(microseconds: .max).description.isEmpty)
    #expect(!Timestamp(microseconds: .min).description.isEmpty)
  }
}
