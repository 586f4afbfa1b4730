import Feeds
import Hostile
import Market
import TestSupport
import Testing

/// What is asked of Sina beside quotes, from the journal's line to the answer.
@Suite struct SinaRequestTests {
  static let texts = [
    "kline 1 sh600519 1970", "kline 7200 bj920000 1", "factors qfq sh600000",
    "factors hfq sz300592", "node-count kcb", "node hs_a 67", "calendar sh",
  ]

  @Test(arguments: [
    (
      "kline 1 sh600519 1970", "kline/1",
      "/cn/api/jsonp_v2.php/=/CN_MarketDataService.getKLineData"
        + "?symbol=sh600519&scale=1&ma=no&datalen=1970"
    ),
    (
      "kline 1200 sz000002 5", "kline/1200",
      "/cn/api/jsonp_v2.php/=/CN_MarketDataService.getKLineData"
        + "?symbol=sz000002&scale=1200&ma=no&datalen=5"
    ),
    ("factors hfq sz300592", "factors/hfq", "/realstock/company/sz300592/hfq.js"),
    (
      "node-count hs_bjs", "node-count/hs_bjs",
      "/quotes_service/api/json_v2.php/Market_Center.getHQNodeStockCount?node=hs_bjs"
    ),
    (
      "node hs_a 67", "node/hs_a",
      "/quotes_service/api/json_v2.php/Market_Center.getHQNodeData"
        + "?page=67&num=80&sort=symbol&asc=1&node=hs_a"
    ),
    ("calendar sh", "calendar", "/realstock/company/klc_td_sh.txt"),
  ])
  func `a request is a path, a series and the Referer`(
    _ text: String, _ journalKey: String, _ path: String
  ) throws {
    let request = try #require(FeedRequest(ofAnySource: text))
    let endpoint = request.endpoint(credentials: nil)
    #expect(request.source == .sina)
    #expect(request.journalKey == journalKey)
    #expect(endpoint.path == path)
    #expect(endpoint.headers.map(\.name) == ["Referer"])
    #expect(!["sh600519", "sz000002", "sz300592", "67"].contains { endpoint.route.contains($0) })
  }

  @Test(arguments: texts)
  func `a request comes back from its line`(_ text: String) {
    #expect(FeedRequest(ofAnySource: text)?.text == text)
  }

  @Test(arguments: [
    "kline 120 sh600519 1970", "kline 1 sh600519 1971", "kline 1 sh600519 0",
    "kline 01 sh600519 10", "kline 1 600519 10", "kline 1 gb_aapl 10", "kline 1 s_sh600519 10",
    "kline 1 sh600519", "kline 1 sh600519 10 ", "factors all sh600000", "factors qfq aapl",
    "node hs_a 0", "node hs_a", "node sh_a 1", "node-count sh_a", "calendar sz", "calendar",
    "kline 1 sh600519 +10",
  ])
  func `another spelling is no request`(_ text: String) {
    #expect(FeedRequest(ofAnySource: text) == nil)
  }

  private func response(_ text: String, _ body: String, status: Int = 200) throws -> FeedResponse {
    let request = try #require(FeedRequest(ofAnySource: text))
    return Array(body.utf8).withUnsafeBytes {
      FeedResponse.decode(request, status: status, body: $0)
    }
  }

  @Test func `each answer is decoded as what was asked`() throws {
    let symbol = try #require(Symbol("sh600000"))
    let day = try #require(TradingDay("2026-07-16"))
    let row = #"{"day":"2026-07-16","open":"9","high":"9","low":"9","close":"9","volume":"1"}"#
    guard case .candles(let page) = try response("kline 240 sh600000 1", "=([\(row)]);") else {
      Issue.record("no candles")
      return
    }
    #expect(page.candles.map(\.symbol) == [symbol] && page.candles.map(\.tradingDay) == [day])
    #expect(page.nextPageToken == nil)
    let one = try ExactDecimal("1.0")
    let factor = AdjustmentFactor(symbol: symbol, kind: .hfq, from: day, factor: one)
    let file = #"var sh600000hfq={"total":1,"data":[{"d":"2026-07-16","f":"1.0"}]}"#
    #expect(try response("factors hfq sh600000", file) == .factors([factor]))
    #expect(try response("node-count kcb", #""612""#) == .listCount(612))
    let listed = ListedInstrument(symbol: symbol, name: "x", exchange: .shanghai)
    #expect(
      try response("node hs_a 1", #"[{"symbol":"sh600000","name":"x"}]"#)
        == .list(InstrumentList(listed: [listed], refused: [])))
    let file2 = #"var datelist="LC/AAAGAAr";var KLC_TD_SH=datelist;"#
    guard case .calendar(let days) = try response("calendar sh", file2) else {
      Issue.record("no calendar")
      return
    }
    #expect(days.count == 5)
  }

  @Test(arguments: texts)
  func `a ban page answers none of them`(_ text: String) throws {
    for status in [200, 456] {
      guard case .refused(let refusal) = try response(text, "<html>异常访问", status: status) else {
        Issue.record("answered")
        continue
      }
      #expect(refusal.kind == .banned)
    }
  }
}
