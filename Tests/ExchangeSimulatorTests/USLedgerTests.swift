import Market
import TestSupport
import Testing

@testable import ExchangeSimulator
@testable import Ledgers
@testable import TestExchange

/// The American market itself: its days, its minutes and what a moment knows of them.
@Suite struct USLedgerTests {
  private static let ledger = USLedger(seed: 5)

  private static func day(_ text: String) throws -> TradingDay { try #require(TradingDay(text)) }

  private static func moment(_ day: String, _ hour: Int, _ minute: Int, _ second: Int = 0) throws
    -> Timestamp
  {
    Timestamp(day: try self.day(day), newYorkSecondOfDay: hour * 3600 + minute * 60 + second)
  }

  private func candles(
    _ symbol: Symbol, _ timeframe: Timeframe, _ source: Source, from: Timestamp, to: Timestamp,
    at now: Timestamp? = nil
  ) -> [Candle] {
    USLedgerTests.ledger.candles(
      of: symbol, timeframe, source, from: from, to: to, at: now ?? to.adding(seconds: 864_000))
  }

  @Test func `the calendar is the exchanges'`() throws {
    let calendar = USCalendar()
    let known = [2016: 252, 2020: 253, 2021: 252, 2022: 251, 2023: 250, 2024: 252, 2025: 251]
    for (year, count) in known {
      // A day of mourning is a session here: 2025-01-09.
      let days = calendar.sessions.filter { $0.day.civil.year == year }.count
      #expect(days == count, "\(year): \(days)")
    }
    let days = Set(calendar.sessions.map(\.day))
    for holiday in ["2026-04-03", "2026-07-03", "2026-11-26", "2026-06-19", "2023-01-02"] {
      #expect(!days.contains(try USLedgerTests.day(holiday)), "\(holiday)")
    }
    let halves = calendar.sessions.filter { $0.isHalf && $0.day.civil.year == 2026 }.map(\.day)
    #expect(halves.map(\.description) == ["2026-11-27", "2026-12-24"])
  }

  @Test(arguments: [Source.alpacaIEX, .alpacaSIP])
  func `a day is its regular minutes' prices and all minutes' volume`(_ source: Source) throws {
    let start = try USLedgerTests.moment("2026-09-03", 0, 0)
    let end = try USLedgerTests.moment("2026-09-03", 23, 59)
    for symbol in USLedgerTests.ledger.symbols {
      let minutes = candles(symbol, .minute1, source, from: start, to: end)
      let day = try #require(candles(symbol, .day1, source, from: start, to: end).first)
      let regular = minutes.filter { (34_200..<57_600).contains($0.openedAt.newYorkSecondOfDay) }
      #expect(regular.first?.open == day.open && regular.last?.close == day.close)
      #expect(regular.map(\.high).max() == day.high && regular.map(\.low).min() == day.low)
      #expect(try minutes.reduce(.zero) { try $0 + $1.volume } == day.volume, "\(symbol)")
      #expect(minutes.reduce(0) { $0 + ($1.trades ?? 0) } == day.trades, "\(symbol)")
      #expect(
        minutes.allSatisfy {
          $0.low.isPositive && $0.low <= min($0.open, $0.close) && $0.volume.isPositive
            && $0.high >= max($0.open, $0.close) && ($0.trades ?? 0) > 0
            && $0.low <= ($0.vwap ?? .zero) && ($0.vwap ?? .zero) <= $0.high
        }, "\(symbol)")
    }
  }

  @Test func `the feeds are two series, IEX the thinner`() throws {
    let start = try USLedgerTests.moment("2026-09-03", 9, 30)
    let end = try USLedgerTests.moment("2026-09-03", 15, 59)
    for symbol in USLedgerTests.ledger.symbols {
      let sip = candles(symbol, .minute1, .alpacaSIP, from: start, to: end)
      let iex = candles(symbol, .minute1, .alpacaIEX, from: start, to: end)
      #expect(iex.count < sip.count && iex.count > 100)
      let (all, part) = try (sip, iex).0.isEmpty ? (.zero, .zero) : (volume(sip), volume(iex))
      #expect(part * 10 < all, "\(symbol)")
    }
  }

  private func volume(_ candles: [Candle]) throws -> Int64 {
    try candles.reduce(.zero) { try $0 + $1.volume }.units
  }

  @Test func `half a day has 210 regular minutes and a holiday none`() throws {
    let symbol = try Fixture.symbol("SPY")
    let half = candles(
      symbol, .minute1, .alpacaSIP, from: try USLedgerTests.moment("2026-11-27", 9, 30),
      to: try USLedgerTests.moment("2026-11-27", 12, 59))
    #expect((205...210).contains(half.count) && half.last?.openedAt.newYorkSecondOfDay == 46_740)
    let holiday = candles(
      symbol, .day1, .alpacaSIP, from: try USLedgerTests.moment("2026-11-26", 0, 0),
      to: try USLedgerTests.moment("2026-11-26", 23, 0))
    #expect(holiday.isEmpty)
  }

  @Test func `a bar read early may change once, and a few the next morning`() throws {
    let start = try USLedgerTests.moment("2026-09-03", 9, 30)
    let end = try USLedgerTests.moment("2026-09-03", 15, 59)
    let final = candles(try Fixture.symbol("AAPL"), .minute1, .alpacaSIP, from: start, to: end)
    var early = 0
    for bar in final {
      func seen(_ now: Timestamp) throws -> Candle? {
        candles(
          bar.symbol, .minute1, .alpacaSIP, from: bar.openedAt, to: bar.openedAt, at: now
        ).first
      }
      #expect(try seen(bar.closedAt) == nil)
      let after = try #require(try seen(bar.closedAt.adding(seconds: 5)))
      let later = try #require(try seen(bar.closedAt.adding(seconds: 31)))
      if after != later { early += 1 }
      #expect(after.volume <= later.volume)
    }
    #expect((80...200).contains(early))
  }

  @Test func `a few bars are corrected the next morning`() throws {
    let start = try USLedgerTests.moment("2026-09-03", 9, 30)
    let end = try USLedgerTests.moment("2026-09-03", 15, 59)
    var (bars, corrected) = (0, 0)
    for symbol in USLedgerTests.ledger.symbols {
      func seen(_ day: String, _ hour: Int, _ minute: Int) throws -> [Candle] {
        let now = try USLedgerTests.moment(day, hour, minute)
        return candles(symbol, .minute1, .alpacaSIP, from: start, to: end, at: now)
      }
      let (evening, morning) = try (seen("2026-09-04", 7, 59), seen("2026-09-04", 8, 0))
      bars += evening.count
      corrected += zip(evening, morning).filter { $0 != $1 }.count
    }
    #expect((bars / 500...bars / 100).contains(corrected))
  }

  @Test func `today's day bar grows and ends as the day`() throws {
    let symbol = try Fixture.symbol("MSFT")
    let start = try USLedgerTests.moment("2026-09-03", 0, 0)
    func day(_ hour: Int) throws -> Candle? {
      candles(
        symbol, .day1, .alpacaSIP, from: start, to: start,
        at: try USLedgerTests.moment("2026-09-03", hour, 0)
      ).first
    }
    #expect(try day(9) == nil)
    let (noon, close) = (try #require(try day(12)), try #require(try day(17)))
    let final = candles(symbol, .day1, .alpacaSIP, from: start, to: start)[0]
    #expect(noon.volume < close.volume && close.volume < final.volume)
    #expect(close.close == final.close && noon.openedAt == final.openedAt)
  }

  @Test func `hours align to UTC`() throws {
    let symbol = try Fixture.symbol("NVDA")
    let start = try USLedgerTests.moment("2026-08-03", 0, 0)
    let end = try USLedgerTests.moment("2026-09-03", 23, 0)
    let hours = candles(symbol, .hour1, .alpacaSIP, from: start, to: end)
    #expect(hours.allSatisfy { $0.openedAt.seconds % 3600 == 0 })
  }

  @Test func `differences are found and named`() throws {
    let symbol = try Fixture.symbol("IBM")
    let start = try USLedgerTests.moment("2026-09-03", 9, 30)
    let end = try USLedgerTests.moment("2026-09-03", 10, 30)
    let now = end.adding(seconds: 864_000)
    var bars = candles(symbol, .minute1, .alpacaIEX, from: start, to: end)
    func differences() -> [String] {
      USLedgerTests.ledger.differences(
        candles: bars, of: [symbol], .minute1, .alpacaIEX, from: start, to: end, at: now)
    }
    #expect(differences() == [])
    bars[3].volume = ExactDecimal(1)
    bars.remove(at: 5)
    bars[7].openedAt = bars[7].openedAt.adding(seconds: 1)
    #expect(differences().count == 4)
  }
}
