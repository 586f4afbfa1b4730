import Market
import TestSupport
import Testing

@testable import Feeds

@Suite struct MairuiListTests {
  private func response(_ body: [UInt8], status: Int = 200) -> FeedResponse {
    body.withUnsafeBytes { FeedResponse.decode(.mairuiList(.hslt), status: status, body: $0) }
  }

  private func kind(_ body: String, status: Int = 200) -> FeedRefusal.Kind? {
    guard case .refused(let refusal) = response(Array(body.utf8), status: status) else {
      return nil
    }
    return refusal.kind
  }

  private func list(_ body: [UInt8]) throws -> InstrumentList {
    guard case .list(let list) = response(body) else { throw MissingFile(path: "a list") }
    return list
  }

  @Test(arguments: [
    ("101", FeedRefusal.Kind.quotaExhausted), ("9", .quotaExhausted), (" 101\r\n", .quotaExhausted),
    ("\"101\"", .quotaExhausted), ("101:Licence证书当日次数已超出", .quotaExhausted),
    ("101 ……请求已超限", .quotaExhausted), ("您的licence额度已用尽", .quotaExhausted),
    (#"{"code":101,"msg":"-"}"#, .quotaExhausted), (#"{"msg":"","code":"101"}"#, .quotaExhausted),
    (#"{"detail":"licence证书当日次数已超出"}"#, .quotaExhausted),
    (#"{"code":102}"#, .unauthorised), (#"{"detail":"Licence证书无效"}"#, .unauthorised),
    ("Licence证书不存在", .unauthorised), (#"{"code":403}"#, .unauthorised),
    (#"{"code":103}"#, .throttled(retryAfterSeconds: 60)),
    (#"{"code":503}"#, .throttled(retryAfterSeconds: nil)), (#"{"code":104}"#, .notFound),
    ("404:资源不存在，请检查参数是否正确！", .notFound), (#"{"error":"数据不存在"}"#, .noData),
    ("[]", .noData), (" [ ] ", .noData), ("<!doctype html>", .transient), ("", .malformed),
    ("1011", .malformed), ("99", .malformed), ("101x", .malformed), ("null", .malformed),
    ("true", .malformed), (#"{"code":200,"data":[]}"#, .malformed), (#"{"code":101"#, .malformed),
    (#"[{"dm":"600519","#, .malformed), (#"[{"dm":"600519","mc":"a","jys":"sh"}] x"#, .malformed),
    (#"[{"t":"2026-09-11"}]"#, .malformed), (#"["600519"]"#, .malformed),
  ])
  func `a refusal behind status 200 is recognised by its body`(
    _ body: String, _ kind: FeedRefusal.Kind
  ) {
    #expect(self.kind(body) == kind)
  }

  @Test(arguments: [
    (301, FeedRefusal.Kind.notFound), (400, .programmingError), (401, .unauthorised),
    (403, .unauthorised), (404, .notFound), (408, .transient),
    (429, .throttled(retryAfterSeconds: nil)), (500, .transient), (502, .transient),
    (503, .throttled(retryAfterSeconds: nil)), (504, .transient), (0, .programmingError),
  ])
  func `where the body is silent the status decides`(_ status: Int, _ kind: FeedRefusal.Kind) {
    for body in ["", "<html></html>", "what?", #"[{"dm":"600519","mc":"a","jys":"sh"}]"#] {
      #expect(self.kind(body, status: status) == kind, "\(body)")
    }
  }

  @Test(arguments: [200, 403, 429, 500])
  func `a body that speaks decides whatever the status`(_ status: Int) {
    #expect(kind("101", status: status) == .quotaExhausted)
    #expect(kind(#"{"detail":"Licence证书无效"}"#, status: status) == .unauthorised)
    #expect(kind(#"{"code":103}"#, status: status) == .throttled(retryAfterSeconds: 60))
  }

  @Test func `both shapes of a row are the same instrument`() throws {
    let bare = try list(Array(#"[{"dm":"000903","mc":"东 湖Ａ","jys":"sz"}]"#.utf8))
    let suffixed = try list(Array(#"[{"dm":"000903.SZ","mc":"东 湖Ａ","jys":"SZ"}]"#.utf8))
    #expect(bare == suffixed)
    let symbol = try #require(Symbol("sz000903"))
    #expect(
      bare.rows == [ListedInstrument(symbol: symbol, name: "东 湖Ａ", exchange: .shenzhen)])
  }

  @Test func `rows are sorted, and the last of a symbol counts`() throws {
    let list = try list(Files.fixture("mairui-faults.json"))
    #expect(list.rows.map(\.symbol.description) == ["sh600103", "sh601999"])
    #expect(list.rows.map(\.name) == ["", "远山重工"])
    #expect(list.dropped.map(\.member) == [.name])
    #expect(list.refused.map(\.index) == Array(1...12).filter { $0 != 9 })
    let suffixed = try self.list(Files.fixture("mairui-suffixed.json"))
    #expect(
      suffixed.rows.map(\.symbol.description)
        == ["bj920801", "sh601999", "sh688765", "sz000903", "sz300877"])
  }

  @Test func `a row whose exchanges disagree is refused and counted`() throws {
    let list = try list(Files.fixture("mairui-faults.json"))
    let disagreeing = list.refused.filter { $0.reason == .inconsistent }
    #expect(
      disagreeing.map { String(decoding: $0.payload, as: UTF8.self) }
        == [#"{"dm":"600101.SH","mc":"清河","jys":"SZ"}"#])
  }

  @Test func `the hash is of the content and not of its order`() throws {
    let rows = [
      #"{"dm":"600519","mc":"甲","jys":"sh"}"#, #"{"dm":"000001.SZ","mc":"乙","jys":"SZ"}"#,
      #"{"dm":"920001.BJ","mc":"丙","jys":"BJ"}"#,
    ]
    func hash(_ rows: [String]) throws -> UInt64 {
      try list(Array("[\(rows.joined(separator: ","))]".utf8)).contentHash
    }
    let reference = try hash(rows)
    #expect(try hash(rows.reversed()) == reference)
    #expect(try hash([rows[2]] + rows) == reference)
    #expect(try hash(Array(rows.dropLast())) != reference)
    #expect(try hash(rows.map { $0.replacing("甲", with: "N甲") }) != reference)
  }

  @Test func `the hash of a known list never changes`() throws {
    #expect(
      try list(Files.fixture("mairui-bare.json")).contentHash
        == MairuiListTests.fnv1a(
          "sh600101\t1\t*ST清河\nsh601999\t1\t远山重工\nsz000903\t2\t东 湖Ａ\n"
            + "sz300877\t2\tN望江\n"))
    // Published: the hash of `foobar`.
    #expect(MairuiListTests.fnv1a("foobar") == 0x8594_4171_F739_67E8)
  }

  private static func fnv1a(_ text: String) -> UInt64 {
    text.utf8.reduce(14_695_981_039_346_656_037) { ($0 ^ UInt64($1)) &* 1_099_511_628_211 }
  }

  @Test func `a short list decodes, for its size is judged elsewhere`() throws {
    let rows = (0..<200).map { #"{"dm":"\#(600_000 + $0)","mc":"名\#($0)","jys":"sh"}"# }
    #expect(try list(Array("[\(rows.joined(separator: ","))]".utf8)).rows.count == 200)
  }
}
