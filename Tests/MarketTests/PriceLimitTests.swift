import Market
import TestSupport
import Testing

@Suite struct PriceLimitTests {
  private func band(
    _ symbol: String, _ close: String, on date: String, marked: Bool = false, age: Int? = nil
  ) throws -> String? {
    try PriceLimit.band(
      for: instrument(symbol), previousClose: ExactDecimal(close), on: day(date),
      specialTreatment: marked, tradingDaysSinceListing: age
    ).map { "\($0.lower) \($0.upper)" }
  }

  @Test func `STAR's published limits come out`() throws {
    #expect(try band("sh688111", "99.68", on: "2021-08-02") == "79.74 119.62")
  }

  @Test func `the main board's published limits come out`() throws {
    #expect(try band("sh600036", "36.10", on: "2019-12-27") == "32.49 39.71")
  }

  @Test(arguments: [
    ("sh600519", "2026-09-10", "9.00 11.00"), ("sz000001", "2010-01-04", "9.00 11.00"),
    ("sz300059", "2020-08-21", "9.00 11.00"), ("sz300059", "2020-08-24", "8.00 12.00"),
    ("sh688981", "2020-07-20", "8.00 12.00"), ("bj920000", "2026-09-10", "7.00 13.00"),
    ("sz200869", "2026-09-10", "9.00 11.00"), ("sh900901", "2026-09-10", "9.000 11.000"),
    ("sh510300", "2020-08-21", "9.000 11.000"), ("sz127056", "2022-08-01", "8.000 12.000"),
  ])
  func `each board has its band on its dates`(
    _ symbol: String, _ date: String, _ expected: String
  ) throws {
    #expect(try band(symbol, "10.00", on: date) == expected)
  }

  @Test(arguments: [
    ("sh600519", "1996-12-13"), ("sh000001", "2026-09-10"), ("sh204001", "2026-09-10"),
    ("sz127056", "2022-07-29"),
  ])
  func `what has no limit has no band`(_ symbol: String, _ date: String) throws {
    #expect(try band(symbol, "10.00", on: date) == nil)
  }

  @Test(arguments: [
    ("sh510300", "2020-08-24", "8.000 12.000"), ("sz159915", "2021-11-12", "8.000 12.000"),
    ("sz159915", "2021-11-15", "7.000 13.000"), ("sh588000", "2026-09-10", "7.000 13.000"),
  ])
  func `how far a fund moves is not known, but how far at most`(
    _ symbol: String, _ date: String, _ widest: String
  ) throws {
    #expect(try band(symbol, "10.00", on: date) == nil)
    #expect(try !PriceLimit.isKnown(for: instrument(symbol), on: day(date)))
    let band = try PriceLimit.widest(
      for: instrument(symbol), previousClose: ExactDecimal("10.00"), on: day(date))
    #expect(band.map { "\($0.lower) \($0.upper)" } == widest)
  }

  @Test(arguments: ["sh600519", "sh000001", "sz127056", "sh204001"])
  func `of what is known there is no widest band`(_ symbol: String) throws {
    let band = try PriceLimit.widest(
      for: instrument(symbol), previousClose: ExactDecimal("10.00"), on: day("2026-09-10"))
    #expect(try band == nil && PriceLimit.isKnown(for: instrument(symbol), on: day("2026-09-10")))
  }

  @Test(arguments: [
    ("sh600000", "2026-07-03", "9.50 10.50"), ("sh600000", "2026-07-05", "9.50 10.50"),
    ("sh600000", "2026-07-06", "9.00 11.00"), ("sz200869", "2026-07-03", "9.50 10.50"),
    ("sh600000", "1998-04-21", "9.00 11.00"), ("sz300059", "2024-01-02", "8.00 12.00"),
    ("sh688981", "2024-01-02", "8.00 12.00"), ("bj920000", "2024-01-02", "7.00 13.00"),
  ])
  func `special treatment halves the main board's band until 2026-07-05`(
    _ symbol: String, _ date: String, _ expected: String
  ) throws {
    #expect(try band(symbol, "10.00", on: date, marked: true) == expected)
  }

  @Test(arguments: [
    ("sh688981", "2020-07-16", 5), ("sz301236", "2022-06-01", 5), ("sh603288", "2023-04-10", 5),
    ("bj920000", "2024-10-08", 1),
  ])
  func `the first days are unlimited and the next is not`(
    _ symbol: String, _ listed: String, _ days: Int
  ) throws {
    var date = try day(listed)
    for age in 0...days {
      let band = try band(symbol, "10.00", on: date.description, age: age)
      #expect((band == nil) == (age < days), "day \(age)")
      date = try #require(TradingCalendar.shanghai.next(after: date))
    }
  }

  @Test func `who listed before a reform gains no unlimited days by it`() throws {
    #expect(try band("sz300900", "10.00", on: "2020-08-24", age: 1) == "8.00 12.00")
    #expect(try band("sh603999", "10.00", on: "2023-04-10", age: 4) == "9.00 11.00")
    #expect(try band("sh603999", "10.00", on: "2023-04-14", age: 4) == nil)
  }

  @Test func `before the reforms the first day is capped against the issue price`() throws {
    #expect(try band("sh603999", "10.00", on: "2023-04-07", age: 0) == "6.40 14.40")
    #expect(try band("sh603999", "10.00", on: "2013-12-31", age: 0) == nil)
    #expect(try band("sz127999", "100.000", on: "2024-01-02", age: 0) == "56.700 157.300")
  }

  @Test(arguments: [
    ("0.05", "0.04 0.06"), ("0.04", "0.03 0.05"), ("0.01", "0.01 0.02"), ("1.05", "0.95 1.16"),
    ("1.04", "0.94 1.14"), ("10.000", "9.00 11.00"),
  ])
  func `a limit is rounded half up and never nearer than a tick`(
    _ close: String, _ expected: String
  ) throws {
    #expect(try band("sh600519", close, on: "2026-09-10") == expected)
  }

  @Test(arguments: ["0", "-1.00", "9223372036854775807"])
  func `what is no price has no band`(_ close: String) throws {
    #expect(try band("sh600519", close, on: "2026-09-10") == nil)
  }

  @Test func `random bands agree with whole fen rounded by hand`() throws {
    let seed = UInt64.random(in: .min ... .max)
    var generator = SplitMix(seed: seed)
    for _ in 0..<5_000 {
      let fen = Int64.random(in: 10...10_000_000, using: &generator)
      let band = try #require(
        try PriceLimit.band(
          for: instrument("sh600519"), previousClose: ExactDecimal(units: fen, scale: 2),
          on: day("2026-09-10"), specialTreatment: false, tradingDaysSinceListing: nil))
      #expect(band.upper == ExactDecimal(units: (fen * 11 + 5) / 10, scale: 2), "seed \(seed)")
      #expect(band.lower == ExactDecimal(units: (fen * 9 + 5) / 10, scale: 2), "seed \(seed)")
      #expect(band.contains(band.lower) && band.contains(band.upper), "seed \(seed)")
      #expect(try !band.contains(band.upper + ExactDecimal(units: 1, scale: 2)), "seed \(seed)")
    }
  }
}
