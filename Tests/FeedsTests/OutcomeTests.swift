import Feeds
import Testing

@Suite struct OutcomeTests {
  private static let good = "var hq_str_sh999999=\"\";\n"
  private static let ban = "你的 IP 存在异常访问, 已被封禁."

  @Test(arguments: [
    ("Kinsoku jikou desu!", QuoteOutcome.unauthorised), ("Forbidden", .unauthorised),
    ("var hq_str_sys_auth=\"FAILED\";\n", .poisoned), ("sys_auth=FAILED\n", .poisoned),
    ("null", .throttled), (" null\n", .throttled), ("", .empty), ("\n \r\n", .empty),
    ("<html>what?</html>", .banned), (ban, .banned), ("{\"__ERROR\":1}", .malformed),
    ("var hq_st", .malformed), ("sh600519=1,2,3", .malformed),
  ])
  func `a refusal behind status 200 is recognised by its body`(
    _ body: String, _ outcome: QuoteOutcome
  ) {
    #expect(decode(body).outcome == outcome)
  }

  @Test(arguments: [
    (301, QuoteOutcome.banned), (302, .banned), (400, .malformed), (401, .unauthorised),
    (403, .banned), (404, .notFound), (408, .transient), (410, .notFound), (414, .malformed),
    (429, .throttled), (456, .banned), (500, .transient), (502, .transient), (599, .transient),
    (0, .malformed), (-1, .malformed), (100, .malformed), (204, .empty), (600, .malformed),
  ])
  func `where the body is silent the status decides`(_ status: Int, _ outcome: QuoteOutcome) {
    #expect(decode("", status: status).outcome == outcome)
  }

  @Test(arguments: [400, 403, 404, 456, 500])
  func `quotes under an error status are not believed`(_ status: Int) {
    let (outcome, recorder) = decode(OutcomeTests.good, status: status)
    #expect(outcome != .ok(lines: 1))
    #expect(recorder.records.isEmpty)
  }

  @Test func `a ban page is recognised whatever its status and charset`() throws {
    let gbk = try Files.fixture("refused-ban-page.gb18030.html")
    #expect(decode(gbk, status: 200).outcome == .banned)
    #expect(decode(gbk, status: 500).outcome == .banned)
    #expect(decode("<html>" + OutcomeTests.ban, status: 503).outcome == .banned)
  }

  @Test func `an error page with a 5xx status is a failure of the server and not a ban`() {
    #expect(decode("<html>502 Bad Gateway</html>", status: 502).outcome == .transient)
  }

  @Test func `a refusal delivers no line`() {
    #expect(decode("var hq_str_sys_auth=\"FAILED\";\n").recorder.records.isEmpty)
  }

  @Test func `the number of lines counts good, unknown and rejected ones`() throws {
    let body = try Files.fixture("bad-rows.gb18030.txt")
    let (outcome, recorder) = decode(body)
    #expect(outcome == .ok(lines: recorder.records.count))
    #expect(recorder.records.filter(\.isQuote).count == 6)
    #expect(recorder.dropped.map(\.member) == [.bookDepth, .afterHours, .afterHours])
  }
}
