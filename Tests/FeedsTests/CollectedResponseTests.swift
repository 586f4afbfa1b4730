import Market
import TestSupport
import Testing

@testable import Feeds

/// The payloads of Mairui and Alpaca collected from public sources, where they are at hand.
@Suite(.enabled(if: Files.exists(Files.collected + "/alpaca/INDEX.md"), "no collected payloads"))
struct CollectedResponseTests {
  private func body(_ path: String) throws -> [UInt8] {
    guard let body = Files.read("\(Files.collected)/\(path)") else { throw MissingFile(path: path) }
    return body
  }

  private func list(_ path: String, _ status: Int = 200) throws -> FeedResponse {
    try body("mairui/\(path)").withUnsafeBytes {
      FeedResponse.decode(.mairuiList(.hslt), status: status, body: $0)
    }
  }

  private func lines(
    _ path: String, _ status: Int = 200, timeframe: Timeframe = .minute1
  ) throws -> ResponseLines {
    try body("alpaca/\(path)").withUnsafeBytes {
      ResponseLines.alpacaBars(
        $0, status: status, timeframe: timeframe, requested: Self.symbols)
    }
  }

  private static let symbols = [
    "AAPL", "MSFT", "AMZN", "GE", "NVDA", "BTC/USD", "ETH/USD", "BCH/USD", "LTC/USD",
  ]

  @Test(arguments: [
    ("mairui__hslt_list_legacy_bare.json", ["sz000001 平安银行", "sz300418 昆仑万维"]),
    ("mairui_family__hslt_list_2026_suffixed.json", ["sz000001 平安银行", "sz000002 万 科Ａ"]),
    ("mairui_family__bj_index_list.json", ["bj899050 北证50", "bj899601 北证专精特新"]),
  ])
  func `every list is read whole`(_ name: String, _ rows: [String]) throws {
    guard case .list(let list) = try list(name) else { throw MissingFile(path: name) }
    #expect(list.rows.map { "\($0.symbol) \($0.name)" } == rows)
    #expect(list.refused.isEmpty)
  }

  @Test(arguments: [
    ("mairui__error_200_quota_text_A.txt", 200, FeedRefusal.Kind.quotaExhausted),
    ("mairui__error_bare_9.txt", 200, .quotaExhausted),
    ("mairui__error_404_text.txt", 404, .notFound), ("mairui__error_404_text.txt", 200, .notFound),
    ("mairui__error_429_payload_min.json", 429, .throttled(retryAfterSeconds: 60)),
    ("mairui__error_data_missing.json", 200, .noData),
    ("mairui_family__error_licence_invalid_detail.json", 200, .unauthorised),
    ("mairui__history_daily_rows_shape.json", 200, .malformed),
    ("mairui_family__hsstock_real_time.json", 200, .malformed),
  ])
  func `what is no list has its class`(
    _ name: String, _ status: Int, _ kind: FeedRefusal.Kind
  ) throws {
    guard case .refused(let refusal) = try list(name, status) else {
      throw MissingFile(path: name)
    }
    #expect(refusal.kind == kind)
  }

  @Test(arguments: [
    ("alpaca_docs_openapi__bars_multi.json", Timeframe.minute1, 1),
    ("alpaca_go__GetBars_1.json", .minute1, 5),
    ("alpaca_go__GetBars_Adjustment_1.json", .day1, 2),
    ("alpaca_live__empty_200_unknown_symbol_holiday_or_prehistory.json", .minute1, 0),
    ("alpaca_live__nvda_1day_split_split.json", .day1, 16),
    ("alpaca_py_stock__get_bars.json", .day1, 2),
    ("alpaca_live__multi_1min_walk_page1.ABRIDGED.json", .minute1, 11),
    ("alpaca_py_stock__get_bars_multi_empty_response.json", .minute1, 0),
    ("alpaca_go__GetCryptoBars_1.json", .minute1, 11),
    ("alpaca_go__GetCryptoMultiBars_1.json", .minute1, 12),
  ])
  func `every bar that was served is read`(
    _ name: String, _ timeframe: Timeframe, _ count: Int
  ) throws {
    let printed = try lines(name, timeframe: timeframe)
    #expect(!printed.isRefused)
    #expect(printed.lines.count - 1 == count)
    #expect(printed.lines.allSatisfy { !$0.contains("rejected") })
  }

  @Test(arguments: [
    (
      "alpaca_go__GetBars_1.json", Timeframe.minute1,
      #""timeframe":"1m","opened_at":"2021-10-15T16:15:00Z""#
    ),
    (
      "alpaca_go__GetBars_1.json", .minute1,
      #""open":"3379.5241","high":"3383.24","low":"3376.49","#
    ),
    (
      "alpaca_go__GetBars_1.json", .minute1,
      #""turnover":null,"trades":5544,"vwap":"3379.638266"}"#
    ),
    (
      "alpaca_live__multi_1min_walk_page1.ABRIDGED.json", .minute1,
      #"{"next_page_token":"TVNGVHxNfD"#
    ),
    ("alpaca_live__nvda_1day_split_split.json", .day1, #"{"next_page_token":null}"#),
    (
      "alpaca_py_stock__get_bars.json", .day1,
      #""timeframe":"1d","opened_at":"2022-02-01T05:00:00Z""#
    ),
  ])
  func `bars are printed with their length and every digit`(
    _ name: String, _ timeframe: Timeframe, _ text: String
  ) throws {
    #expect(try lines(name, timeframe: timeframe).lines.contains { $0.contains(text) })
  }

  @Test(arguments: [
    ("alpaca_docs_faq__error_latest_sip_code_42210000.json", 403, "entitlement"),
    ("alpaca_live__error_400_bad_timeframe.json", 400, "programming_error"),
    ("alpaca_live__error_400_end_before_start.json", 400, "programming_error"),
    ("alpaca_live__error_400_malformed_date.json", 400, "programming_error"),
    ("alpaca_live__error_429_rate_limited.json", 429, "throttled"),
    ("alpaca_quoted__error_400_crypto_invalid_location.json", 400, "programming_error"),
    ("alpaca_quoted__error_400_invalid_symbol_CSP1.json", 400, "invalid_symbol"),
    ("alpaca_quoted__error_400_invalid_symbol_digits.json", 400, "invalid_symbol"),
    ("alpaca_quoted__error_403_forbidden_trading_api.json", 403, "unauthorised"),
    ("alpaca_quoted__error_500_internal.json", 500, "transient"),
    ("alpaca_go__CryptoSnapshot_1.json", 200, "malformed"),
    ("alpaca_go__LatestCryptoSnapshots_1.json", 200, "malformed"),
    ("alpaca_go__Snapshot_1.json", 200, "malformed"),
    ("alpaca_go__Snapshots_1.json", 200, "malformed"),
    ("alpaca_py_crypto__crypto_get_snapshot.json", 200, "malformed"),
    ("alpaca_py_stock__get_snapshot.json", 200, "malformed"),
    ("alpaca_py_stock__get_snapshot_multi_empty_response.json", 200, "malformed"),
    ("alpaca_docs__clock_v2.json", 200, "malformed"),
    ("alpaca_docs__calendar_v2.json", 200, "malformed"),
    ("alpaca_py_trading__get_all_assets.json", 200, "malformed"),
    ("alpaca_stream__06_bar_iex_live.json", 200, "malformed"),
    ("alpaca_stream__07_error_406.json", 200, "malformed"),
    ("alpaca_sdk_js_mock__updated_bar_u.json", 200, "malformed"),
  ])
  func `what is no page of bars has its class`(
    _ name: String, _ status: Int, _ outcome: String
  ) throws {
    let printed = try lines(name, status)
    #expect(printed.isRefused)
    #expect(printed.lines.count == 1)
    #expect(printed.lines[0].hasPrefix(#"{"outcome":"\#(outcome)","#))
  }

  @Test(arguments: [
    ("alpaca_docs__calendar_v2.json", "2025-01-02"),
    ("alpaca_legacy_sdk__calendar_2018.json", "2018-01-03"),
  ])
  func `both forms of the calendar are read`(_ name: String, _ day: String) throws {
    let day = try #require(TradingDay(day))
    let response = try body("alpaca/\(name)").withUnsafeBytes {
      FeedResponse.decode(.alpacaCalendar(from: day, to: day), status: 200, body: $0)
    }
    let opens = Timestamp(day: day, newYorkSecondOfDay: 9 * 3600 + 1800)
    let closes = Timestamp(day: day, newYorkSecondOfDay: 16 * 3600)
    #expect(
      response
        == .sessions([
          MarketSession(exchange: .unitedStates, day: day, opens: opens, closes: closes)
        ]))
  }

  @Test(arguments: [
    "alpaca_py_trading__get_all_assets.json", "alpaca_py_trading__get_all_assets_params.json",
  ])
  func `assets are read`(_ name: String) throws {
    let response = try body("alpaca/\(name)").withUnsafeBytes {
      FeedResponse.decode(.alpacaAssets, status: 200, body: $0)
    }
    guard case .list(let list) = response else { throw MissingFile(path: name) }
    #expect(list.rows.map(\.symbol.description) == ["AAPL"])
  }
}
