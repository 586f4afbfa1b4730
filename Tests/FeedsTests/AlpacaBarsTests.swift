import Market
import TestSupport
import Testing

@testable import Feeds

@Suite struct AlpacaBarsTests {
  private static func query(_ timeframe: Timeframe, _ names: String...) throws -> FeedRequest {
    let symbols = try names.map { try #require(Symbol($0)) }
    let start = Timestamp(seconds: 1_788_442_200)
    let query = BarsQuery(
      symbols: symbols, timeframe: timeframe, start: start, end: start.adding(seconds: 86_400))
    return .alpacaBars(query, from: .alpacaSIP)
  }

  private func page(_ body: String, _ timeframe: Timeframe = .minute1) throws -> CandlePage {
    let request = try Self.query(timeframe, "AAPL", "MSFT")
    let response = Array(body.utf8).withUnsafeBytes {
      FeedResponse.decode(request, status: 200, body: $0)
    }
    guard case .candles(let page) = response else { throw MissingFile(path: "\(response)") }
    return page
  }

  private func bar(_ time: String, _ rest: String = #""o":2,"h":3,"l":1,"c":2,"v":5"#) -> String {
    #"{"t":"\#(time)",\#(rest)}"#
  }

  private func utc(_ text: String) throws -> Timestamp {
    try #require(Array(text.utf8).withUnsafeBytes { Timestamp(rfc3339: $0) })
  }

  @Test func `one bar carries every figure as its literal and what was asked for`() throws {
    let body =
      #"{"bars":{"AAPL":[{"c":324.6807,"h":325.25,"l":324.25,"n":10822,"o":324.870,"#
      + #""t":"2026-09-03T13:30:00Z","v":626759,"vw":324.786206}]},"next_page_token":"a=="}"#
    let page = try page(body)
    let candle = try #require(page.candles.first)
    #expect(candle.symbol.description == "AAPL")
    #expect(candle.source == .alpacaSIP)
    #expect(candle.timeframe == .minute1)
    #expect(candle.tradingDay.description == "2026-09-03")
    #expect(candle.openedAt == (try utc("2026-09-03T13:30:00Z")))
    #expect(candle.closedAt == (try utc("2026-09-03T13:31:00Z")))
    let prices = [candle.open, candle.high, candle.low, candle.close, candle.volume]
    #expect(prices.map(\.description) == ["324.870", "325.25", "324.25", "324.6807", "626759"])
    #expect(candle.turnover == nil)
    #expect(candle.trades == 10822)
    #expect(candle.vwap?.description == "324.786206")
    #expect(candle.flags.isEmpty)
    #expect(page.nextPageToken == "a==")
  }

  @Test func `the order of keys changes nothing`() throws {
    let one = #"{"t":"2026-09-03T13:30:00Z","o":2,"h":3,"l":1,"c":2,"v":5,"n":4,"vw":2.1}"#
    let other = #"{"c":2,"h":3,"l":1,"n":4,"o":2,"t":"2026-09-03T13:30:00Z","v":5,"vw":2.1}"#
    #expect(
      try page(#"{"bars":{"AAPL":[\#(one)]},"next_page_token":null}"#)
        == page(#"{"next_page_token":null,"bars":{"AAPL":[\#(other)]}}"#))
  }

  @Test(arguments: [
    #"{"bars":{},"next_page_token":null}"#, #"{"bars":null}"#,
    #"{"next_page_token":null}"#, #"{"next_page_token":""}"#, #"{"bars":{"AAPL":[]}}"#,
    #"{"bars":{"AAPL":null}}"#, #"{"bars":{},"next_page_token":"","currency":"USD"}"#,
  ])
  func `no bars are no failure, however they are spelled`(_ body: String) throws {
    #expect(try page(body) == CandlePage(candles: [], refused: []))
  }

  @Test(arguments: [
    (Timeframe.minute1, "2026-09-03T13:31:00Z", "2026-09-03T13:32:00Z", "2026-09-03"),
    (.minute15, "2026-09-03T13:45:00Z", "2026-09-03T14:00:00Z", "2026-09-03"),
    (.hour1, "2026-09-04T00:00:00Z", "2026-09-04T01:00:00Z", "2026-09-03"),
    (.minute1, "2026-01-05T04:59:00Z", "2026-01-05T05:00:00Z", "2026-01-04"),
    (.minute1, "2026-01-05T05:00:00.000000000Z", "2026-01-05T05:01:00Z", "2026-01-05"),
    (.day1, "2026-03-07T05:00:00Z", "2026-03-08T05:00:00Z", "2026-03-07"),
    (.day1, "2026-03-08T05:00:00Z", "2026-03-09T04:00:00Z", "2026-03-08"),
    (.day1, "2026-11-01T04:00:00Z", "2026-11-02T05:00:00Z", "2026-11-01"),
    (.week1, "2026-08-31T04:00:00Z", "2026-09-07T04:00:00Z", "2026-08-31"),
    (.month1, "2026-12-01T05:00:00Z", "2027-01-01T05:00:00Z", "2026-12-01"),
    (.month1, "2026-10-01T00:00:00-04:00", "2026-11-01T04:00:00Z", "2026-10-01"),
  ])
  func `a bar starts at its stamp and ends where its length ends in New York`(
    _ timeframe: Timeframe, _ stamp: String, _ end: String, _ day: String
  ) throws {
    let page = try page(#"{"bars":{"AAPL":[\#(bar(stamp))]}}"#, timeframe)
    let candle = try #require(page.candles.first)
    #expect(candle.openedAt == (try utc(stamp)))
    #expect(candle.closedAt == (try utc(end)))
    #expect(candle.tradingDay.description == day)
  }

  @Test(arguments: [
    (Timeframe.minute1, "2026-09-03T13:31:30Z"), (.minute1, "2026-09-03T13:31:00.5Z"),
    (.minute15, "2026-09-03T13:40:00Z"), (.hour1, "2026-09-03T13:30:00Z"),
    (.day1, "2026-09-03T05:00:00Z"), (.day1, "2026-09-03T00:00:00Z"),
    (.week1, "2026-09-03T05:00:00Z"),
  ])
  func `a bar that starts where none does is refused`(_ timeframe: Timeframe, _ stamp: String)
    throws
  {
    let page = try page(#"{"bars":{"AAPL":[\#(bar(stamp))]}}"#, timeframe)
    #expect(page.candles.isEmpty)
    #expect(page.refused.map(\.reason) == [.inconsistent])
  }

  @Test(arguments: [
    (#""o":4,"h":3,"l":1,"c":2"#, true), (#""o":2,"h":3,"l":1,"c":0.9"#, true),
    (#""o":3,"h":3,"l":1,"c":1.00"#, false),
  ])
  func `an open or close outside the range is marked and kept`(
    _ prices: String, _ isOutside: Bool
  ) throws {
    let body = #"{"bars":{"AAPL":[\#(bar("2026-09-03T13:30:00Z", prices + #","v":0"#))]}}"#
    #expect(try page(body).candles.map(\.flags) == [isOutside ? .outsideRange : []])
  }

  @Test func `a bar nobody asked for is refused and its neighbours stay`() throws {
    let bars = "[\(bar("2026-09-03T13:30:00Z"))]"
    let page = try page(#"{"bars":{"AAPL":\#(bars),"TSLA":\#(bars),"MSFT":\#(bars)}}"#)
    #expect(page.candles.map(\.symbol.description) == ["AAPL", "MSFT"])
    #expect(page.refused.map(\.reason) == [.unrequested])
    #expect(page.refused.map(\.index) == [1])
    #expect(page.refused.map(\.symbol?.description) == ["TSLA"])
  }

  @Test(arguments: [
    #"{}"#, #"[]"#, #"{"AAPL":{"minuteBar":{}}}"#, #"{"bars":{},"next_page_token":7}"#,
    #"{"bars":7}"#, #"{"bars":[]}"#, #"{"bars":{"AAPL":[{"o":NaN}]}}"#, #"{"bars":{}} {}"#,
    #"{"bars":{"AAPL":["#,
  ])
  func `what is no page is malformed`(_ body: String) throws {
    let request = try Self.query(.minute1, "AAPL")
    let response = Array(body.utf8).withUnsafeBytes {
      FeedResponse.decode(request, status: 200, body: $0)
    }
    guard case .refused(let refusal) = response else { throw MissingFile(path: "\(response)") }
    #expect(refusal.kind == .malformed)
  }

  @Test func `a token beyond its bound is malformed`() throws {
    let longest = String(repeating: "a", count: AlpacaBarsQuery.pageTokenBytesMax)
    #expect(try page(#"{"next_page_token":"\#(longest)"}"#).nextPageToken == longest)
    #expect(throws: MissingFile.self) { try page(#"{"next_page_token":"\#(longest)a"}"#) }
  }
}

@Suite struct AlpacaRefusalTests {
  private func kind(_ body: String, _ status: Int) -> FeedRefusal.Kind? {
    Array(body.utf8).withUnsafeBytes { AlpacaRefusal.classify($0, status: status)?.kind }
  }

  @Test(arguments: [
    (400, #"{"message":"invalid symbol: CSPX"}"#, FeedRefusal.Kind.invalidSymbol("CSPX")),
    (400, #"{"message":"invalid symbol: 0029900E0"}"#, .invalidSymbol("0029900E0")),
    (400, #"{"message":"invalid symbol: TAOP:NASDAQ"}"#, .invalidSymbol("TAOP:NASDAQ")),
    (400, #"{"message":"invalid symbols: \u0001"}"#, .invalidSymbol(nil)),
    (422, #"{"message":"invalid symbol: spy"}"#, .invalidSymbol("spy")),
    (400, #"{"message":"end should not be before start"}"#, .programmingError),
    (400, #"{"message":"invalid timeframe: 3Fortnight"}"#, .programmingError),
    (400, "", .programmingError), (404, "<html>", .programmingError),
    (301, "<html>", .transient), (401, "<html>", .unauthorised),
    (401, #"{"message":"subscription"}"#, .unauthorised),
    (403, #"{"message":"forbidden."}"#, .unauthorised), (403, "", .unauthorised),
    (403, #"{"message":"subscription does not permit querying recent SIP data"}"#, .entitlement),
    (403, #"{"code":42210000,"message":"-"}"#, .entitlement),
    (422, #"{"code":42210000,"message":"-"}"#, .entitlement),
    (429, #"{"message": "too many requests."}"#, .throttled(retryAfterSeconds: nil)),
    (429, "", .throttled(retryAfterSeconds: nil)),
    (500, #"{"code":50010000,"message":"internal server error occurred"}"#, .transient),
    (502, "<html>", .transient), (503, "<html>", .transient), (504, "<html>", .transient),
    (408, "", .transient), (200, "<html>", .transient), (200, "", .malformed),
    (200, "null", .malformed), (200, #"{"message":"hello"}"#, .malformed),
    (200, #"{"message":"too many requests."}"#, .throttled(retryAfterSeconds: nil)),
    (200, #"{"message":"forbidden."}"#, .unauthorised),
    (200, #"{"message":"invalid symbol: CSPX"}"#, .invalidSymbol("CSPX")),
    (200, #"{"message":"end should not be before start"}"#, .programmingError),
    (200, #"{"code":50010000,"message":"internal server error occurred"}"#, .transient),
  ])
  func `status and message make the class`(
    _ status: Int, _ body: String, _ kind: FeedRefusal.Kind
  ) {
    #expect(self.kind(body, status) == kind)
  }

  @Test func `a page with bars and a word beside them is read`() {
    #expect(kind(#"{"message":"subscription","bars":{}}"#, 200) == nil)
  }
}
