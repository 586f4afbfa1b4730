import Feeds
import Market
import Testing

/// The payloads collected from public sources, where they are at hand.
@Suite(.enabled(if: Files.exists(Files.payloads + "/INDEX.md"), "no collected payloads here"))
struct PayloadTests {
  private func records(_ name: String) throws -> [Record] {
    guard let body = Files.read("\(Files.payloads)/\(name)") else { throw MissingFile(path: name) }
    return decode(body).recorder.records
  }

  @Test(arguments: [
    ("ashare_afterhours_star_chinext_2020-2023.gb18030.txt", 4),
    ("ashare_sh600000_close_2022-11-11.gb18030.txt", 1),
    ("ashare_sh600036_sz000001_sh000001_close_2019-12-27.gb18030.txt", 3),
    ("ashare_sh600519_afterhours_series_2026-07..09.gb18030.txt", 5),
    ("ashare_sh600519_close_2024-09-02.gb18030.txt", 1),
    ("ashare_sz000002_sh600000_intraday_2018-08-01.gb18030.txt", 2),
    ("ashare_sz000002_sh600015_close_2021-12-31.gb18030.txt", 2),
    ("auction_call_0916-0923_2026.gb18030.txt", 4),
    ("delisted_status-3_sh600001_2018_2019.gb18030.txt", 2),
    ("etf_sh510050_sh510500_sh510300.gb18030.txt", 6),
    ("etf_sz162411_close_2019-03-12.easyquotation-tests.gb18030.txt", 1),
    ("index_sz399001_circuitbreaker_2016-01-07_1135.pyQuant3.utf8.txt", 1),
    ("index_sz_sh_close_2016_2019_2022.gb18030.txt", 6),
    ("limitup_board_2016_2018.gb18030.txt", 3),
  ])
  func `every line that was served whole is a quote`(_ name: String, _ quotes: Int) throws {
    let records = try records(name)
    #expect(records.filter(\.isQuote).count == quotes)
    for case .rejected(let symbol, let reason, let detail, _) in records {
      Issue.record("\(symbol ?? "?"): \(reason) \(detail)")
    }
  }

  @Test(arguments: [
    ("hk_rt_and_delayed.gb18030.txt", 9), ("int_indexes.gb18030.txt", 17),
    ("short_form_s_prefix.gb18030.txt", 10), ("us_gb.gb18030.txt", 8),
  ])
  func `every overview line is read`(_ name: String, _ lines: Int) throws {
    let overviews = try records(name).filter { record in
      if case .overview = record { true } else { false }
    }
    #expect(overviews.count == lines)
  }

  @Test func `the line that was damaged in its source is rejected and its neighbours stay`() throws
  {
    let records = try records("bse_bj_lines_2023_2026.gb18030.txt")
    #expect(records.filter(\.isQuote).count == 3)
    #expect(
      records.contains { record in
        if case .rejected("bj920576", .malformed, _, _) = record { true } else { false }
      })
  }

  @Test func `a repo line of seven fields is rejected and the bond beside it is read`() throws {
    let records = try records("bond_convertible_and_repo.gb18030.txt")
    #expect(records.count == 2 && records[0].isQuote && !records[1].isQuote)
  }

  @Test func `of the assembled batch only the repo is rejected and one symbol is unknown`() throws {
    let records = try records("bulk_ASSEMBLED_distinct_symbols.gb18030.txt")
    #expect(records.filter { !$0.isQuote }.count == 2)
    #expect(records.contains(.unknown("sz160923")))
  }

  @Test func `symbols without fields are unknown`() throws {
    let wanted: [Record] = [.unknown("sh999999"), .unknown("sh920002")]
    let found = try records("error_unknown_symbol_empty.txt")
    #expect(found == wanted)
  }

  @Test(arguments: [
    ("error_ip_banned_text.txt", QuoteOutcome.banned),
    ("error_no_referer_body.txt", .unauthorised), ("error_sys_auth_failed.txt", .poisoned),
    ("hqnode_throttled_null.json", .throttled), ("error_input_error.json", .malformed),
    ("qfq_hfq_factors.js.txt", .malformed), ("suggest3_response.gb18030.txt", .malformed),
  ])
  func `a refusal is distinguished from a response`(_ name: String, _ outcome: QuoteOutcome) throws
  {
    let body = try #require(Files.read("\(Files.payloads)/\(name)"))
    #expect(decode(body).outcome == outcome)
  }
}
