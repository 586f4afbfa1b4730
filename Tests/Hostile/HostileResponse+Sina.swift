/// What Sina's hosts answer, and what stands between them and us.
extension HostileResponse {
  private static let minutes = "kline 1 sz000002 1970"
  private static let days = "kline 240 sz000002 1970"
  private static let qfq = "factors qfq sh600000"

  private static func quote(
    _ name: String, _ status: Int, _ headers: [String], _ body: [UInt8], _ wanted: Wanted
  ) -> HostileResponse {
    HostileResponse(name, "quotes", status, headers, body, wanted)
  }

  static func quotes() throws(HostileBody.Missing) -> [HostileResponse] {
    let good = try HostileBody.fixture("stocks.gb18030.txt")
    let utf8 = try HostileBody.fixture("stocks.utf8.txt")
    let line = Array(good.prefix((good.firstIndex(of: 10) ?? 0) + 1))
    let text = String(decoding: line, as: Unicode.ASCII.self)
    let wrongDay = HostileText.utf8(text.replacing("2026-", with: "2026-13"))
    let script = HostileText.script
    return [
      quote("quotes", 200, script, good, .ok(4)),
      quote("quotes in UTF-8, called GB18030", 200, script, utf8, .ok(2)),
      quote("quotes in UTF-16", 200, script, HostileText.utf16(line), "malformed"),
      quote("quotes cut inside a line", 200, script, good.dropLast(40), .ok(3, refused: 1)),
      quote("a date that is none", 200, script, line + wrongDay, .ok(1, refused: 1)),
      quote(
        "two lines run together", 200, script, line.dropLast(9) + line, .ok(1, refused: 1)),
      quote(
        "gzip nobody announced", 200, script,
        [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3] + line.shuffledBytes,
        "malformed"),
      quote(
        "a symbol that is unknown", 200, script, HostileText.utf8("var hq_str_sh999999=\"\";\n"),
        .ok(1)),
      quote("quotes under a status that says no", 500, script, good, "transient"),
    ]
  }

  static func quoteRefusals() throws(HostileBody.Missing) -> [HostileResponse] {
    let ban = try HostileBody.fixture("refused-ban-page.gb18030.html")
    let (html, plain) = (HostileText.html, ["Content-Type: text/plain"])
    return [
      quote("a ban with HTTP 200", 200, HostileText.gbk, ban, "banned"),
      quote("a ban in UTF-8 behind a 503", 503, html, HostileText.ban, "banned"),
      quote("a captive portal", 200, html, HostileText.portal, "banned"),
      quote("a redirect to a portal", 302, html + ["Location: /login"], [], "banned"),
      quote("no Referer", 403, plain, HostileText.utf8("Kinsoku jikou desu!\r\n"), "unauthorised"),
      quote(
        "a network that is not wanted", 200, plain, HostileText.utf8("Forbidden"), "unauthorised"),
      quote("a bare 403", 403, plain, [], "banned"),
      quote("a 401", 401, html, HostileText.portal, "unauthorised"),
      quote("a 404 page", 404, html, HostileText.portal, "not_found"),
      quote("a 429 with a wish", 429, plain + ["Retry-After: 120"], [], "throttled"),
      quote("a 456 page", 456, html, HostileText.portal, "banned"),
      quote("a 502 page", 502, html, HostileText.gateway, "transient"),
      quote("a 503 with a wish", 503, html + ["Retry-After: 30"], HostileText.gateway, "transient"),
      quote("a 504", 504, html, [], "transient"),
      quote("nothing", 200, HostileText.script, [], "empty"),
      quote("blanks", 200, HostileText.script, HostileText.utf8(" \r\n\n"), "empty"),
      quote("a 204", 204, [], [], "empty"),
      quote(
        "a voided batch", 200, HostileText.script,
        HostileText.utf8("var hq_str_sys_auth=\"FAILED\";\n"), "poisoned"),
      quote("null", 200, HostileText.json, HostileText.utf8("null"), "throttled"),
      quote(
        "an error of another service", 200, HostileText.json,
        HostileText.utf8(#"{"__ERROR":1,"__ERRORMSG":"Input error"}"#), "malformed"),
      quote("an unheard-of status", 299, plain, HostileText.utf8("hm"), "malformed"),
    ]
  }

  static func klines() throws(HostileBody.Missing) -> [HostileResponse] {
    let minute = try HostileBody.fixture("kline-1m.jsonp.txt")
    let day = try HostileBody.fixture("kline-1d.json")
    let json = HostileText.json
    func kline(
      _ name: String, _ requestText: String, _ status: Int, _ headers: [String], _ body: [UInt8],
      _ wanted: Wanted
    ) -> HostileResponse {
      HostileResponse("K-line: " + name, requestText, status, headers, body, wanted)
    }
    return [
      kline("minutes", minutes, 200, json, minute, .ok(6)),
      kline("days", days, 200, json, day, .ok(3)),
      kline("minutes for days", days, 200, json, minute, "malformed"),
      kline("cut", minutes, 200, json, minute.dropLast(60), "malformed"),
      kline("null in a call", minutes, 200, json, HostileText.utf8("=(null);"), "throttled"),
      kline("no rows", days, 200, json, HostileText.utf8("[]"), "no_data"),
      kline(
        "parameters refused", days, 200, json,
        HostileText.utf8(#"{"__ERROR":1,"__ERRORMSG":"Input error"}"#), "programming_error"),
      kline("a ban", days, 456, HostileText.html, HostileText.ban, "banned"),
      kline("a captive portal", days, 200, HostileText.html, HostileText.portal, "banned"),
      kline(
        "quotes", days, 200, json, HostileText.utf8("var hq_str_sh600519=\"1,2\";"), "malformed"),
      kline(
        "a Saturday", days, 200, json,
        HostileText.utf8(
          #"[{"day":"2026-07-04","open":"1","high":"1","low":"1","close":"1","volume":"1"}]"#),
        "malformed"),
      kline("a 429", days, 429, json, [], "throttled"),
      kline("nothing", days, 200, json, [], "transient"),
    ]
  }

  static func references() throws(HostileBody.Missing) -> [HostileResponse] {
    let factors = try HostileBody.fixture("factors-qfq.js.txt")
    let page = try HostileBody.fixture("node-page.json")
    let calendar = try HostileBody.fixture("calendar.js.txt")
    func ask(_ name: String, _ requestText: String, _ body: [UInt8], _ wanted: Wanted)
      -> HostileResponse
    {
      HostileResponse(name, requestText, 200, HostileText.script, body, wanted)
    }
    let other = #"var sz300592qfq={"total":1,"data":[{"d":"2026-07-09","f":"1.25"}]};"#
    return [
      ask("factors", qfq, factors, .ok(3)),
      ask("factors of another instrument", qfq, HostileText.utf8(other), "malformed"),
      ask(
        "fewer factors than told", qfq,
        HostileText.utf8(
          other.replacing("sz300592", with: "sh600000").replacing(":1,", with: ":2,")),
        "malformed"),
      ask(
        "a factor below zero", qfq,
        HostileText.utf8(
          other.replacing("sz300592", with: "sh600000").replacing("1.25", with: "-1.25")),
        "implausible"),
      HostileResponse(
        "no factors", qfq, 404, HostileText.html, HostileText.portal, "not_found"),
      ask("a page of a list", "node hs_a 1", page, .ok(3, refused: 1)),
      ask("an empty page of a list", "node hs_a 9", HostileText.utf8("[]"), .ok(0)),
      ask("null for a page", "node hs_a 1", HostileText.utf8("null"), "throttled"),
      ask("a list of none", "node-count hs_a", HostileText.utf8("\"0\""), "implausible"),
      ask("a page for a count", "node-count hs_a", HostileText.portal, "banned"),
      ask("the calendar", "calendar sh", calendar, .ok(8796)),
      ask("the calendar, cut", "calendar sh", calendar.dropLast(60), "malformed"),
      ask(
        "a calendar of one week", "calendar sh",
        HostileText.utf8(#"var datelist="LC/AAAGAAr";var KLC_TD_SH=datelist;"#), .ok(5)),
      ask("another file", "calendar sh", factors, "malformed"),
    ]
  }
}

extension [UInt8] {
  /// The same bytes in an order that means nothing.
  fileprivate var shuffledBytes: [UInt8] { map { $0 ^ 0x5A } }
}
