import Foundation
import Market
import TestExchange
import TestSupport
import Testing

@testable import ExchangeSimulator
@testable import Ledgers
@testable import TestExchange

/// Alpaca's bars over a raw socket.
@Suite struct AlpacaTests {
  /// Friday 2026-09-04, 14:00:00 in New York.
  static let now = Timestamp(seconds: 1_788_544_800)

  private func server(
    at now: Timestamp = now, faults: [Fault] = [],
    _ change: (inout AlpacaOptions) -> Void = { _ in }
  ) throws -> ExchangeServer {
    var options = AlpacaOptions(keys: ["PKTEST": "secret"])
    change(&options)
    return try ExchangeServer(
      market: Fixture.market(instruments: 10), clock: .function { now },
      faults: FaultPlan(seed: 4, faults), alpaca: options)
  }

  private func ask(
    _ server: ExchangeServer, _ path: String, secret: String = "secret"
  ) throws -> RawClient.Response {
    let client = try RawClient(port: server.port)
    defer { client.close() }
    client.send(
      Array(
        "GET \(path) HTTP/1.1\r\nAPCA-API-KEY-ID: PKTEST\r\nAPCA-API-SECRET-KEY: \(secret)\r\n\r\n"
          .utf8))
    return client.receive()
  }

  /// What each symbol's array holds, and the token.
  private static func page(_ text: String) -> (
    bars: [(String, Int)], times: [Substring], token: String?
  ) {
    var bars: [(String, Int)] = []
    for part in text.split(separator: "\":[").dropFirst() {
      bars.append(
        (
          "",
          part.split(separator: "{\"c\":").dropFirst().count + (part.hasPrefix("{\"c\":") ? 1 : 0)
        ))
    }
    let names = text.split(separator: "\":[").dropLast().compactMap {
      $0.split(separator: "\"").last
    }
    bars = zip(names, bars).map { (String($0), $1.1) }
    let times = text.split(separator: "\"t\":\"").dropFirst().map { $0.prefix(20) }
    let tail = text.split(separator: "\"next_page_token\":").last ?? ""
    let token = tail.hasPrefix("null") ? nil : tail.split(separator: "\"").first.map(String.init)
    return (bars, times, token)
  }

  private static let morning =
    "timeframe=1Min&feed=iex&start=2026-09-04T13:30:00Z&end=2026-09-04T15:29:00Z"

  @Test func `bars are keyed by symbol, in the alphabet's order of keys`() throws {
    let server = try server()
    defer { server.stop() }
    let response = try ask(server, "/v2/stocks/bars?symbols=MSFT,AAPL&\(AlpacaTests.morning)")
    #expect(response.status == 200)
    let page = AlpacaTests.page(response.text)
    #expect(page.bars.map(\.0) == ["AAPL", "MSFT"] && page.token == nil)
    #expect(page.bars.allSatisfy { (80...120).contains($0.1) })
    #expect(page.times.first == "2026-09-04T13:30:00Z")
    let keys = response.text.split(separator: "{").dropFirst(2).first?.split(separator: ",")
      .compactMap { $0.split(separator: "\"").first }
    #expect(keys?.prefix(8) == ["c", "h", "l", "n", "o", "t", "v", "vw"])
  }

  @Test func `pages joined are the whole, and a symbol may span two of them`() throws {
    let server = try server()
    defer { server.stop() }
    let path = "/v2/stocks/bars?symbols=AAPL%2CMSFT%2CNVDA&\(AlpacaTests.morning)"
    let whole = AlpacaTests.page(try ask(server, path).text)
    var times: [Substring] = []
    var sizes: [Int] = []
    var token: String?
    var spansPages = false
    repeat {
      let suffix = token.map { "&page_token=\($0.replacing("=", with: "%3D"))" } ?? ""
      let page = AlpacaTests.page(try ask(server, path + "&limit=70" + suffix).text)
      if let first = page.bars.first, times.count > 0, first.0 == "AAPL" { spansPages = true }
      times += page.times
      sizes.append(page.times.count)
      token = page.token
    } while token != nil && sizes.count < 20
    #expect(times == whole.times && spansPages)
    #expect(sizes.dropLast().allSatisfy { $0 == 70 })
  }

  @Test func `the token is base64 of symbol, kind and nanoseconds of the next bar`() throws {
    let server = try server()
    defer { server.stop() }
    let path = "/v2/stocks/bars?symbols=AAPL&limit=1&\(AlpacaTests.morning)"
    let token = try #require(AlpacaTests.page(try ask(server, path).text).token)
    let text = String(decoding: try #require(Data(base64Encoded: token)), as: UTF8.self)
    #expect(text.hasPrefix("AAPL|M|17885") && text.count == 26)
    #expect(Data(text.utf8).base64EncodedString() == token)
  }

  @Test(arguments: [
    ("symbols=AAPL,CSP1&timeframe=1Min", 400, "invalid symbol: CSP1"),
    ("symbols=AAPL&timeframe=3Fortnight", 400, "invalid timeframe: 3Fortnight"),
    ("symbols=AAPL&timeframe=1Min&limit=10001", 400, "invalid limit: 10001"),
    (
      "symbols=AAPL&timeframe=1Min&feed=iex&start=2026-09-04&end=2026-09-03", 400,
      "end should not be before start"
    ),
    ("symbols=AAPL&timeframe=1Min&start=x", 400, "Invalid format for parameter start: "),
    ("symbols=AAPL&timeframe=1Min&feed=iex&page_token=null!", 400, "invalid page_token"),
  ])
  func `a bad question is refused in the server's words`(
    _ query: String, _ status: Int, _ sentence: String
  ) throws {
    let server = try server()
    defer { server.stop() }
    let response = try ask(server, "/v2/stocks/bars?\(query)")
    #expect(response.status == status)
    #expect(response.text.hasPrefix("{\"message\":\"\(sentence)"))
  }

  @Test func `recent SIP data needs another plan, and a future end is recent`() throws {
    let path = "/v2/stocks/bars?symbols=AAPL&timeframe=1Day&feed=sip&start=2026-09-01"
    let server = try server()
    defer { server.stop() }
    for end in ["2026-09-04T17:46:00Z", "2026-09-05T00:00:00Z"] {
      let response = try ask(server, path + "&end=\(end)")
      #expect(response.status == 403)
      #expect(response.text.contains("subscription does not permit querying recent SIP data"))
    }
    #expect(try ask(server, path + "&end=2026-09-04T17:45:00Z").status == 200)
    #expect(try ask(server, path).status == 200)
    let plus = try self.server { $0.permitsRecentSIP = true }
    defer { plus.stop() }
    #expect(try ask(plus, path + "&end=2026-09-05T00:00:00Z").status == 200)
  }

  @Test func `a wrong secret gets nginx's page, or the trading host's word`() throws {
    let server = try server()
    defer { server.stop() }
    let data = try ask(server, "/v2/stocks/bars?symbols=AAPL&timeframe=1Min", secret: "x")
    #expect(data.status == 401 && data.text.hasPrefix("<html>"))
    let trading = try ask(server, "/v2/assets", secret: "x")
    #expect(trading.status == 403 && trading.text == "{\"message\":\"forbidden.\"}")
  }

  @Test func `too many requests in a minute are too many`() throws {
    let server = try server { $0.requestsPerMinuteMax = 2 }
    defer { server.stop() }
    let path = "/v2/calendar?start=2026-11-23&end=2026-11-30"
    for _ in 0..<2 { #expect(try ask(server, path).status == 200) }
    let third = try ask(server, path)
    #expect(third.status == 429 && !third.head.contains("Retry-After"))
    #expect(server.alpacaRequests.mostInAMinute("PKTEST") == 3)
  }

  @Test func `the calendar leaves out Thanksgiving and halves the day after`() throws {
    let server = try server()
    defer { server.stop() }
    let text = try ask(server, "/v2/calendar?start=2026-11-23&end=2026-11-30").text
    let rows = text.split(separator: "{").dropFirst()
    #expect(rows.count == 5 && !text.contains("2026-11-26\",\"open"))
    #expect(rows.contains { $0.contains("\"2026-11-27\"") && $0.contains("\"close\":\"13:00\"") })
  }

  @Test func `assets hold the twelve and some that have no bars`() throws {
    let server = try server()
    defer { server.stop() }
    let all = try ask(server, "/v2/assets").text
    #expect(all.split(separator: "\"symbol\":\"").count == 17)
    let active = try ask(server, "/v2/assets?status=active&asset_class=us_equity").text
    #expect(active.split(separator: "\"symbol\":\"").count == 14)
    #expect(active.contains("BRK.B") && !active.contains("0112358D0"))
  }

  @Test(arguments: [
    (CannedResponse.alpacaUnauthorized, 401, "<html>"),
    (.alpacaGatewayTimeout, 504, "<html>"), (.alpacaRecentSIP, 403, "{\"message\":\"sub"),
    (.alpacaInternal, 500, "{\"code\":50010000"), (.alpacaThrottled, 429, "{\"message\": \"too"),
    (.alpacaThrottled(retryAfterSeconds: 7), 429, "{\"message\": \"too"),
  ])
  func `an ordered refusal is given word for word`(
    _ canned: CannedResponse, _ status: Int, _ text: String
  ) throws {
    let server = try server(faults: [Fault(.response(canned), on: .alpaca)])
    defer { server.stop() }
    let response = try ask(server, "/v2/stocks/bars?symbols=AAPL&\(AlpacaTests.morning)")
    #expect(response.status == status && response.text.hasPrefix(text))
    #expect(response.head.contains("Retry-After: 7") == (canned.retryAfterSeconds == 7))
  }

  @Test func `tokens may repeat, never end, or bars be null`() throws {
    func tokens(_ kind: Fault.Kind) throws -> [String?] {
      let server = try self.server(faults: [Fault(kind, on: .alpaca)])
      defer { server.stop() }
      let path = "/v2/stocks/bars?symbols=AAPL&limit=1000&\(AlpacaTests.morning)"
      var tokens: [String?] = []
      for _ in 0..<3 {
        let suffix = tokens.last.flatMap { $0 }.map {
          "&page_token=\($0.replacing("=", with: "%3D"))"
        }
        tokens.append(AlpacaTests.page(try ask(server, path + (suffix ?? "")).text).token)
      }
      return tokens
    }
    let repeated = try tokens(.repeatedToken)
    #expect(repeated[0] != nil && Set(repeated).count == 1)
    let endless = try tokens(.endlessPages)
    #expect(endless.allSatisfy { $0 != nil } && Set(endless).count == 3)
    let server = try self.server(faults: [Fault(.nullBars, on: .alpaca)])
    defer { server.stop() }
    let null = try ask(server, "/v2/stocks/bars?symbols=AAPL&\(AlpacaTests.morning)")
    #expect(null.text == "{\"bars\":null,\"next_page_token\":null}")
  }

  @Test func `a symbol without bars has no key`() throws {
    let server = try server()
    defer { server.stop() }
    let path = "/v2/stocks/bars?symbols=ZZZZ&\(AlpacaTests.morning)"
    #expect(try ask(server, path).text == "{\"bars\":{},\"next_page_token\":null}")
    let old = "/v2/stocks/bars?symbols=AAPL&timeframe=1Day&feed=iex&start=2010-01-01&end=2010-02-01"
    #expect(try ask(server, old).text == "{\"bars\":{},\"next_page_token\":null}")
  }
}
