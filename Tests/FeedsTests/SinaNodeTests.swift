import Market
import Testing

@testable import Feeds

@Suite struct SinaNodeTests {
  private func page(_ text: String) throws -> InstrumentList {
    try Array(text.utf8).withUnsafeBytes { try SinaNodes.decodePage($0, status: 200) }
  }

  private func count(_ text: String) throws -> Int {
    try Array(text.utf8).withUnsafeBytes { try SinaNodes.decodeCount($0, status: 200) }
  }

  @Test(arguments: [(#""5316""#, 5316), ("5316", 5316), (" \"1\"\n", 1), ("=(\"612\");", 612)])
  func `a count is a number or a string of one`(_ text: String, _ wanted: Int) throws {
    #expect(try count(text) == wanted)
  }

  @Test(arguments: [
    (#""0""#, FeedRefusal.Kind.implausible), (#""60001""#, .implausible),
    (#""-5""#, .implausible), (#""53.0""#, .malformed), (#""""#, .malformed),
    ("[]", .malformed), ("true", .malformed), ("null", .throttled(retryAfterSeconds: nil)),
    ("=(null);", .throttled(retryAfterSeconds: nil)),
  ])
  func `what is no plausible count is refused`(_ text: String, _ kind: FeedRefusal.Kind) {
    #expect(kind == refusal { try count(text) }?.kind)
  }

  @Test func `a page is symbols and names, whatever else its rows hold`() throws {
    let page = try page(
      #"""
      [{"symbol":"bj920000","code":"920000","name":"\u5b89\u5fbd\u51e4\u51f0","trade":"18.210",
        "volume":2589623,"pb":4.368,"ticktime":"15:30:01"},
       {"name":"万 科Ａ","trade":0,"symbol":"sz000002"},
       {"symbol":"sh689009","code":"689009","name":"\u4e5d\u53f7-WD"}]
      """#)
    #expect(page.refused.isEmpty)
    #expect(
      page.rows.map { "\($0.symbol) \($0.exchange) \($0.name)" } == [
        "bj920000 beijing 安徽凤凰", "sh689009 shanghai 九号-WD", "sz000002 shenzhen 万 科Ａ",
      ])
  }

  @Test(arguments: [
    #"{"symbol":"600000","name":"x"}"#, #"{"symbol":"sh60000","name":"x"}"#,
    #"{"symbol":"hk00700","name":"x"}"#, #"{"symbol":600000,"name":"x"}"#, #"{"name":"x"}"#,
    #"{"symbol":"sh600000","code":"600001","name":"x"}"#,
    "17", #"["sh600000"]"#, "null",
  ])
  func `a bad row is refused and its neighbours stay`(_ row: String) throws {
    let good = ["sh600000", "sz000001"].map { #"{"symbol":"\#($0)","name":"a"}"# }
    let page = try page("[\(good[0]), \(row),\(good[1])]")
    #expect(page.rows.map(\.symbol.description) == ["sh600000", "sz000001"])
    #expect(page.refused.map(\.index) == [1])
    #expect(page.refused.map(\.reason) == [.malformed])
    #expect(page.refused.map { String(decoding: $0.payload, as: UTF8.self) } == [row])
  }

  @Test func `a page of nothing but bad rows is no page`() {
    #expect(refusal { try page("[1]") }?.kind == .malformed)
  }

  @Test func `an empty page is the end of the list and null is not`() throws {
    let page = try page("[]")
    #expect(page.rows.isEmpty && page.refused.isEmpty)
    #expect(throws: SinaRefusal.null) { try self.page("=(null);") }
    #expect(throws: SinaRefusal.inputError) {
      try self.page(#"{"__ERROR":1,"__ERRORMSG":"Input error"}"#)
    }
    #expect(refusal { try self.page("null") }?.kind == .throttled(retryAfterSeconds: nil))
  }

  @Test func `no prefix of a page is an answer`() {
    let text = #"[{"symbol":"bj920000","name":"\u5b89"},{"symbol":"sz000002","name":"万"}]"#
    let bytes = Array(text.utf8)
    for cut in 0..<bytes.count {
      #expect(throws: FeedRefusal.self, "cut at \(cut)") {
        try bytes.prefix(cut).withUnsafeBytes { try SinaNodes.decodePage($0, status: 200) }
      }
    }
  }
}
