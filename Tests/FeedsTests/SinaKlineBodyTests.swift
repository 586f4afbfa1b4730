import Market
import TestSupport
import Testing

@testable import Feeds

/// What the rows of a K-line come in, and bodies that are none or damaged.
@Suite struct SinaKlineBodyTests {
  private static let rows =
    "["
    + [
      row("14:56", "4.200", "4.210", "4.200", "4.210", "745311", "3132349.1281"),
      row("14:57", "4.210", "4.220", "4.200", "4.210", "367300", "1545926.9902"),
      row("15:00", "4.200", "4.200", "4.200", "4.200", "845635", "3551666.8430"),
    ].joined(separator: ",\n") + "]"

  private static func row(_ time: String, _ numbers: String...) -> String {
    let keys = ["open", "high", "low", "close", "volume", "amount"]
    let fields = zip(keys, numbers).map { #""\#($0)":"\#($1)""# }
    return #"{"day":"2026-02-25 \#(time):00",\#(fields.joined(separator: ","))}"#
  }

  private static let comment = "/*<script>location.href='//sina.com';</script>*/\n"

  @Test(arguments: [
    rows, comment + "=(\(rows));", comment + "var _x1=(\(rows));", "= \(rows);\n",
    "\u{FEFF}" + rows,
  ])
  func `the same rows come out of every wrapping`(_ body: String) throws {
    let page = try SinaKlineTests.decode(body)
    #expect(page.refused.isEmpty)
    #expect(
      page.candles.map(\.closedAt.description)
        == ["14:56", "14:57", "15:00"].map {
          "2026-02-25T\($0):00+08:00"
        })
    #expect(page.candles.last?.turnover?.description == "3551666.8430")
  }

  @Test(arguments: [
    ("=(null);", SinaRefusal.null), (comment + "=(null);", SinaRefusal.null),
    (#"{"__ERROR":1,"__ERRORMSG":"Input error"}"#, SinaRefusal.inputError),
    ("[]", FeedRefusal(.noData, "the response holds no bars")),
    ("=([]);", FeedRefusal(.noData, "the response holds no bars")),
    ("{}", FeedRefusal(.malformed, "the response holds no rows")),
    ("=([]x)", FeedRefusal(.malformed, "the closing parenthesis is missing")),
    ("=([]", FeedRefusal(.malformed, "the closing parenthesis is missing")),
    ("=([]);x", FeedRefusal(.malformed, "unexpected text after the data")),
    ("[];[]", FeedRefusal(.malformed, "unexpected text after the data")),
  ])
  func `a body without rows is a failure of its kind`(_ body: String, _ refusal: FeedRefusal) {
    #expect(throws: refusal) { try SinaKlineTests.decode(body) }
  }

  @Test(arguments: [
    ("null", 200, FeedRefusal.Kind.throttled(retryAfterSeconds: nil)), ("", 200, .transient),
    (" \n", 200, .transient), ("<html>", 200, .banned), ("<html>", 456, .banned),
    ("", 456, .banned), (rows, 456, .banned), ("你的 IP 存在异常访问", 200, .banned),
    ("Kinsoku jikou desu!", 403, .unauthorised), (rows, 429, .throttled(retryAfterSeconds: nil)),
    ("<html>", 502, .transient), (rows, 500, .transient), ("", 404, .notFound),
    ("", 400, .programmingError), (#"var hq_str_sys_auth="FAILED";"#, 200, .malformed),
  ])
  func `the body is judged before it is read, and the status where the body is silent`(
    _ body: String, _ status: Int, _ kind: FeedRefusal.Kind
  ) throws {
    let symbol = try #require(Symbol("sh600519"))
    let found = refusal {
      try Array(body.utf8).withUnsafeBytes {
        try SinaKline.decode($0, status: status, symbol: symbol, timeframe: .minute1)
      }
    }
    #expect(found?.kind == kind)
  }

  @Test(arguments: ["cb=", "=(", "/*", "var hq_str_sh600519=\"\";", "[1", "}"])
  func `what is no answer is malformed`(_ body: String) {
    #expect(refusal { try SinaKlineTests.decode(body) }?.kind == .malformed)
  }

  @Test(arguments: [rows, comment + "=(\(rows));"])
  func `no prefix that lacks a row is an answer`(_ body: String) throws {
    let bytes = Array(body.utf8)
    let end = try #require(bytes.lastIndex { $0 == UInt8(ascii: ")") || $0 == UInt8(ascii: "]") })
    for cut in 0..<end {
      #expect(throws: FeedRefusal.self, "cut at \(cut)") {
        try SinaKlineTests.decode(String(decoding: bytes.prefix(cut), as: UTF8.self))
      }
    }
  }

  @Test func `whatever bit is flipped, what comes out are bars in order`() throws {
    let symbol = try #require(Symbol("sh600519"))
    let bytes = Array((Self.comment + "=(\(Self.rows));").utf8)
    var whole = 0
    for bit in 0..<bytes.count * 8 {
      var damaged = bytes
      damaged[bit / 8] ^= 1 << (bit % 8)
      let page = damaged.withUnsafeBytes {
        try? SinaKline.decode($0, status: 200, symbol: symbol, timeframe: .minute1)
      }
      guard let page else { continue }
      whole += 1
      #expect(page.candles.count + page.refused.count == 3, "bit \(bit)")
      #expect(page.candles.allSatisfy(SinaKlineBodyTests.isSound), "bit \(bit)")
      #expect(
        zip(page.candles, page.candles.dropFirst()).allSatisfy { $0.closedAt <= $1.openedAt },
        "bit \(bit)")
    }
    #expect(whole > bytes.count)
  }

  private static func isSound(_ candle: Candle) -> Bool {
    let prices = [candle.open, candle.close]
    return candle.low.isPositive && prices.allSatisfy { candle.low <= $0 && $0 <= candle.high }
      && !candle.volume.isNegative && candle.openedAt < candle.closedAt
      && TradingCalendar.shanghai.isTradingDay(candle.tradingDay) == true
  }

  @Test(arguments: 1...4 as ClosedRange<UInt64>)
  func `garbage decodes to nothing and traps nowhere`(_ seed: UInt64) throws {
    var random = SplitMix(seed: seed)
    let alphabet = Array(#"[]{}(),:;="\/*day0123456789.-ne null"#.utf8) + [0x81, 0xFE, 0]
    let symbol = try #require(Symbol("sh600519"))
    for round in 0..<2000 {
      let count = Int.random(in: 0...200, using: &random)
      var body = (0..<count).map { _ in alphabet.randomElement(using: &random) ?? 0 }
      if round % 2 == 0 { body = Array(#"[{"day":"2026-02-25 14:56:00","#.utf8) + body }
      let page = body.withUnsafeBytes {
        try? SinaKline.decode($0, status: 200, symbol: symbol, timeframe: .minute1)
      }
      #expect(page?.candles.isEmpty ?? true, "seed \(seed), round \(round)")
    }
  }
}
