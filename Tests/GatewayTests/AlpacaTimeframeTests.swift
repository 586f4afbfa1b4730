import Commits
import Foundation
import HTTPTypes
import Market
import Reader
import Store
import TestSupport
import TestTraits
import Testing

@testable import Gateway

/// Bars of Alpaca's whole grammar, and how weeks and months are dated.
@Suite(.ownThread) struct AlpacaTimeframeTests {
  // MARK: Grammar

  @Test("the grammar is Alpaca's, long and short, and a month is never a minute")
  func grammar() throws {
    let units: [(names: [String], counts: [Int])] = [
      (["Min", "T"], Array(1...59)), (["Hour", "H"], Array(1...23)), (["Day", "D"], [1]),
      (["Week", "W"], [1]), (["Month", "M"], [1, 2, 3, 4, 6, 12]),
    ]
    let taken: [String] = units.flatMap { unit in
      unit.names.flatMap { name in unit.counts.map { "\($0)\(name)" } }
    }
    for text in taken { #expect(AlpacaTimeframe(text) != nil, "\(text)") }
    let refused = [
      "", "0Min", "60Min", "01Min", "24Hour", "2Day", "2Week", "5Month", "7M", "24M", "1m", "1min",
      "1hour", "1d", "Day", "Min", "1", "1Mins", "1Year", "-1Min", "1.5Hour", "1Min ", "１Min",
    ]
    for text in refused { #expect(AlpacaTimeframe(text) == nil, "\(text)") }
    for text in ["1M", "1Month"] {
      #expect(AlpacaTimeframe(text)?.parts(in: .shanghai) == .month1, "\(text)")
    }
    #expect(AlpacaTimeframe("1T")?.parts(in: .newYork) == .minute1)
  }

  @Test(
    "a time frame that is none is 400, and names what there is", arguments: ["60Min", "2D", "1m"])
  func refused(timeframe: String) async throws {
    let fixture = try await ServedFixture(fill: AlpacaSamples.fill)
    let reply = try await fixture.get("/v2/stocks/AAPL/bars?timeframe=\(timeframe)")
    let message = try #require(try reply.json["message"] as? String)
    #expect(reply.status == 400 && message.contains("[1-59]Min, [1-23]Hour, 1Day, 1Week"))
  }

  // MARK: Rolled up

  /// On the mainland from the session's open, in New York from midnight UTC.
  @Test(
    "bars of any length are the minutes of the database, rolled up",
    arguments: ["sh600000", "AAPL"],
    [("7T", 7), ("10Min", 10), ("45Min", 45), ("1H", 60), ("4Hour", 240)])
  func minutes(symbol: String, timeframe: (name: String, minutes: Int)) async throws {
    let fixture = try await ServedFixture(fill: AlpacaSamples.fill)
    let anchor = symbol == "AAPL" ? "2026-07-06 00:00Z" : "2026-07-06 09:30+08"
    let rows = try fixture.database.execute(
      """
      with m as (
        select
          *, flags & 1 = 0 as traded,
          date_bin('\(timeframe.minutes) minutes', opened_at, timestamptz '\(anchor)') as bar
        from candled.candles('\(symbol)', '1m')
      )
      select to_char(bar at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
        (array_agg(open order by traded desc, opened_at))[1]::float8,
        coalesce(max(high) filter (where traded), max(high))::float8,
        coalesce(min(low) filter (where traded), min(low))::float8,
        (array_agg(close order by traded desc, opened_at desc))[1]::float8, sum(volume)::float8
      from m
      group by bar
      order by bar
      """)
    for sort in ["asc", "desc"] {
      let reply = try await fixture.get(
        "/v2/stocks/\(symbol)/bars?timeframe=\(timeframe.name)&start=2026-07-06&sort=\(sort)")
      let bars = try #require(try reply.json["bars"] as? [[String: Any]], "\(reply)")
      let found = bars.map { bar in
        [bar["t"] as? String]
          + ["o", "h", "l", "c", "v"].map { (bar[$0] as? NSNumber).map { "\($0.doubleValue)" } }
      }
      let wanted = rows.map { row in
        [row[0]] + row[1...].map { $0.flatMap { Double($0) }.map { "\($0)" } }
      }
      #expect(!wanted.isEmpty && found == (sort == "asc" ? wanted : wanted.reversed()), "\(reply)")
    }
  }

  private static func candle(
    _ openedAt: Timestamp, in zone: MarketZone, price: Int64, seconds: Int64 = 1_800
  ) -> CandleRecord {
    let value = ExactDecimal(price)
    return CandleRecord(
      openedAt: openedAt, closedAt: openedAt.adding(seconds: seconds),
      tradingDay: zone.day(at: openedAt), open: value, high: value, low: value, close: value,
      volume: ExactDecimal(100), turnover: try? value * ExactDecimal(100), trades: 2, vwap: value,
      flags: [], revision: 0, knownFrom: openedAt, source: "one")
  }

  private static func series(_ zone: MarketZone) -> SeriesRecord {
    SeriesRecord(
      id: 1, symbol: StoreSamples.symbol(0), source: .live, sourceName: "one", priority: 1,
      name: nil, exchange: nil, kind: nil, board: nil, currency: "CNY", zone: zone)
  }

  private static func rolledUp(
    _ timeframe: String, _ parts: [CandleRecord], in zone: MarketZone, _ state: MarketState,
    isRaw: Bool = true
  ) throws -> [CandleRecord] {
    try #require(AlpacaTimeframe(timeframe))
      .bars(of: parts, series: series(zone), in: state, isRaw: isRaw)
  }

  @Test("hours of the mainland begin with each session, those of New York with the clock of UTC")
  func hours() throws {
    let day = StoreSamples.day
    func openings(_ timeframe: String, _ zone: MarketZone, _ seconds: [Int]) throws -> [Int] {
      let parts = seconds.map { second in
        Self.candle(zone.moment(on: day, secondOfDay: second), in: zone, price: 10)
      }
      return try Self.rolledUp(timeframe, parts, in: zone, MarketState())
        .map { Int($0.openedAt.seconds - zone.moment(on: day, secondOfDay: 0).seconds) / 60 }
    }
    let mainland = [34_200, 37_800, 46_800, 50_400]
    #expect(try openings("1Hour", .shanghai, mainland) == [570, 630, 780, 840])
    #expect(try openings("2Hour", .shanghai, mainland) == [570, 780])
    #expect(try openings("23H", .shanghai, mainland) == [570, 780])
    // 09:30 to 16:00 in half hours, four hours behind UTC.
    let american = (0..<13).map { 34_200 + $0 * 1_800 }
    #expect(
      try openings("1Hour", .newYork, american) == [540, 600, 660, 720, 780, 840, 900])
    #expect(try openings("4Hour", .newYork, american) == [480, 720])
  }

  @Test("a bar has the first open, the last close, the extremes and sums; adjusted no average")
  func sums() throws {
    let opened = MarketZone.shanghai.moment(on: StoreSamples.day, secondOfDay: 34_200)
    var parts = [11, 15, 9, 12].enumerated().map { index, price in
      Self.candle(
        opened.adding(seconds: Int64(index) * 300), in: .shanghai, price: price, seconds: 300)
    }
    // Nothing traded in the last: its price is the one before.
    var quiet = Self.candle(opened.adding(seconds: 1_200), in: .shanghai, price: 99, seconds: 300)
    (quiet.flags, quiet.volume, quiet.turnover) = (.noTrade, .zero, .zero)
    parts.append(quiet)
    let bar = try #require(try Self.rolledUp("30Min", parts, in: .shanghai, MarketState()).first)
    #expect([bar.open, bar.high, bar.low, bar.close] == [11, 15, 9, 12].map { ExactDecimal($0) })
    #expect(bar.volume == ExactDecimal(400) && bar.trades == 10)
    #expect(bar.vwap == (try ExactDecimal("11.75")) && bar.closedAt == quiet.closedAt)
    let adjusted = try Self.rolledUp("30Min", parts, in: .shanghai, MarketState(), isRaw: false)
    #expect(adjusted.first?.vwap == nil)
    parts[1].open = nil
    let unknown = try Self.rolledUp("30Min", parts, in: .shanghai, MarketState())
    #expect(unknown.first?.open == nil)
  }

  // MARK: Weeks and months

  private static func day(_ text: String) throws -> TradingDay { try #require(TradingDay(text)) }

  private static func sessions(
    of exchange: Exchange, from first: TradingDay, through last: TradingDay, closed: [String]
  ) -> [MarketSession] {
    let zone: MarketZone = exchange == .shanghai ? .shanghai : .newYork
    return (first...last).filter { !$0.isWeekend && !closed.contains($0.description) }.map { day in
      MarketSession(
        exchange: exchange, day: day, opens: zone.moment(on: day, secondOfDay: 34_200),
        closes: zone.moment(on: day, secondOfDay: 54_000))
    }
  }

  @Test("months are rolled up by quarter and year, and dated on their first trading day")
  func months() throws {
    let months = ["2025-09-01", "2025-10-01", "2025-11-03", "2025-12-01", "2026-01-05"]
    let parts = try months.map { text in
      Self.candle(
        MarketZone.shanghai.moment(on: try Self.day(text), secondOfDay: 34_200), in: .shanghai,
        price: 10)
    }.map { part in
      var part = part
      part.tradingDay = part.tradingDay.advanced(by: 20)
      return part
    }
    func days(_ timeframe: String) throws -> [String] {
      try Self.rolledUp(timeframe, parts, in: .shanghai, MarketState())
        .map { MarketZone.shanghai.day(at: $0.openedAt).description }
    }
    // The mainland is closed on 1 to 8 October, on New Year's Day and on 2 January 2026.
    #expect(try days("3Month") == ["2025-07-01", "2025-10-09", "2026-01-05"])
    #expect(try days("12M") == ["2025-01-02", "2026-01-05"])
    #expect(
      try days("1Month")
        == ["2025-09-01", "2025-10-09", "2025-11-03", "2025-12-01", "2026-01-05"])
  }

  /// 2027 is beyond the program's table of the mainland.
  @Test("UDF and Alpaca date weeks and months by the learnt calendar of the instrument's market")
  func learnt() async throws {
    let american = Self.sessions(
      of: .unitedStates, from: try Self.day("2025-12-01"), through: try Self.day("2026-12-31"),
      closed: ["2025-12-25", "2026-01-01", "2026-09-07"])
    let mainland = Self.sessions(
      of: .shanghai, from: try Self.day("2027-01-04"), through: try Self.day("2027-12-31"),
      closed: [
        "2027-02-08", "2027-02-09", "2027-02-10", "2027-02-11", "2027-02-12", "2027-05-03",
        "2027-05-04", "2027-05-05", "2027-10-04",
      ])
    let fixture = try await ServedFixture { writer in
      _ = try await AlpacaSamples.fill(writer)
      var samples = StoreSamples(seed: 43)
      var commit = samples.sweep(position: 32, instruments: 0)
      commit.knownAt = StoreSamples.start.adding(seconds: 1_860)
      commit.reference.sessions = american + mainland
      for text in ["2026-01-02", "2026-01-05", "2026-09-08", "2026-09-09"] {
        commit.candles.append(
          try AlpacaSamples.day(try Self.day(text), .alpacaIEX, &samples))
      }
      for text in ["2027-10-05", "2027-10-06"] {
        commit.candles.append(try AlpacaSamples.day(try Self.day(text), .live, &samples))
      }
      _ = try await writer.commit(commit)
      return 32
    }
    let cases = [
      ("AAPL", "1W", "2026-09-01", "2026-09-30", "2026-09-08"),
      ("AAPL", "1M", "2026-01-01", "2026-01-31", "2026-01-02"),
      ("sh600000", "1W", "2027-10-01", "2027-10-30", "2027-10-05"),
    ]
    for (symbol, length, first, last, expected) in cases {
      let bounds = try [first, last].map { Int64(try Self.day($0).daysSince1970) * 86_400 }
      let udf = try await fixture.get(
        "/udf/history?symbol=\(symbol)&resolution=\(length)&from=\(bounds[0])&to=\(bounds[1])")
      let times = try udf.json["t"] as? [Int]
      #expect(times == [Int(try Self.day(expected).daysSince1970) * 86_400], "\(symbol) \(udf)")
      for sort in ["asc", "desc"] {
        let bars = try await fixture.get(
          "/v2/stocks/\(symbol)/bars?timeframe=\(length)&start=\(expected)&end=\(expected)"
            + "&sort=\(sort)")
        let found = (try bars.json["bars"] as? [[String: Any]])?.compactMap { $0["t"] as? String }
        #expect(found?.map { $0.prefix(10) } == [expected.prefix(10)], "\(symbol) \(bars)")
      }
    }
  }

  @Test("pages of every length hold each bar once", arguments: ["1W", "1M", "2H", "11T"])
  func pages(timeframe: String) async throws {
    let fixture = try await ServedFixture(fill: AlpacaSamples.fill)
    let path =
      "/v2/stocks/bars?symbols=sh600000,AAPL&timeframe=\(timeframe)&start=2026-06-01&end=2026-07-31"
    func bars(_ query: String) async throws -> (bars: [String], next: String?) {
      let page = try await fixture.get(path + query).json
      let found = try #require(page["bars"] as? [String: [[String: Any]]])
      let texts = found.sorted { $0.key > $1.key }.flatMap { symbol, bars in
        bars.map { "\(symbol) \($0["t"] ?? "") \($0["o"] ?? "") \($0["v"] ?? "")" }
      }
      return (texts, page["next_page_token"] as? String)
    }
    let all = try await bars("")
    #expect(all.bars.count >= 2 && all.next == nil)
    for order in ["asc", "desc"] {
      var (found, token): ([String], String?) = ([], nil)
      repeat {
        let page = try await bars(
          "&limit=1&sort=\(order)" + (token.map { "&page_token=\($0)" } ?? ""))
        found += page.bars
        token = page.next
      } while token != nil
      #expect(found.sorted() == all.bars.sorted(), "\(order)")
    }
  }
}
