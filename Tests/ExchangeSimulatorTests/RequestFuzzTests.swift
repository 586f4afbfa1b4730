import Market
import TestSupport
import Testing

@testable import ExchangeSimulator
@testable import Ledgers
@testable import TestExchange

/// Questions nobody should ask: every one is answered, and the next good one as if nothing was.
@Suite struct RequestFuzzTests {
  private static let paths: [(String, [String])] = [
    (
      "/cn/api/jsonp_v2.php/=/CN_MarketDataService.getKLineData",
      ["symbol", "scale", "datalen", "ma", "_"]
    ),
    (
      "/quotes_service/api/json_v2.php/Market_Center.getHQNodeData",
      ["node", "page", "num", "rn"]
    ),
    ("/realstock/company/sh600000/qfq.js", ["_"]), ("/realstock/company//hfq.js", []),
    ("/realstock/company/klc_td_sh.txt", ["_"]), ("/hslt/list/", ["_"]), ("/hslt/list/%", []),
    (
      "/v2/stocks/bars",
      [
        "symbols", "timeframe", "start", "end", "limit", "feed", "page_token", "asof", "sort",
        "adjustment",
      ]
    ),
    ("/v2/calendar", ["start", "end"]), ("/v2/assets", ["status", "asset_class"]),
  ]

  private static let values = [
    "", "-1", "0", "1", "5", "240", "1200", "7200", "80", "9223372036854775807",
    "99999999999999999999", "x",
    "%", "%2", "%FF", "sh600000", "sz399001", "AAPL", "AAPL,MSFT", "hs_a", "kcb", "1Min", "1Hour",
    "1Day", "1Week", "1Month", "23H", "iex", "sip", "desc", "raw", "null", "2026-07-01",
    "2026-13-01", "0001-01-01", "9999-12-31T23:59:59Z", "2026-07-06T13:30:00.123456789-04:00",
    "2026-07-06T13:30:00+99:99", "2026-07-06T99999999999999:30:00Z", "1783389600000",
    "QUFQTHxNfDE3ODg0NDg4MDAwMDAwMDAwMDA%3D", "QUFQTHxNfDkyMjMzNzIwMzY4NTQ3NzU4MDc%3D", "====",
  ]

  @Test(arguments: [1, 2] as [UInt64])
  func `every question has an answer`(_ seed: UInt64) throws {
    let history = try HistoryTests.history(19, days: 2, instruments: 12)
    var exchange = MemoryExchange(history: history, alpaca: AlpacaOptions(keys: ["k": "s"]))
    exchange.order(Fault(.endlessPages, on: .alpaca, chancePerMille: 200))
    let keys = ["apca-api-key-id": "k", "apca-api-secret-key": "s"]
    let day = history.days[1]
    var random = SplitMix(seed: seed)
    for number in 0..<1500 {
      guard let (path, names) = Self.paths.randomElement(using: &random) else { continue }
      let pairs = names.compactMap { name -> String? in
        guard Int.random(in: 0..<5, using: &random) > 0 else { return nil }
        return name + "=" + (Self.values.randomElement(using: &random) ?? "")
      }
      let target = path + "?" + pairs.joined(separator: "&")
      // A minute each, or the rate would answer for all.
      let moment = Timestamp(day: day, secondOfDay: 34_200).adding(seconds: Int64(number) * 60)
      let response = exchange.response(target, headers: keys, at: moment)
      #expect([200, 400, 403, 404].contains(response?.status), "seed \(seed): \(target)")
    }
    let good = exchange.response(
      "/realstock/company/sh600000/qfq.js", at: Timestamp(day: day, secondOfDay: 50_000))
    #expect(good?.status == 200 && good?.body.isEmpty == false)
  }
}
