import Glibc
import Market
import Testing

/// Bodies in, what is decoded of them out. `CANDLED_RECORD=1 swift test
/// --filter SinaKlineGoldenTests` writes the golden files anew: read the difference first.
@Suite struct SinaKlineGoldenTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let fixture: String
    var timeframe = Timeframe.minute1
    var status = 200
    var isRefused = false

    var testDescription: String { "\(fixture), status \(status)" }
    var golden: String { "\(Files.golden)/\(fixture).\(status).jsonl" }
  }

  static let cases = [
    Case(fixture: "kline-1m.jsonp.txt"), Case(fixture: "kline-1d.json", timeframe: .day1),
    Case(fixture: "kline-60m.jsonp.txt", timeframe: .hour1),
    Case(fixture: "kline-1w.jsonp.txt", timeframe: .week1),
    Case(fixture: "kline-bad-rows.jsonp.txt"),
    Case(fixture: "kline-null.jsonp.txt", isRefused: true),
    Case(fixture: "kline-cut.jsonp.txt", isRefused: true),
    Case(fixture: "kline-none.json", isRefused: true),
    Case(fixture: "kline-input-error.json", isRefused: true),
    Case(fixture: "kline-1d.json", status: 456, isRefused: true),
    Case(fixture: "refused-ban-page.gb18030.html", status: 403, isRefused: true),
  ]

  @Test(arguments: cases)
  func `a K-line prints what its golden file holds`(_ golden: Case) throws {
    let symbol = try #require(Symbol("sz000002"))
    let body = try Files.fixture(golden.fixture)
    let printed = body.withUnsafeBytes {
      ResponseLines.kline(
        $0, status: golden.status, symbol: symbol, timeframe: golden.timeframe)
    }
    let lines = printed.lines
    #expect(printed.isRefused == golden.isRefused)
    if getenv("CANDLED_RECORD") != nil {
      #expect(Files.write(lines.map { $0 + "\n" }.joined(), to: golden.golden))
      return
    }
    let expected = Files.read(golden.golden).map { String(decoding: $0, as: UTF8.self) }
    #expect(lines == expected?.split(separator: "\n").map(String.init))
  }
}
