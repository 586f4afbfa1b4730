import Foundation
import Market
import Reader
import Testing

@testable import Gateway

@Suite struct StockEncoderTests {
  private static let day = TradingDay(daysSince1970: 20_640)

  /// Of a share whose last close was 10 yuan.
  private func stock(
    name: String, listedAs listed: String, bid: ExactDecimal = .zero, ask: ExactDecimal = .zero,
    high: ExactDecimal = .zero, exDay: TradingDay? = nil
  ) throws -> [String: Any] {
    var record = try InstrumentDirectoryTests.record(1, "sh600519", name: listed)
    record.yearExDay = exDay
    let directory = InstrumentDirectory().updated(with: [record])
    var quote = Quote(symbol: record.symbol, tradingDay: Self.day, secondOfDay: 34_200)
    quote.previousClose = ExactDecimal(10)
    (quote.bid, quote.ask) = (bid, ask)
    (quote.high, quote.low) = (high, high)
    let latest = LatestQuote(
      quote: quote, source: .live, name: name, forming: nil, receivedAt: quote.at, seq: 1)
    let place = SeriesPlace(index: 0)
    var text = JSONWriter()
    text.string("of another stock")
    return try EncodedStock(
      latest, place: place, identity: directory.identity(of: place, named: name), isStale: false,
      with: &text
    ).fields
  }

  @Test(
    "a stock has the name of its quote, and the limits of that name",
    arguments: ["贵州茅台", "ST茅台", "\"茅\\台\""])
  func nameOfQuote(listed: String) throws {
    let plain = try stock(name: "贵州茅台", listedAs: listed)
    #expect(plain["name"] as? String == "贵州茅台")
    #expect(plain["limitUp"] as? String == "11.00")
    let quoted = try stock(name: "\"茅\\台\"\u{1}", listedAs: listed)
    #expect(quoted["name"] as? String == "\"茅\\台\"\u{1}")
    let first = try stock(name: "N茅台", listedAs: listed)
    #expect(first["limitUp"] is NSNull)
  }

  @Test("an empty side of the book has no price")
  func emptySide() throws {
    let limit = ExactDecimal(units: 1_100, scale: 2)
    let sealed = try stock(name: "贵州茅台", listedAs: "贵州茅台", bid: limit)
    #expect(sealed["bidPrice"] as? String == "11.00" && sealed["askPrice"] is NSNull)
    let falling = try stock(name: "贵州茅台", listedAs: "贵州茅台", ask: limit)
    #expect(falling["bidPrice"] is NSNull && falling["askPrice"] as? String == "11.00")
  }

  @Test("a range over an ex-day without a known factor is not that of today")
  func unknownYear() throws {
    let name = "贵州茅台"
    let high = ExactDecimal(units: 1_020, scale: 2)
    #expect(try stock(name: name, listedAs: name, high: high)["yearHigh"] as? String == "10.20")
    let unknown = try stock(name: name, listedAs: name, high: high, exDay: Self.day)
    #expect(unknown["yearHigh"] is NSNull && unknown["yearLow"] is NSNull)
  }

  @Test("what a series is follows from the newest list of series")
  func newRecord() throws {
    let old = try InstrumentDirectoryTests.record(1, "sh600519", name: "贵州茅台")
    var record = old
    record.board = "main"
    let directory = InstrumentDirectory().updated(with: [old]).updated(with: [record])
    let members = directory.identity(of: SeriesPlace(index: 0), named: "贵州茅台").members
    #expect(String(decoding: members, as: UTF8.self).contains("\"board\":\"main\""))
  }
}
