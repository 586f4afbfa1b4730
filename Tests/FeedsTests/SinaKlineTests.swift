import Market
import TestSupport
import Testing

@testable import Feeds

@Suite struct SinaKlineTests {
  static func decode(
    _ text: String, _ timeframe: Timeframe = .minute1, symbol: String = "sh600519"
  ) throws -> CandlePage {
    let symbol = try #require(Symbol(symbol))
    return try Array(text.utf8).withUnsafeBytes {
      try SinaKline.decode($0, status: 200, symbol: symbol, timeframe: timeframe)
    }
  }

  private static func row(_ day: String, _ rest: String = "") -> String {
    #"{"day":"\#(day)","open":"4.210","high":"4.220","low":"4.200","close":"4.210","#
      + #""volume":"367300"\#(rest)}"#
  }

  private func decodeRow(_ row: String, _ timeframe: Timeframe = .minute1) throws -> Candle {
    let page = try SinaKlineTests.decode("[\(row)]", timeframe)
    #expect(page.refused.isEmpty)
    return try #require(page.candles.first)
  }

  /// Why `row` is refused beside a good one.
  private func reason(
    _ row: String, _ timeframe: Timeframe = .minute1
  ) throws -> RejectionReason? {
    let good = SinaKlineTests.row(timeframe.minutes == nil ? "2026-01-05" : "2026-01-05 10:30:00")
    let page = try SinaKlineTests.decode("[\(good),\n\(row)]", timeframe)
    #expect(page.candles.count == 1)
    #expect(page.refused.map { String(decoding: $0.payload, as: UTF8.self) } == [row])
    return page.refused.first?.reason
  }

  // MARK: What a row says

  @Test func `a row is a candle with every digit and its turnover`() throws {
    let candle = try decodeRow(
      SinaKlineTests.row("2026-02-25 14:57:00", #","amount":"1545926.9902","ma_price5":"4.1"#)
        .replacing(#""ma_price5":"4.1"#, with: #""ma_price5":4.1"#))
    #expect(candle.symbol.description == "sh600519")
    #expect(candle.timeframe == .minute1 && candle.source == .sina && candle.flags.isEmpty)
    #expect(candle.tradingDay.description == "2026-02-25")
    #expect(
      [candle.open, candle.high, candle.low, candle.close].map(\.description)
        == ["4.210", "4.220", "4.200", "4.210"])
    #expect(candle.volume.description == "367300")
    #expect(candle.turnover?.description == "1545926.9902")
    #expect(candle.trades == nil && candle.vwap == nil)
  }

  @Test(arguments: [
    ("", nil), (#","amount":null"#, nil), (#","amount":"0.0000""#, nil), (#","amount":0"#, nil),
    (#","amount":"12.5""#, "12.5"), (#","amount":12.50"#, "12.50"),
  ])
  func `a turnover of zero beside a volume is unknown`(_ amount: String, _ turnover: String?) throws
  {
    let candle = try decodeRow(SinaKlineTests.row("2026-02-25 14:57:00", amount))
    #expect(candle.turnover?.description == turnover)
  }

  @Test func `numbers may be bare, the day may not`() throws {
    let candle = try decodeRow(
      #"{"day":"2026-02-25","open":4.21,"high":4.220,"low":4.2,"close":4.21,"volume":100}"#, .day1)
    #expect(candle.high.description == "4.220" && candle.volume.description == "100")
    let stamp = try reason(
      #"{"day":20260225,"open":4.21,"high":4.22,"low":4.2,"close":4.21,"volume":100}"#, .day1)
    #expect(stamp == .malformed)
  }

  @Test func `a bar without volume at one price has not traded, and its turnover is zero`() throws {
    let flat =
      #"{"day":"2026-02-25 14:57:00","open":"4.2","high":"4.2","low":"4.2","close":"4.2","#
      + #""volume":"0","amount":"0.0000"}"#
    let candle = try decodeRow(flat)
    #expect(candle.flags == .noTrade)
    #expect(candle.turnover == .zero)
    #expect(try decodeRow(flat.replacing(#""4.2","low""#, with: #""4.3","low""#)).flags.isEmpty)
  }

  // MARK: Stamps

  @Test(arguments: [
    (Timeframe.minute1, "2026-02-25 09:30:00", "2026-02-25T09:29:00+08:00"),
    (.minute1, "2026-02-25 09:31:00", "2026-02-25T09:30:00+08:00"),
    (.minute1, "2026-02-25 13:01:00", "2026-02-25T13:00:00+08:00"),
    (.minute1, "2026-02-25 15:00:00", "2026-02-25T14:59:00+08:00"),
    (.minute5, "2026-02-25 11:30:00", "2026-02-25T11:25:00+08:00"),
    (.minute15, "2026-02-25 09:45:00", "2026-02-25T09:30:00+08:00"),
    (.minute30, "2026-02-25 13:30:00", "2026-02-25T13:00:00+08:00"),
    (.hour1, "2026-02-25 10:30:00", "2026-02-25T09:30:00+08:00"),
    (.hour1, "2026-02-25 14:00:00", "2026-02-25T13:00:00+08:00"),
  ])
  func `a minute stamp is the bar's end`(
    _ timeframe: Timeframe, _ stamp: String, _ openedAt: String
  ) throws {
    let candle = try decodeRow(SinaKlineTests.row(stamp), timeframe)
    #expect(candle.openedAt.description == openedAt)
    #expect(candle.closedAt.description == stamp.replacing(" ", with: "T") + "+08:00")
    #expect(candle.timeframe == timeframe)
  }

  @Test(arguments: [
    (Timeframe.day1, "2026-02-25", "2026-02-25T09:30:00+08:00"),
    (.week1, "2026-02-25", "2026-02-23T09:30:00+08:00"),
    (.week1, "2026-02-27", "2026-02-23T09:30:00+08:00"),
    (.week1, "2026-02-24", "2026-02-23T09:30:00+08:00"),
    (.month1, "2026-02-27", "2026-02-01T09:30:00+08:00"),
  ])
  func `a dated bar opens with its period and closes with its day`(
    _ timeframe: Timeframe, _ stamp: String, _ openedAt: String
  ) throws {
    let candle = try decodeRow(SinaKlineTests.row(stamp), timeframe)
    #expect(candle.openedAt.description == openedAt)
    #expect(candle.closedAt.description == stamp + "T15:00:00+08:00")
    #expect(candle.tradingDay.description == stamp)
  }

  @Test func `a day has exactly the bars of its timeframe`() throws {
    let day = try #require(TradingDay("2026-02-25"))
    for (timeframe, bars) in [
      (Timeframe.minute1, 241), (.minute5, 48), (.minute15, 16), (.minute30, 8), (.hour1, 4),
    ] {
      let ends = (0..<86_400).filter { second in
        (try? SinaKlineInterval(timeframe: timeframe, day: day, secondOfDay: second)) != nil
      }
      #expect(ends.count == bars, "\(timeframe)")
    }
  }

  @Test(arguments: [
    (Timeframe.minute1, "2026-02-25 09:29:00"), (.minute1, "2026-02-25 11:31:00"),
    (.minute1, "2026-02-25 13:00:00"), (.minute1, "2026-02-25 15:01:00"),
    (.minute1, "2026-02-25 10:00:01"), (.minute5, "2026-02-25 09:30:00"),
    (.minute5, "2026-02-25 09:31:00"), (.hour1, "2026-02-25 10:00:00"),
    (.minute1, "2026-02-25"), (.day1, "2026-02-25 15:00:00"), (.minute1, "2026-02-25 1:00:00"),
    (.minute1, "2026-02-25T10:00:00"), (.day1, "2026-02-30"), (.day1, ""), (.day1, "20260225"),
    (.minute1, "2026-02-25 10:00:60"), (.minute1, "2026-02-25 10:00:00 "),
  ])
  func `a stamp that ends no bar of the timeframe is malformed`(
    _ timeframe: Timeframe, _ stamp: String
  ) throws {
    #expect(try reason(SinaKlineTests.row(stamp), timeframe) == .malformed)
  }

  @Test(arguments: ["2026-02-23", "2026-02-28", "2027-01-04", "1990-12-18"])
  func `a day on which nothing trades, as far as is known, is none`(_ stamp: String) throws {
    #expect(try reason(SinaKlineTests.row(stamp), .day1) == .notATradingDay)
  }

  // MARK: Rows that are no bar

  @Test(arguments: [
    (#""open":"4.210""#, #""open":"4.230""#, RejectionReason.inconsistent),
    (#""close":"4.210""#, #""close":"4.190""#, .inconsistent),
    (#""high":"4.220""#, #""high":"4.190""#, .inconsistent),
    (#""low":"4.200""#, #""low":"0.000""#, .inconsistent),
    (#""low":"4.200""#, #""low":"-4.200""#, .negative),
    (#""volume":"367300""#, #""volume":"-1""#, .negative),
    (#""volume":"367300""#, #""volume":"1e3""#, .notANumber),
    (#""volume":"367300""#, #""volume":"""#, .notANumber),
    (#""volume":"367300""#, #""volume":99999999999999999999"#, .notANumber),
    (#""volume":"367300""#, #""volume":null"#, .notANumber),
    (#""open":"4.210","#, "", .malformed),
    (#""open":"4.210""#, #""open":[4.21]"#, .notANumber),
    (#"{"day":"2026-02-25 14:57:00","#, #"{"#, .malformed),
  ])
  func `a bad row is refused with its reason and the others stay`(
    _ text: String, _ damage: String, _ reason: RejectionReason
  ) throws {
    let rows = ["14:56", "14:57", "15:00"].map { SinaKlineTests.row("2026-02-25 \($0):00") }
    let damaged = rows[1].replacing(text, with: damage)
    #expect(damaged != rows[1])
    let page = try SinaKlineTests.decode("[\(rows[0]),\(damaged),\(rows[2])]")
    #expect(page.candles.count == 2)
    #expect(page.refused.map(\.index) == [1])
    #expect(page.refused.map(\.reason) == [reason])
  }

  @Test(arguments: ["7", #""x""#, "[]", "null", "{}"])
  func `a row of another kind is refused`(_ row: String) throws {
    #expect(try reason(row) == .malformed)
  }

  // MARK: Order

  @Test func `a stamp out of order is refused and not all behind it`() throws {
    let stamps = ["02", "03", "27", "04", "05"].map { "2026-03-\($0)" }
    let page = try SinaKlineTests.decode(
      "[\(stamps.map { SinaKlineTests.row($0) }.joined(separator: ","))]", .day1)
    #expect(page.candles.map(\.tradingDay.description) == stamps.filter { $0 != stamps[2] })
    #expect(page.refused.map(\.index) == [2])
    #expect(page.refused.map(\.reason) == [.backwardStamp])
  }

  @Test func `of two bars of one interval the first is kept`() throws {
    let week = ["2026-03-04", "2026-03-06", "2026-03-13"].map { SinaKlineTests.row($0) }
    let page = try SinaKlineTests.decode("[\(week.joined(separator: ","))]", .week1)
    #expect(page.candles.map(\.tradingDay.description) == ["2026-03-04", "2026-03-13"])
    #expect(page.refused.map(\.reason) == [.duplicate])
  }

  @Test(arguments: 1...50 as ClosedRange<UInt64>)
  func `what is kept is the longest chain in order`(_ seed: UInt64) throws {
    var random = SplitMix(seed: seed)
    let minutes = (0..<9).map { _ in Int.random(in: 1...30, using: &random) }
    let rows = minutes.map { SinaKlineTests.row("2026-02-25 10:\($0 < 10 ? "0" : "")\($0):00") }
    let page = try SinaKlineTests.decode("[\(rows.joined(separator: ","))]")
    let kept = page.candles.map { $0.closedAt.shanghaiSecondOfDay / 60 - 600 }
    #expect(zip(kept, kept.dropFirst()).allSatisfy { $0 < $1 }, "seed \(seed)")
    #expect(kept.count + page.refused.count == minutes.count, "seed \(seed)")
    let longest = (0..<1 << minutes.count).lazy.map { mask in
      let chosen = minutes.indices.filter { mask >> $0 & 1 == 1 }.map { minutes[$0] }
      return zip(chosen, chosen.dropFirst()).allSatisfy { $0 < $1 } ? chosen.count : 0
    }.max()
    #expect(kept.count == longest, "seed \(seed): \(minutes)")
  }
}
