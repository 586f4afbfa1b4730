import Feeds
import Hostile
import Market
import Testing

/// What was collected of Sina's history from public sources, where it is at hand. Most of it is
/// rows pasted one a line; they are put into the array they came in.
@Suite(.enabled(if: Files.exists(Files.payloads + "/INDEX.md"), "no collected payloads here"))
struct SinaHistoryPayloadTests {
  private func text(_ name: String) throws -> String {
    guard let body = Files.read("\(Files.payloads)/\(name)") else { throw MissingFile(path: name) }
    return String(decoding: body, as: UTF8.self)
  }

  private func response(_ request: String, _ body: String) throws -> FeedResponse {
    let request = try #require(FeedRequest(ofAnySource: request))
    return Array(body.utf8).withUnsafeBytes { FeedResponse.decode(request, status: 200, body: $0) }
  }

  private func candles(_ request: String, _ body: String) throws -> [Candle] {
    let response = try response(request, body)
    guard case .candles(let page) = response else {
      Issue.record("\(response)")
      return []
    }
    for row in page.refused { Issue.record("row \(row.index): \(row.reason) \(row.detail)") }
    return page.candles
  }

  @Test func `the daily bar with averages is read`() throws {
    let body = try text("kline_scale240_sh600519_ma_2026-06-22.json")
    let candles = try candles("kline 240 sh600519 1", body)
    #expect(candles.map(\.close.description) == ["1241.410"])
    #expect(candles.map(\.turnover) == [nil])
  }

  @Test(arguments: [
    ("kline_scale5_index_ma_2024-01-29_and_stock_2025-05-23.json.txt", 0, "5 sh000001"),
    ("kline_scale5_index_ma_2024-01-29_and_stock_2025-05-23.json.txt", 1, "5 sh600000"),
    ("kline_scale5_index_ma_2024-01-29_and_stock_2025-05-23.json.txt", 2, "15 sh000001"),
    ("kline_scale5_index_ma_2024-01-29_and_stock_2025-05-23.json.txt", 3, "240 sh600519"),
    ("kline_scale5_index_ma_2024-01-29_and_stock_2025-05-23.json.txt", 4, "240 sz000001"),
    ("kline_scale60_240_ma_sh600036_2019-12-27.json.txt", 0, "60 sh600036"),
    ("kline_scale60_240_ma_sh600036_2019-12-27.json.txt", 1, "60 sh600036"),
    ("kline_scale60_240_ma_sh600036_2019-12-27.json.txt", 2, "240 sh600036"),
    ("kline_scale60_240_ma_sh600036_2019-12-27.json.txt", 3, "240 sh600036"),
    ("kline_scale60_240_ma_sh600036_2019-12-27.json.txt", 4, "240 sh600036"),
    ("kline_scale60_240_ma_sh600036_2019-12-27.json.txt", 5, "240 sh600036"),
  ])
  func `every row is a bar in each wrapping`(_ name: String, _ row: Int, _ series: String) throws {
    let rows = try text(name).split(separator: "\n")
    #expect(rows.count == (name.contains("scale60") ? 6 : 5))
    let plain = try candles("kline \(series) 1970", "[\(rows[row])]")
    let wrapped = try candles("kline \(series) 1970", "/*<script>*/\n=([\(rows[row])]);")
    #expect(plain.count == 1 && plain == wrapped)
  }

  @Test func `the rows of a printed table of minutes are bars`() throws {
    let table = try text("kline_scale1_sh600751_2026-02-25_akshare-doc-TABLE.txt")
    let keys = ["open", "high", "low", "close", "volume", "amount"]
    let rows = table.split(separator: "\n").compactMap { line -> String? in
      let fields = line.split(separator: " ")
      guard fields.count == 9 else { return nil }
      let values = zip(keys, fields.dropFirst(3)).map { #""\#($0)":"\#($1)""# }
      return #"{"day":"\#(fields[1]) \#(fields[2])",\#(values.joined(separator: ","))}"#
    }
    let candles = try candles("kline 1 sh600751 1970", "[\(rows.joined(separator: ","))]")
    #expect(candles.count == 10)
    #expect(candles.last?.closedAt.description == "2026-02-25T15:00:00+08:00")
    #expect(candles.last?.turnover?.description == "3551666.8430")
  }

  @Test(arguments: [
    ("error_kline_null_datalen_9900.txt", FeedRefusal.Kind.throttled(retryAfterSeconds: nil)),
    ("error_input_error.json", .programmingError), ("error_ip_banned_text.txt", .banned),
    ("error_no_referer_body.txt", .unauthorised), ("error_sys_auth_failed.txt", .malformed),
    ("hqnode_throttled_null.json", .throttled(retryAfterSeconds: nil)),
  ])
  func `a refusal is distinguished from a response, whatever was asked`(
    _ name: String, _ kind: FeedRefusal.Kind
  ) throws {
    let body = try text(name)
    for request in ["kline 240 sh600519 9", "node hs_a 1"] {
      guard case .refused(let refusal) = try response(request, body) else {
        Issue.record("\(request) was answered")
        continue
      }
      #expect(refusal.kind == kind, "\(request)")
    }
  }

  @Test func `a count and the rows of three years are read`() throws {
    #expect(try response("node-count hs_a", text("hqnode_count_etf_2026.json")) == .listCount(1676))
    let rows = [
      ("hqnode_kcb_sh688981_preopen_2021.json", "sh688981 中芯国际"),
      ("hqnode_sh603788_close_~2017.json", "sh603788 宁波高发"),
      ("hqnode_simple_hs_s_sh000001_2023-03.json", "sh000001 上证指数"),
    ]
    for (name, wanted) in rows {
      let row = try text(name)
      let response = try response("node kcb 1", row.hasPrefix("[") ? row : "[\(row)]")
      guard case .list(let list) = response else {
        Issue.record("\(name): \(response)")
        continue
      }
      #expect(list.rows.map { "\($0.symbol) \($0.name)" } == [wanted])
      #expect(list.refused.isEmpty)
    }
  }

  @Test func `both factor files are read`() throws {
    let text = try text("qfq_hfq_factors.js.txt")
    let second = try #require(text.firstRange(of: "var sh600000qfq"))
    let files = [
      (
        "factors qfq sz300592", text[..<second.lowerBound],
        ["1900-01-01", "2025-07-16", "2026-07-09"]
      ),
      ("factors qfq sh600000", text[second.lowerBound...], ["2025-07-16", "2026-07-16"]),
    ]
    for (request, file, days) in files {
      guard case .factors(let factors) = try response(request, String(file)) else {
        Issue.record("\(request) was refused")
        continue
      }
      #expect(factors.map(\.from.description) == days)
    }
  }

  @Test func `the calendar names every day that is known but the one it lacks`() throws {
    let body = try text("calendar_klc_td_sh_2026-09-10.txt")
    guard case .calendar(let days) = try response("calendar sh", body) else {
      Issue.record("refused")
      return
    }
    let decoded = try text("calendar_klc_td_sh_2026-09-10.DECODED.json")
      .split(separator: "\"").compactMap { TradingDay($0) }
    #expect(days == decoded && days.count == 8796)
    let calendar = TradingCalendar.shanghai
    let known = (calendar.firstDay...calendar.lastDay).filter { calendar.isTradingDay($0) == true }
    #expect(Set(known).subtracting(days).map(\.description) == ["1992-05-04"])
    #expect(Set(days).isSubset(of: known))
  }
}
