import Glibc
import Testing

@testable import Feeds

/// Bodies of quotes in, what is decoded of them out. `CANDLED_RECORD=1 swift test
/// --filter GoldenTests` writes the golden files anew: read the difference before committing it.
@Suite struct GoldenTests {
  struct Case: Sendable, CustomTestStringConvertible {
    var isTencents = false
    let fixture: String
    var status = 200
    var isRefused = false

    var testDescription: String { "\(fixture), status \(status)" }
    var golden: String { "\(Files.golden)/\(fixture).\(status).jsonl" }
  }

  static let cases =
    [
      "stocks", "funds", "indexes", "session", "auction", "statuses", "exempt", "overview",
      "unknown", "bad-rows",
    ].map { Case(fixture: "\($0).gb18030.txt") } + [Case(fixture: "stocks.utf8.txt")]
    + [
      ("refused-ban-page.gb18030.html", 200), ("refused-sys-auth.txt", 200),
      ("refused-referer.txt", 403), ("refused-forbidden.txt", 200), ("refused-null.txt", 200),
      ("refused-html.html", 200), ("refused-html.html", 502), ("refused-html.html", 456),
      ("refused-garbage.txt", 200), ("refused-empty.txt", 200), ("refused-empty.txt", 429),
      ("refused-empty.txt", 404), ("stocks.gb18030.txt", 500),
    ].map { Case(fixture: $0.0, status: $0.1, isRefused: true) }

  static let tencent =
    [
      "stocks", "separated", "funds", "indexes", "states", "auction", "limits", "counts", "cut",
      "bad-rows", "other",
    ].map { Case(isTencents: true, fixture: "tencent-\($0).gb18030.txt") }
    + [
      Case(isTencents: true, fixture: "tencent-stocks.utf8.txt"),
      Case(isTencents: true, fixture: "tencent-none-match.txt", isRefused: true),
      Case(isTencents: true, fixture: "tencent-stocks.gb18030.txt", status: 500, isRefused: true),
    ]

  @Test(arguments: cases + tencent)
  func `a body prints what its golden file holds`(_ golden: Case) throws {
    let body = try Files.fixture(golden.fixture)
    let printed = body.withUnsafeBytes { body in
      ResponseLines.quotes(showsLimits: golden.isTencents) { printer in
        if golden.isTencents {
          var decoder = TencentQuoteDecoder()
          return decoder.decode(body, status: golden.status, into: &printer)
        }
        var decoder = SinaQuoteDecoder()
        return decoder.decode(body, status: golden.status, into: &printer)
      }
    }
    #expect(printed.isRefused == golden.isRefused)
    let text = printed.lines.map { $0 + "\n" }.joined()
    if getenv("CANDLED_RECORD") != nil {
      #expect(Files.write(text, to: golden.golden))
      return
    }
    let expected = Files.read(golden.golden).map { String(decoding: $0, as: UTF8.self) }
    let expectedLines = expected?.split(separator: "\n").map(String.init)
    #expect(printed.lines == expectedLines)
  }
}
