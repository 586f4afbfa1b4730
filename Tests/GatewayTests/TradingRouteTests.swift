import Foundation
import HTTPTypes
import Market
import TestSupport
import TestTraits
import Testing

@testable import Gateway

/// The gateway's own routes of trading on paper, with a stand-in for the broker.
@Suite(.ownThread) struct TradingRouteTests {
  @Test("an account has a market, its currency and a name of its own, and a user has 20")
  func accounts() async throws {
    let fixture = try await TradingFixture(hasBroker: false)
    #expect(try await fixture.ask(.get, "/v1/account").status == 404)
    let made = try await fixture.ask(.post, "/v1/accounts", #"{"name":"纸上","market":"A"}"#)
    #expect(made.status == 201 && made.text("currency") == "CNY", "\(made)")
    let path = try #require(made.headers[.location])
    let read = try await fixture.ask(.get, path)
    #expect(read.text("account.name") == "纸上" && read.text("equity") == "0.00", "\(read)")
    let american = try await fixture.ask(.post, "/v1/accounts", #"{"name":"b","market":"US"}"#)
    #expect(american.text("currency") == "USD")
    let taken = try await fixture.ask(.post, "/v1/accounts", #"{"name":"b","market":"A"}"#)
    #expect(taken.status == 409 && taken.text("code") == "name_taken")
    for number in 3...20 {
      let reply = try await fixture.ask(
        .post, "/v1/accounts", #"{"name":"\#(number)","market":"A"}"#)
      #expect(reply.status == 201)
    }
    let beyond = try await fixture.ask(.post, "/v1/accounts", #"{"name":"21","market":"A"}"#)
    #expect(beyond.status == 409 && beyond.text("code") == "limit_reached")
    #expect(try await fixture.ask(.get, "/v1/accounts").count("accounts") == 20)
  }

  @Test("a closed account ends what is open and is gone, and its reset has the same name")
  func closing() async throws {
    let fixture = try await TradingFixture()
    try await fixture.fund()
    let order = try await fixture.buy(100, limit: "10.01")
    let reset = try await fixture.ask(.post, "/v1/accounts/1/reset", key: "again")
    #expect(reset.status == 201 && reset.text("name") == "纸上", "\(reset)")
    #expect(reset.text("id") != "1" && reset.text("balance") == "0")
    let state = try await fixture.ask(.get, "/v1/orders/\(order)").text("order.state")
    #expect(state == "cancelled")
    // The same request is the same reset.
    let same = try await fixture.ask(.post, "/v1/accounts/1/reset", key: "again")
    #expect(same.status == 201 && same.text("id") == reset.text("id"), "\(same)")
    let id = try #require(reset.text("id"))
    #expect(try await fixture.ask(.get, "/v1/account?account=1").status == 404)
    #expect(try await fixture.ask(.get, "/v1/accounts").count("accounts") == 1)
    let foreign = try await fixture.ask(.delete, "/v1/accounts/\(id)", as: fixture.bob)
    #expect(foreign.status == 404 && foreign.text("code") == "unknown_account")
    #expect(try await fixture.ask(.delete, "/v1/accounts/\(id)", as: fixture.reader).status == 403)
    let closed = try await fixture.ask(.delete, "/v1/accounts/\(id)", key: "close")
    #expect(closed.status == 204 && closed.body.isEmpty, "\(closed)")
    #expect(try await fixture.ask(.delete, "/v1/accounts/\(id)", key: "close").status == 204)
    #expect(try await fixture.ask(.get, "/v1/accounts").count("accounts") == 0)
    let money = #"{"amount":"1.00","type":"bank"}"#
    let none = try await fixture.ask(.post, "/v1/account/deposits", money)
    #expect(none.status == 404 && none.text("code") == "unknown_account")
  }

  @Test("what a user has too much of on a day is 429, with when to come again")
  func dayLimit() async throws {
    let fixture = try await TradingFixture()
    try await fixture.fund()
    try fixture.served.database.execute("update candled_app.user_day set payments = 1000")
    let money = #"{"amount":"1.00","type":"bank"}"#
    let reply = try await fixture.ask(.post, "/v1/account/deposits", money)
    #expect(reply.status == 429 && reply.text("code") == "day_limit", "\(reply)")
    #expect(
      reply.text("title")
        == "a user has at most 1000 deposits and withdrawals a day (UTC): go on tomorrow")
    let wait = reply.headers[.retryAfter].flatMap { Int($0) } ?? 0
    #expect((1...86_400).contains(wait))
    #expect(try await fixture.ask(.get, "/v1/account").text("account.balance") == "1000000.00")
  }

  @Test("money comes with a type, goes while it lasts, and is in the log, page by page")
  func money() async throws {
    let fixture = try await TradingFixture()
    try await fixture.fund("100.00")
    let untyped = try await fixture.ask(.post, "/v1/account/deposits", #"{"amount":"1.00"}"#)
    #expect(untyped.status == 400 && untyped.body.contains("apple_pay"))
    let more = try await fixture.ask(
      .post, "/v1/account/deposits",
      #"{"amount":"20.5","type":"apple_pay","description":"零用"}"#)
    #expect(more.status == 201 && more.text("available") == "120.50", "\(more)")
    let gone = try await fixture.ask(.post, "/v1/account/withdrawals", #"{"amount":"0.50"}"#)
    #expect(gone.status == 201 && gone.text("balance") == "120.00", "\(gone)")
    let refused = try await fixture.ask(.post, "/v1/account/withdrawals", #"{"amount":"120.01"}"#)
    #expect(refused.status == 403 && refused.text("code") == "insufficient_funds", "\(refused)")
    let first = try await fixture.ask(.get, "/v1/account/transactions?limit=2")
    #expect(first.text("transactions.0.amount") == "-0.50")
    #expect(first.text("transactions.1.depositType") == "ApplePay")
    #expect(first.text("transactions.1.description") == "零用")
    let cursor = try #require(first.text("nextCursor"))
    let second = try await fixture.ask(
      .get, "/v1/account/transactions?limit=2&cursor=\(cursor)")
    #expect(second.count("transactions") == 1 && second.text("nextCursor") == nil, "\(second)")
    #expect(second.text("transactions.0.type") == "deposit")
    for (spelling, shown) in [("ApplePay", "ApplePay"), ("linePay", "LinePay")] {
      let body = #"{"amount":"0.50","type":"\#(spelling)"}"#
      #expect(try await fixture.ask(.post, "/v1/account/deposits", body).status == 201)
      let newest = try await fixture.ask(.get, "/v1/account/transactions?limit=1")
      #expect(newest.text("transactions.0.depositType") == shown)
    }
  }

  @Test("the same key is one request with one answer, and no other request's")
  func keys() async throws {
    let fixture = try await TradingFixture()
    try await fixture.fund("100.00")
    let body = #"{"amount":"1.00","type":"bank"}"#
    let replies = try await withThrowingTaskGroup(of: Reply.self) { group in
      for _ in 0..<16 {
        group.addTask { try await fixture.ask(.post, "/v1/account/deposits", body, key: "k") }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(replies.allSatisfy { $0.status == 201 && $0.text("balance") == "101.00" })
    let other = try await fixture.ask(
      .post, "/v1/account/deposits", #"{"amount":"2.00","type":"bank"}"#, key: "k")
    #expect(other.status == 409 && other.text("code") == "idempotency_conflict")
  }

  @Test("an order is placed, filled in part, replaced and cancelled, and its page has it all")
  func orders() async throws {
    let fixture = try await TradingFixture()
    try await fixture.fund()
    let id = try await fixture.buy(300, limit: "10.02")
    try await fixture.broker.fill(id, quantity: 100, price: try ExactDecimal("10.01"))
    try await fixture.broker.fill(id, quantity: 100, price: try ExactDecimal("10.02"))
    let details = try await fixture.ask(.get, "/v1/orders/\(id)")
    #expect(details.text("order.status") == "OPEN", "\(details)")
    #expect(details.text("order.state") == "partially_filled")
    #expect(details.text("order.filledQuantity") == "200")
    #expect(details.text("order.averagePrice") == "10.015")
    #expect(details.text("order.candled.certain") == "200")
    #expect(details.text("order.candled.queueAheadMax") == "0")
    #expect(details.text("order.candled.basis") == "passive")
    #expect(details.text("fills.1.price") == "10.02" && details.count("events") == 3)
    let change = #"{"limitPrice":"10.05","quantity":"200"}"#
    let replaced = try await fixture.ask(.patch, "/v1/orders/\(id)", change)
    #expect(replaced.status == 200 && replaced.text("limitPrice") == "10.05", "\(replaced)")
    let next = try #require(replaced.text("id"))
    let cancelled = try await fixture.ask(.delete, "/v1/orders/\(next)")
    #expect(cancelled.status == 200 && cancelled.text("state") == "cancelled", "\(cancelled)")
    let again = try await fixture.ask(.delete, "/v1/orders/\(next)")
    #expect(again.status == 404 && again.text("code") == "unknown_order", "\(again)")
    let closed = try await fixture.ask(.get, "/v1/orders?status=CANCELED&page=2&limit=1")
    #expect(closed.text("total") == "2" && closed.text("orders.0.id") == "\(id)", "\(closed)")
    #expect(closed.text("orders.0.state") == "replaced")
    for spelling in ["OPEN", "open"] {
      let path = "/v1/orders?status=\(spelling)"
      #expect(try await fixture.ask(.get, path).count("orders") == 0)
    }
  }

  @Test("what is wrong with an order has its status and code, before anything is sent")
  func refusedOrders() async throws {
    let fixture = try await TradingFixture(hasBroker: false)
    _ = try await fixture.ask(.post, "/v1/accounts", #"{"name":"a","market":"A"}"#)
    let order = #"{"stockSymbol":"sh600000","side":"buy","type":"limit","quantity":"100""#
    let cases = [
      (order + "}", 400, "invalid_argument"),
      (order + #","limitPrice":10.5}"#, 400, "invalid_argument"),
      (order + #","limitPrice":"-1"}"#, 400, "invalid_argument"),
      (order + #","limitPrice":"1","timeInForce":"ever"}"#, 400, "invalid_argument"),
      (
        #"{"stockSymbol":"sh609999","side":"buy","type":"market","quantity":"100"}"#, 404,
        "unknown_symbol"
      ),
      (
        #"{"stockSymbol":"sh600000","side":"buy","type":"stop","quantity":"100"}"#, 400,
        "invalid_argument"
      ),
    ]
    for (body, status, code) in cases {
      let reply = try await fixture.ask(.post, "/v1/orders", body)
      #expect(reply.status == status && reply.text("code") == code, "\(body) \(reply)")
    }
    #expect(try fixture.served.database.value("select count(*) from candled_app.command") == "0")
  }

  @Test("a body that is not as expected is refused with the field, and what was expected")
  func bodies() async throws {
    let fixture = try await TradingFixture(hasBroker: false)
    let order = #"{"stockSymbol":"sh600000","side":"buy","type":"limit","quantity":100}"#
    let cases = [
      ("/v1/orders", order, "quantity", "a string", "another value"),
      ("/v1/orders", "{}", "stockSymbol", "a value", "nothing"),
      (
        "/v1/alerts", #"{"stockSymbol":"sh600000","condition":"over","threshold":"1"}"#,
        "condition", "one of the values in /v1/openapi.json", "another value"
      ),
      (
        "/v1/alerts", #"{"stockSymbol":"sh600000","condition":"above","threshold":"1,5"}"#,
        "threshold", "a decimal number above 0 in a string such as \"1769.040\"", "1,5"
      ),
      ("/v1/webhooks", #"{"url":7}"#, "url", "a string", "another value"),
      ("/v1/accounts", "[]", nil, nil, nil),
    ]
    for (path, body, field, expected, found) in cases {
      let reply = try await fixture.ask(.post, path, body)
      #expect(reply.status == 400 && reply.text("code") == "invalid_argument", "\(reply)")
      #expect(reply.text("errors.0.field") == field, "\(reply)")
      #expect(reply.text("errors.0.expected") == expected && reply.text("errors.0.found") == found)
    }
  }

  @Test("a request that the broker does not answer in time is accepted, and answered later")
  func pending() async throws {
    let fixture = try await TradingFixture(hasBroker: false, commandMilliseconds: 30)
    _ = try await fixture.ask(.post, "/v1/accounts", #"{"name":"a","market":"A"}"#)
    let body = #"{"amount":"7.00","type":"line_pay"}"#
    let reply = try await fixture.ask(.post, "/v1/account/deposits", body, key: "k")
    #expect(reply.status == 202 && reply.text("state") == "pending", "\(reply)")
    let path = try #require(reply.headers[.location])
    #expect(try await fixture.ask(.get, path).text("state") == "pending")
    #expect(try await fixture.ask(.get, path, as: fixture.bob).status == 404)
    try await fixture.broker.execute()
    let done = try await fixture.ask(.get, path)
    #expect(done.text("state") == "done" && done.text("answer") == "posting=1", "\(done)")
    let again = try await fixture.ask(.post, "/v1/account/deposits", body, key: "k")
    #expect(again.status == 201 && again.text("available") == "7.00", "\(again)")
  }

  @Test("nothing of another user is seen or changed, and a token to read changes nothing")
  func rights() async throws {
    let fixture = try await TradingFixture()
    try await fixture.fund()
    let id = try await fixture.buy(100, limit: "9.99")
    for (method, path) in [
      (HTTPRequest.Method.get, "/v1/account?account=1"), (.get, "/v1/orders/\(id)"),
      (.delete, "/v1/orders/\(id)"), (.get, "/v1/portfolio?account=1"), (.get, "/v1/account"),
      (.get, "/v1/account/transactions?account=1"), (.get, "/v1/orders?account=1"),
      (.put, "/v1/portfolio/sh600000/triggers?account=1"),
    ] {
      let reply = try await fixture.ask(method, path, as: fixture.bob)
      #expect(reply.status == 404, "\(path) \(reply)")
    }
    for (method, path) in [
      (HTTPRequest.Method.post, "/v1/orders"), (.delete, "/v1/orders/\(id)"),
      (.post, "/v1/account/deposits"), (.post, "/v1/accounts"), (.post, "/v1/queue-purchases"),
      (.put, "/v1/portfolio/sh600000/triggers"),
    ] {
      #expect(try await fixture.ask(method, path, "{}", as: fixture.reader).status == 403)
    }
    #expect(try await fixture.ask(.get, "/v1/orders/\(id)", as: fixture.reader).status == 200)
  }

  @Test(
    "a field that a body cannot have is refused by its name",
    arguments: [
      (
        "orders",
        #"{"stockSymbol":"sh600000","type":"market","quantity":"100","limitprice":"9"}"#,
        "limitprice", "limitPrice"
      ),
      (
        "alerts",
        #"{"stockSymbol":"sh600000","condition":"above","threshold":"1","repeats":"daily"}"#,
        "repeats", "repeat"
      ),
      (
        "queue-purchases",
        #"{"stockSymbol":"sh600000","triggers":[{"kind":"queueAtMost","vaule":"1"}]}"#,
        "triggers[0].vaule", "value"
      ),
      // Of another kind.
      (
        "queue-purchases",
        #"{"stockSymbol":"sh600000","triggers":[{"kind":"atLimitUp","value":"1"}]}"#,
        "triggers[0].value", "kind"
      ),
      (
        "alerts", #"{"stockSymbol":"sh600000","condition":"gap","threshold":"1"}"#, "threshold",
        "condition"
      ),
      // It may be a secret at a wrong place.
      (
        "account/deposits", #"{"amount":"1.00","type":"bank","cndl_0123456789":"a"}"#, "?", "amount"
      ),
    ])
  func strangeFields(path: String, body: String, field: String, known: String) async throws {
    let fixture = try await TradingFixture()
    let refused = try await fixture.ask(.post, "/v1/\(path)", body)
    #expect(refused.status == 400 && refused.text("errors.0.field") == field, "\(refused)")
    #expect(refused.text("errors.0.expected")?.contains(known) == true, "\(refused)")
    #expect(!refused.body.contains("cndl_"))
  }
}
