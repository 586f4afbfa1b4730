/// What Mairui and Alpaca answer, and what stands between them and us.
extension HostileResponse {
  private static let bars = "bars iex 1m 2026-09-03T13:30:00Z 2026-09-04T13:30:00Z OAKX,PINE.B"
  private static let sessions = "calendar us 2026-09-01 2026-12-31"

  static func lists() throws(HostileBody.Missing) -> [HostileResponse] {
    let good = try HostileBody.fixture("mairui-bare.json")
    let json = HostileText.json
    func list(
      _ name: String, _ status: Int, _ body: [UInt8], _ wanted: Wanted,
      _ headers: [String] = HostileText.json
    ) -> HostileResponse {
      HostileResponse("list: " + name, "list hslt", status, headers, body, wanted)
    }
    return [
      list("whole", 200, good, .ok(4)),
      list("quota as a sentence", 200, HostileText.utf8("101:Licence证书当日次数已超出"), "quota_exhausted"),
      list("quota as a number", 200, HostileText.utf8("9\n"), "quota_exhausted"),
      list("quota as JSON", 200, HostileText.utf8(#"{"code":101,"msg":""}"#), "quota_exhausted"),
      list("licence not valid", 403, HostileText.utf8(#"{"detail":"licence无效"}"#), "unauthorised"),
      list("too many addresses", 429, HostileText.utf8(#"{"code":103}"#), "throttled"),
      list("a 429", 429, [], "throttled", json + ["Retry-After: 7"]),
      list("a 503", 503, HostileText.gateway, "throttled", HostileText.html),
      list("moved", 302, [], "not_found", ["Location: https://elsewhere.example"]),
      list("a 404 page", 404, HostileText.portal, "not_found", HostileText.html),
      list("no such data", 200, HostileText.utf8(#"{"error":"数据不存在"}"#), "no_data"),
      list("no rows", 200, HostileText.utf8("[]"), "no_data"),
      list("a captive portal", 200, HostileText.portal, "transient", HostileText.html),
      list("nothing", 200, [], "malformed"),
      list("cut", 200, good.dropLast(20), "malformed"),
      list("in UTF-16", 200, HostileText.utf16(good), "malformed"),
      list(
        "rows of something else", 200, HostileText.utf8(#"[{"t":"2026-09-03","o":1}]"#), "malformed"
      ),
      list("a 400", 400, HostileText.utf8("{}"), "programming_error"),
    ]
  }

  private static func alpaca(
    _ name: String, _ requestText: String, _ status: Int, _ text: String, _ wanted: Wanted,
    _ headers: [String] = HostileText.json
  ) -> HostileResponse {
    HostileResponse("Alpaca: " + name, requestText, status, headers, HostileText.utf8(text), wanted)
  }

  private static let page = "<html><body>nginx</body></html>"

  static func alpaca() throws(HostileBody.Missing) -> [HostileResponse] {
    let good = String(decoding: try HostileBody.fixture("alpaca-multi.json"), as: UTF8.self)
    let html = HostileText.html
    return [
      alpaca("bars", bars, 200, good, .ok(3)),
      alpaca(
        "the response holds no bars", bars, 200, #"{"bars":{},"next_page_token":null}"#, .ok(0)),
      alpaca(
        "another symbol", bars, 200, good.replacing("OAKX", with: "ELMX"),
        .ok(1, refused: 2)),
      alpaca("cut", bars, 200, String(good.dropLast(30)), "malformed"),
      alpaca("too often", bars, 429, #"{"message":"too many requests."}"#, "throttled"),
      alpaca(
        "too often with HTTP 200", bars, 200, #"{"message":"too many requests."}"#, "throttled"),
      alpaca("a bad key", bars, 401, page, "unauthorised", html),
      alpaca("the other environment", bars, 403, #"{"message":"forbidden."}"#, "unauthorised"),
      alpaca(
        "not in the plan", bars, 403,
        #"{"message":"subscription does not permit querying recent SIP data"}"#, "entitlement"),
      alpaca("a bad symbol", bars, 400, #"{"message":"invalid symbol: OAK1"}"#, "invalid_symbol"),
      alpaca(
        "a wrong question", bars, 400, #"{"message":"end should not be before start"}"#,
        "programming_error"),
      alpaca("its own failure", bars, 500, #"{"code":50010000,"message":"x"}"#, "transient"),
      alpaca("a gateway", bars, 504, page, "transient", html),
      alpaca("a captive portal", bars, 200, page, "transient", html),
      alpaca("a redirect to a portal", bars, 302, "", "transient", html + ["Location: /login"]),
      alpaca("nothing", bars, 200, "", "malformed"),
    ]
  }

  static func alpacaReferences() throws(HostileBody.Missing) -> [HostileResponse] {
    let calendar = String(decoding: try HostileBody.fixture("alpaca-calendar.json"), as: UTF8.self)
    let assets = String(decoding: try HostileBody.fixture("alpaca-assets.json"), as: UTF8.self)
    let backwards = #"[{"date":"2026-09-03","open":"16:00","close":"09:30"}]"#
    return [
      alpaca("sessions", sessions, 200, calendar, .ok(3)),
      alpaca("a session backwards", sessions, 200, backwards, "implausible"),
      alpaca("a session on no day", sessions, 200, #"[{"date":"2026-02-30"}]"#, "malformed"),
      alpaca("assets", "assets us", 200, assets, .ok(2, refused: 1)),
      alpaca("no assets", "assets us", 200, "[]", "no_data"),
      alpaca("a key for assets", "assets us", 403, #"{"message":"forbidden."}"#, "unauthorised"),
    ]
  }
}
