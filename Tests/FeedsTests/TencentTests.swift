import Market
import TestSupport
import Testing

@testable import Feeds

@Suite struct TencentTests {
  private func rows(_ count: Int, seed: UInt64) -> [TencentSweep.Row] {
    var sweep = TencentSweep(seed: seed)
    return (0..<count).map { sweep.row($0) }
  }

  @Test func `a request is a path of symbols, without headers`() throws {
    let symbols = try ["sh000001", "sh600519", "bj920002"].map { try #require(Symbol($0)) }
    let endpoint = TencentQuotes.endpoint(symbols: symbols, at: Timestamp(seconds: 1))
    #expect(endpoint.path == "/r=1000&q=sh000001,sh600519,bj920002")
    #expect(endpoint.route == "/q={symbols}")
    #expect(endpoint.headers.isEmpty)
  }

  /// 8,118 bytes were answered, 8,568 not.
  @Test func `the largest batch is well below the longest address`() throws {
    let symbols = try (0..<TencentQuotes.batchSymbolsMax).map {
      try #require(Symbol("sh\(600_000 + $0)"))
    }
    let endpoint = TencentQuotes.endpoint(symbols: symbols, at: Timestamp(seconds: 1))
    #expect(endpoint.path.utf8.count < 7_500)
  }

  @Test(arguments: [
    "sh600519", "sh688111", "sh689009", "sz000001", "sz300750", "bj920002", "sh510300",
    "sz161725", "sh508000", "sz180101", "sh000001", "sz399001",
  ])
  func `an instrument whose units are proven is requested`(_ text: String) throws {
    #expect(TencentQuotes.isRequestable(try #require(Symbol(text))))
  }

  @Test(arguments: [
    "sh113050", "sz123001", "sh900901", "sz200012", "sh204001", "sz131810", "bj899050",
    "sh580001", "s_sh600519", "gb_aapl", "hk00700", "AAPL", "600519", "SH600519", "sh60051a",
  ])
  func `an instrument whose units are not proven is not requested`(_ text: String) throws {
    #expect(!TencentQuotes.isRequestable(try #require(Symbol(text))))
  }

  @Test func `what is requested is dated by a symbol that is requested, too`() {
    #expect(TencentQuotes.referenceSymbol.description == "sh000001")
    #expect(TencentQuotes.isRequestable(TencentQuotes.referenceSymbol))
  }

  @Test func `it has nothing but live quotes of the series of the first source`() {
    let source = Tencent()
    #expect(!source.hasMoreThanQuotes && source.priority > Sina().priority)
    #expect(source.series.map(\.instruments) == [.live])
    #expect(source.series.map(\.source.rawValue) == [5])
    #expect(source.query(reading: ["kline"], from: Tencent.source) == nil)
  }

  @Test(arguments: [
    ("", 200, QuoteOutcome.empty), (" \r\n", 200, .empty), ("", 414, .malformed),
    ("", 403, .banned), ("", 429, .throttled), ("", 500, .transient), ("", 503, .transient),
    ("", 302, .banned), ("", 404, .notFound), ("", 401, .unauthorised), ("", 400, .malformed),
    ("<html>Please log in</html>", 200, .banned), ("{\"code\":-1}", 200, .malformed),
    ("v_pv_none_match=\"1\";\n", 200, .notFound), ("pv_none_match=1;", 200, .notFound),
    ("v_sh600519=\"1~\";", 500, .transient), ("null", 200, .malformed),
    ("<html>Request-URI Too Large</html>", 414, .malformed),
  ])
  func `a refusal has its class and no line`(
    _ body: String, _ status: Int, _ outcome: QuoteOutcome
  ) {
    let decoded = decodeTencent(Array(body.utf8), status: status)
    #expect(decoded.outcome == outcome)
    #expect(decoded.recorder.records.isEmpty)
  }

  @Test(arguments: 1...5 as ClosedRange<UInt64>)
  func `a quote written as a line reads back`(_ seed: UInt64) {
    let rows = rows(1_000, seed: seed)
    let (outcome, recorder) = decodeTencent(rows.flatMap(\.line))
    #expect(outcome == .ok(lines: rows.count), "seed \(seed)")
    for case .rejected(let symbol, _, let detail, _) in recorder.records {
      Issue.record("seed \(seed): \(symbol ?? "?") \(detail)")
    }
    #expect(recorder.rawNames == rows.map(\.name), "seed \(seed)")
    for (row, quote) in zip(rows, recorder.quotes) {
      #expect(quote == row.quote, "seed \(seed)")
    }
  }

  @Test(arguments: 1...5 as ClosedRange<UInt64>)
  func `a damaged line never harms its neighbours`(_ seed: UInt64) {
    var random = SplitMix(seed: seed)
    let lines = rows(101, seed: seed).map(\.line)
    let wanted = lines.map { decodeTencent($0).recorder.records }
    for round in 0..<50 {
      let body = lines.enumerated().flatMap { index, line in
        index % 2 == 1 ? random.damaged(line, alphabet: "0123456789.~-\"v;") : line
      }
      let records = decodeTencent(body).recorder.records
      var next = 0
      for index in stride(from: 0, through: 100, by: 2) {
        while next < records.count, [records[next]] != wanted[index] { next += 1 }
        #expect(next < records.count, "seed \(seed), round \(round): line \(index) was lost")
        if next == records.count { return }
      }
    }
  }

  @Test func `every prefix of a body has its whole lines and at most one refused`() throws {
    let body = try Files.fixture("tencent-stocks.gb18030.txt")
    let whole = decodeTencent(body).recorder.records
    for cut in 0..<body.count {
      let prefix = Array(body.prefix(cut))
      let complete = prefix.count { $0 == 10 }
      let records = decodeTencent(prefix).recorder.records
      #expect(records.prefix(complete) == whole.prefix(complete), "cut at \(cut)")
      #expect(records.count <= complete + 1, "cut at \(cut)")
    }
  }

  @Test func `line ends, blank lines and a byte order mark make no difference`() throws {
    let plain = try Files.fixture("tencent-stocks.utf8.txt")
    let wanted = decodeTencent(plain).recorder.quotes
    #expect(wanted.count == 3)
    let carriage = plain.flatMap { $0 == 10 ? [13, 10] : [$0] }
    for body in [
      carriage, [10, 13, 10] + plain + [10, 10], plain.dropLast(), [0xEF, 0xBB, 0xBF] + plain,
    ] {
      #expect(decodeTencent(Array(body)).recorder.quotes == wanted)
    }
  }

  @Test func `the same lines in UTF-8 are the same quotes and names`() throws {
    let utf8 = decodeTencent(try Files.fixture("tencent-stocks.utf8.txt")).recorder
    let gbk = decodeTencent(try Files.fixture("tencent-stocks.gb18030.txt")).recorder
    let decoder = GB18030Decoder()
    func names(_ recorder: Recorder, _ charset: NameCharset) -> [String] {
      recorder.rawNames.map { name in
        name.withUnsafeBytes { decoder.text(of: RawName(bytes: $0, charset: charset)) }
      }
    }
    let places = [0, 1, 5]
    #expect(utf8.quotes == places.map { gbk.quotes[$0] })
    #expect(names(utf8, .utf8) == places.map { names(gbk, .gb18030)[$0] })
  }

  @Test func `lots that a source rounds may miss the turnover by half a lot and by no more`() throws
  {
    let text =
      "v_sh600000=\"1~A~600000~10.00~10.00~10.00~LOTS" + String(repeating: "~0", count: 23)
      + "~20260706103106~~~10.00~10.00~10.00/LOTS/TURNOVER~LOTS~~\";\n"
    func isAccepted(lots: Int, turnover: Int) -> Bool {
      let line = text.replacing("LOTS", with: "\(lots)")
        .replacing("TURNOVER", with: "\(turnover)")
      return decodeTencent(Array(line.utf8)).recorder.quotes.count == 1
    }
    #expect(isAccepted(lots: 100, turnover: 100_000))
    #expect(isAccepted(lots: 100, turnover: 100_501) && isAccepted(lots: 100, turnover: 99_499))
    #expect(!isAccepted(lots: 100, turnover: 100_502) && !isAccepted(lots: 100, turnover: 99_498))
    #expect(isAccepted(lots: 0, turnover: 400) && !isAccepted(lots: 0, turnover: 600))
  }
}
