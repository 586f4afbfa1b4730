import Foundation
import HTTPTypes
import TestTraits
import Testing

@testable import Gateway

/// Answers on disk: of each route its success and its main errors. `CANDLED_RECORD=1` writes them
/// anew.
@Suite(.ownThread) struct GoldenAnswerTests {
  struct Case {
    let name: String
    let path: String
    let status: Int
    var method = HTTPRequest.Method.get
    var body: String?

    init(
      _ name: String, _ path: String, status: Int = 200, method: HTTPRequest.Method = .get,
      body: String? = nil
    ) {
      self.name = name
      self.path = path
      self.status = status
      self.method = method
      self.body = body
    }
  }

  private static let share = "/v1/stocks/sh600000"

  private static let stocks = [
    Case("stock", "/v1/stocks/600000.SH"), Case("stock-bars-only", "/v1/stocks/aapl"),
    Case("stock-unknown", "/v1/stocks/sh600009", status: 404),
    Case("stock-unknown-source", "\(share)?source=other", status: 404),
    Case("stock-bad-source", "\(share)?source=A", status: 400),
    Case("all", "/v1/stocks"), Case("symbols", "/v1/stocks?symbols=sh600001,nothing,sh600000"),
    Case("search", "/v1/stocks?q=6000&limit=10"), Case("sorted", "/v1/stocks?sort=price&limit=10"),
    Case("stocks-bad", "/v1/stocks?sort=name&limit=0&symbol=a", status: 400),
    Case("stocks-unknown-cursor", "/v1/stocks?cursor=abcd", status: 404),
    Case("method", "/v1/stocks", status: 405, method: .post),
    Case("not-found", "/v1/nothing", status: 404),
    Case("too-long", "/v1/stocks?q=" + String(repeating: "a", count: 9_000), status: 414),
  ]

  private static let history = [
    Case("minutes", "\(share)/history?interval=1m&limit=10"),
    Case("columns", "\(share)/history?interval=5m&format=columns"),
    Case("thinned", "\(share)/history?interval=1m&points=6"),
    Case("filled", "\(share)/history?interval=60m&fill=flat"),
    Case("weeks", "\(share)/history?interval=1wk"), Case("empty", "\(share)/history?to=2020-01-01"),
    Case("history-bad", "\(share)/history?interval=2m&from=x", status: 400),
    Case("history-unknown", "/v1/stocks/sh600009/history", status: 404),
    Case("history-no-factors", "\(share)/history?adjust=hfq", status: 409),
  ]

  private static let charts = [
    Case("chart", "\(share)/chart.svg"),
    Case(
      "chart-days", "\(share)/chart.svg?period=1mo&width=300&height=200&theme=dark&rising=green"),
    Case("chart-american", "/v1/stocks/aapl/chart.svg?period=1d&theme=light"),
    Case("chart-bad", "\(share)/chart.svg?interval=2m&width=1&theme=grey", status: 400),
    Case("chart-unknown", "/v1/stocks/sh600009/chart.svg", status: 404),
    Case("newchart", "/newchart/min/n/sh600000.gif"),
    Case("newchart-monthly", "/newchart/monthly/n/600000.svg"),
    Case("newchart-bad", "/newchart/hourly/n/sh600000.png", status: 404),
    Case("newchart-unknown", "/newchart/daily/n/sh600009.gif", status: 404),
  ]

  private static let ledger = [
    Case("why", "\(share)/why?at=2026-07-06T10:00:30%2B08:00"),
    Case("why-bad", "\(share)/why", status: 400),
    Case("why-unknown", "/v1/stocks/sh600009/why?at=2026-07-06", status: 404),
    Case("gaps", "\(share)/gaps?limit=3"), Case("gaps-bad", "\(share)/gaps?day=x", status: 400),
    Case("gaps-unknown", "/v1/stocks/sh600009/gaps", status: 404),
    Case("revisions", "\(share)/revisions"),
    Case("revisions-bad", "\(share)/revisions?from=x", status: 400),
    Case("revisions-unknown", "/v1/stocks/sh600009/revisions", status: 404),
    Case("coverage", "/v1/coverage?day=2026-07-06"),
    Case("coverage-unknown", "/v1/coverage?symbol=sh600009", status: 404),
    Case("disagreements", "/v1/disagreements?limit=2"),
    Case("disagreements-bad", "/v1/disagreements?limit=1001", status: 400),
    Case("sources", "/v1/sources"), Case("market", "/v1/market"),
  ]

  private static let service = [
    Case("openapi", "/v1/openapi.json"), Case("livez", "/livez"), Case("readyz", "/readyz"),
    Case("metrics", "/metrics"), Case("stream-behind", "/v1/stream", status: 400),
    Case("stream-method", "/v1/stream", status: 405, method: .post),
  ]

  private static let list = "/v1/watchlists/1"

  private static let mine = [
    Case("ticket", "/v1/tickets", status: 201, method: .post),
    Case("preferences", "/v1/preferences", status: 204, method: .put, body: #"{"every": "2s"}"#),
    Case("preferences-own", "/v1/preferences", status: 204, method: .patch, body: #"{"a": 1}"#),
    Case("preferences-read", "/v1/preferences"),
    Case("preferences-bad", "/v1/preferences", status: 422, method: .put, body: "[]"),
    Case("watchlist", "/v1/watchlists", status: 201, method: .post, body: #"{"name":"自选"}"#),
    Case(
      "watchlist-taken", "/v1/watchlists", status: 409, method: .post, body: #"{"name":"自选"}"#),
    Case("watchlist-bad", "/v1/watchlists", status: 400, method: .post, body: "{"),
    Case(
      "watchlist-symbols", "\(list)/symbols", method: .put,
      body: #"{"symbols":["sh600001",{"symbol":"600000.SH","low":"1.50","high":"2.000"}]}"#),
    Case(
      "watchlist-twice", "\(list)/symbols", status: 422, method: .put,
      body: #"{"symbols":["sh600001","600001"]}"#),
    Case(
      "watchlist-add", "\(list)/symbols/sh600002", status: 204, method: .put,
      body: #"{"low":"1.50"}"#),
    Case(
      "watchlist-crossed", "\(list)/symbols/sh600002", status: 422, method: .put,
      body: #"{"low":"2","high":"1"}"#),
    Case("watchlist-no-symbol", "\(list)/symbols/sh600009", status: 404, method: .put),
    Case("watchlist-rename", list, status: 204, method: .put, body: #"{"name":"b"}"#),
    Case("watchlists", "/v1/watchlists"), Case("watchlist-one", list),
    Case("watchlist-none", "/v1/watchlists/9", status: 404),
    Case("watchlist-remove", "\(list)/symbols/sh600002", status: 204, method: .delete),
    Case("watchlist-delete", list, status: 204, method: .delete),
    Case("watchlist-unknown", list, status: 404, method: .put, body: #"{"name":"b"}"#),
  ]

  private static let alerts = [
    Case(
      "alert", "/v1/notifications", status: 201, method: .post,
      body: #"{"stockSymbol":"600000.SH","condition":"above","threshold":"12.50"}"#),
    Case(
      "alert-made", "/v1/alerts", status: 201, method: .post,
      body: #"{"source":"sina","condition":"sourceStale","repeat":"daily"}"#),
    Case(
      "alert-bad", "/v1/alerts", status: 400, method: .post,
      body: #"{"stockSymbol":"600000.SH","condition":"equal","threshold":"12.50"}"#),
    Case(
      "alert-threshold", "/v1/alerts", status: 400, method: .post,
      body: #"{"stockSymbol":"600000.SH","condition":"above","threshold":"x"}"#),
    Case(
      "alert-no-symbol", "/v1/alerts", status: 409, method: .post,
      body: #"{"stockSymbol":"sh600009","condition":"gap"}"#),
    Case(
      "alert-replaced", "/v1/alerts/1", method: .put,
      body: #"{"stockSymbol":"sh600001","condition":"changePercentBelow","threshold":"-3.5"}"#),
    Case("alert-read", "/v1/alerts/1"), Case("alerts", "/v1/alerts"),
    Case("notifications", "/v1/notifications?limit=10"),
    Case("notifications-bad", "/v1/notifications?cursor=abcd", status: 404),
    Case("notification-delete", "/v1/notifications/1", status: 204, method: .delete),
    Case("alert-kept", "/v1/alerts/1"),
    Case("alert-delete", "/v1/alerts/1", status: 204, method: .delete),
    Case("alert-delete-again", "/v1/alerts/1", status: 204, method: .delete),
    Case("alert-unknown", "/v1/alerts/1", status: 404),
    Case("inbox-all-read", "/v1/inbox?through=9", status: 204, method: .put),
    Case("inbox-read", "/v1/inbox/1/read", status: 204, method: .put),
    Case("inbox-delete", "/v1/inbox/1", status: 204, method: .delete),
  ]

  private static let webhooks = [
    Case(
      "webhook", "/v1/webhooks", status: 201, method: .post,
      body: #"{"url":"https://example.com/hook"}"#),
    Case(
      "webhook-bad", "/v1/webhooks", status: 422, method: .post,
      body: #"{"url":"https://user@example.com/hook"}"#),
    Case(
      "webhook-refused", "/v1/webhooks", status: 422, method: .post,
      body: #"{"url":"https://169.254.169.254/latest"}"#),
    Case(
      "webhook-replaced", "/v1/webhooks/1", method: .put,
      body: #"{"url":"https://example.com/other"}"#),
    Case("webhooks", "/v1/webhooks"), Case("webhook-one", "/v1/webhooks/1"),
    Case("webhook-none", "/v1/webhooks/9", status: 404),
    Case("webhook-delete", "/v1/webhooks/1", status: 204, method: .delete),
    Case(
      "webhook-unknown", "/v1/webhooks/1", status: 404, method: .put,
      body: #"{"url":"https://example.com/hook"}"#),
  ]

  private static let bars = "symbol=sh600000&from=1783300000&to=1783303200"

  private static let udf = [
    Case("udf-config", "/udf/config"), Case("udf-time", "/udf/time"),
    Case("udf-symbol", "/udf/symbols?symbol=sh600000"),
    Case("udf-symbol-american", "/udf/symbols?symbol=AAPL"),
    Case("udf-symbol-unknown", "/udf/symbols?symbol=sh600009", status: 404),
    Case("udf-search", "/udf/search?query=60000&type=&exchange=&limit=2"),
    Case("udf-bars", "/udf/history?resolution=15&\(bars)"),
    Case("udf-no-bars", "/udf/history?symbol=sh600000&resolution=1&from=1&to=2"),
    Case("udf-bars-bad", "/udf/history?resolution=2&\(bars)", status: 400),
    Case("udf-marks", "/udf/marks?resolution=30&\(bars)"),
    Case("udf-marks-bad", "/udf/marks?resolution=30", status: 400),
    Case("udf-quotes", "/udf/quotes?symbols=sh600000,nothing"),
    Case("udf-quotes-bad", "/udf/quotes", status: 400),
  ]

  private static let all =
    stocks + history + charts + ledger + service + mine + alerts + webhooks + udf

  @Test("each route answers as on record")
  func golden() async throws {
    let gateway = try await WholeGateway()
    for example in Self.all {
      let reply = try await gateway.ask(example.path, method: example.method, body: example.body)
      #expect(reply.status == example.status, "\(example.name) \(reply.body.prefix(200))")
      try GoldenAnswer.expect(reply.body, equals: example.name)
      if let place = reply.headers[.location] {
        #expect(try await gateway.ask(place).status == 200, "\(place)")
      }
    }
  }

  @Test("each route of trading answers as on record")
  func trading() async throws {
    let fixture = try await TradingFixture()
    for example in Self.trading {
      let reply = try await fixture.ask(
        example.method, example.path, example.body, key: example.name)
      #expect(reply.status == example.status, "\(example.name) \(reply.body.prefix(200))")
      try GoldenAnswer.expect(reply.body, equals: example.name)
      if let place = reply.headers[.location] {
        #expect(try await fixture.ask(.get, place).status == 200, "\(place)")
      }
    }
  }

  @Test("each route has its success on record, and an error where it takes arguments")
  func complete() async throws {
    let gateway = try await WholeGateway()
    for route in gateway.table.routes {
      // A stream never ends: the socket tests have it. The others are in tests of their own.
      if route.isStream || !route.isAPI || route.path.hasPrefix("/v2/") { continue }
      let cases = (Self.all + Self.trading).filter { example in
        let path = example.path.prefix { $0 != "?" }
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        return example.method == route.method && route.match(parts) != nil
      }
      #expect(
        cases.contains { $0.status == route.answers[0].status.code },
        "\(route.method) \(route.path)")
      let takesInput = route.parameters.contains(where: \.isRequired)
      if takesInput, route.method == .get {
        #expect(cases.contains { $0.status >= 400 }, "\(route.path)")
      }
    }
  }
}

/// An answer on disk.
enum GoldenAnswer {
  static func expect(_ body: String, equals name: String) throws {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Golden")
    let file = folder.appending(path: "\(name).json")
    let text = stable(body, name: name) + "\n"
    if ProcessInfo.processInfo.environment["CANDLED_RECORD"] != nil {
      try text.write(to: file, atomically: true, encoding: .utf8)
    } else {
      #expect(text == (try String(contentsOf: file, encoding: .utf8)), "\(name)")
    }
  }

  /// Without what another run has otherwise: the life of a database is named by the time it was
  /// made, clocks go on, tickets are drawn.
  private static func stable(_ body: String, name: String) -> String {
    switch name {
    case "udf-time": return body.replacing(#/\d+/#, with: "1")
    case "metrics":
      return body.split(separator: "\n").filter { $0.hasPrefix("#") }.joined(separator: "\n")
    case _ where name.hasPrefix("alpaca-watchlist"):
      return body.replacing(#/"(created|updated)_at":"[^"]+"/#) { "\"\($0.1)_at\":\"1\"" }
    case "why":
      return body.replacing(#/"what":"change","at":"[^"]+"/#, with: "\"what\":\"change\"")
    default:
      return body.replacing(#/"epoch":\d+/#, with: "\"epoch\":1")
        .replacing(#/"ticket":"[^"]+"/#, with: "\"ticket\":\"1\"")
        .replacing(#/"secret":"[^"]+"/#, with: "\"secret\":\"1\"")
        .replacing(#/"committedAt":"[^"]+"/#, with: "\"committedAt\":\"1\"")
        .replacing(#/"(createdAt|created_at|sentAt|changedAt)":"[^"]+"/#) { "\"\($0.1)\":\"1\"" }
    }
  }
}
