/// Decoding what lists and history come in: a full page of Alpaca's bars and a whole list of
/// Mairui's, against what no reader can be faster than.

import Feeds
import Glibc
import Market
import TestSupport

let pagesSection = BenchSection(
  name: "pages", title: "10,000 bars of Alpaca and a list of 5,200 rows, bytes in, values out"
) { _ in
  let page = PageBench.bars()
  let list = PageBench.list()
  printLine("  \(page.count) and \(list.count) bytes, \(PageBench.roundsMax) rounds")
  let rows = PageBench.measure(page: page, list: list)
  report(rows)
  check("a page", rows[0].median, atMost: 10, "ms")
}

private enum PageBench {
  static let roundsMax = 101
  private static let symbols = ["AAAA", "BBBB", "CCCC", "DDDD"]
  private static let barsPerSymbol = 2_500
  private static let open: Int64 = 1_788_442_200  // 2026-09-03T13:30:00Z

  static func measure(page: [UInt8], list: [UInt8]) -> [BenchRow] {
    let query = BarsQuery(
      symbols: symbols.compactMap { Symbol($0) }, timeframe: .minute1,
      start: Timestamp(seconds: open), end: Timestamp(seconds: open + 86_400 * 30))
    var bars = BenchRow("candled: a page of bars")
    var rows = BenchRow("candled: a list")
    var copy = BenchRow("floor: memcpy of the page")
    var target = [UInt8](repeating: 0, count: page.count)
    for _ in 0..<roundsMax {
      bars.measure { expect(decode(.alpacaBars(query, from: .alpacaSIP), page), rows: 10_000) }
      rows.measure { expect(decode(.mairuiList(.hslt), list), rows: 5_200) }
      copy.measure {
        page.withUnsafeBytes { page in
          target.withUnsafeMutableBytes { $0.copyMemory(from: page) }
        }
      }
    }
    return [bars, rows, copy]
  }

  private static func decode(_ request: FeedRequest, _ body: [UInt8]) -> FeedResponse {
    body.withUnsafeBytes { FeedResponse.decode(request, status: 200, body: $0) }
  }

  private static func expect(_ response: FeedResponse, rows: Int) {
    switch response {
    case .candles(let page) where page.candles.count == rows: consume(page.candles.count)
    case .list(let list) where list.rows.count == rows: consume(list.rows.count)
    default: preconditionFailure("a row was refused")
    }
  }

  /// Minutes of four symbols over some days, with the digits real ones have.
  static func bars() -> [UInt8] {
    var random = SplitMix(seed: 20_260_903)
    let pages = symbols.map { symbol in
      let bars = (0..<barsPerSymbol).map { bar(minute: $0, &random) }
      return "\"\(symbol)\":[\(bars.joined(separator: ","))]"
    }
    return Array("{\"bars\":{\(pages.joined(separator: ","))},\"next_page_token\":null}".utf8)
  }

  private static func bar(minute: Int, _ random: inout SplitMix) -> String {
    let units = (0..<4).map { _ in Int64.random(in: 3_200_000...3_300_000, using: &random) }
    let prices = [1, 3, 0, 2].map { ExactDecimal(units: units.sorted()[$0], scale: 4).description }
    let time = minute % 390 * 60 + 13 * 3600 + 1800
    let day = 1 + minute / 390
    let clock = [time / 3600, time / 60 % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }
    return "{\"c\":\(prices[3]),\"h\":\(prices[1]),\"l\":\(prices[2]),\"n\":\(minute + 100),"
      + "\"o\":\(prices[0]),\"t\":\"2026-09-0\(day)T\(clock[0]):\(clock[1]):00Z\","
      + "\"v\":\(Int.random(in: 100_000...999_999, using: &random)),"
      + "\"vw\":\(prices[3])26}"
  }

  static func list() -> [UInt8] {
    let rows = (0..<5_200).map { index in
      let code = index % 2 == 0 ? 600_000 + index : 300_000 + index
      let exchange = index % 2 == 0 ? "SH" : "SZ"
      return "{\"dm\":\"\(code).\(exchange)\",\"mc\":\"远山重工\",\"jys\":\"\(exchange)\"}"
    }
    return Array("[\(rows.joined(separator: ","))]".utf8)
  }
}
