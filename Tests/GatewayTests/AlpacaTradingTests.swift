import AppStore
import Foundation
import HTTPTypes
import Market
import Platform
import TestSupport
import TestTraits
import Testing

@testable import Gateway

/// Alpaca's trading API: unmodified alpaca-py, in the version of Tests/requirements.txt, and what
/// it does not try.
@Suite(.ownThread) struct AlpacaTradingTests {
  @Test("alpaca-py trades: account, orders, positions, history")
  func peer() async throws {
    let fixture = try await TradingFixture()
    try await fixture.fund()
    let id = try await fixture.buy(300, limit: "10.02", "sh600001")
    try await fixture.broker.fill(id, quantity: 300, price: try ExactDecimal("10.01"))
    try await fixture.broker.settle(1)
    let secret = fixture.alice
    let outcome = try await fixture.listen { port in
      try PythonScript.run(
        "Tests/Peers/alpaca_trading.py", ["\(port)"], environment: ["SECRET": secret])
    }
    #expect(outcome.status == 0 && outcome.output.contains("all calls answered"), "\(outcome)")
  }

  @Test("alpaca-py's stream gets what becomes of orders, from new to the end of each kind")
  func stream() async throws {
    let fixture = try await TradingFixture()
    try await fixture.fund("1000000.00")
    let secret = fixture.alice
    let outcome = try await fixture.listen { port in
      let isOver = Locked(false)
      async let market: Void = {
        var done: Set<String> = []
        while !isOver.withLock({ $0 }) {
          for (key, filled) in [("parts", true), ("late", false)] where !done.contains(key) {
            let reply = try await fixture.ask(
              .get, "/v2/orders:by_client_order_id?client_order_id=\(key)")
            guard let id = AlpacaID.order.number(reply.text("id") ?? "") else { continue }
            done.insert(key)
            if filled {
              try await fixture.broker.fill(id, quantity: 100, price: try ExactDecimal("10.01"))
              try await fixture.broker.fill(id, quantity: 200, price: try ExactDecimal("10.02"))
            } else {
              try await fixture.broker.expire(id)
            }
          }
          try await Task.sleep(for: .milliseconds(20))
        }
      }()
      let outcome = try await onOwnThread {
        try PythonScript.run(
          "Tests/Peers/alpaca_trade_stream.py", ["\(port)"], environment: ["SECRET": secret])
      }
      isOver.withLock { $0 = true }
      try await market
      return outcome
    }
    #expect(outcome.status == 0 && outcome.output.contains("all updates came"), "\(outcome)")
  }

  @Test("a number is read digit by digit, whatever a binary number would make of it")
  func numbers() throws {
    let json = #"{"qty": 100.0, "limit_price":1700.01,"a":"1\"2 3\\","b":[-1e5,true],"c":null}"#
    let quoted = try AlpacaNumbers.quoted(Array(json.utf8))
    #expect(
      String(decoding: quoted, as: UTF8.self)
        == #"{"qty": "100.0", "limit_price":"1700.01","a":"1\"2 3\\","b":["-1e5",true],"c":null}"#)
    for wrong in ["", "[1]", #"{"qty":01}"#, #"{"qty":1."#] {
      #expect(throws: Problem.self) { try AlpacaNumbers.quoted(Array(wrong.utf8)) }
    }
  }

  @Test("what is not offered is said in Alpaca's format, with its codes")
  func errors() async throws {
    let fixture = try await TradingFixture()
    try await fixture.fund("1000.00")
    let order = #"{"symbol":"sh600000","side":"buy","type":"limit","time_in_force":"day""#
    let cases: [(body: String, code: Int)] = [
      (order + #","qty":100.0,"limit_price":1700.01}"#, 40_310_000),
      (order + #","notional":100}"#, 42_210_000),
      (order + #","qty":100,"limit_price":-5}"#, 42_210_000),
      (order + #","qty":100}"#, 42_210_000), (order + #","qty":true}"#, 42_210_000),
      (order + #","qty":100,"limit_price":1,"order_class":"bracket"}"#, 42_210_000),
      (order + #","qty":100,"limit_price":1,"client_order_id":"a b"}"#, 42_210_000),
      (order.replacing("sh600000", with: "nothing") + #","qty":1,"limit_price":1}"#, 40_410_000),
      ("{", 40_010_001),
    ]
    for (body, code) in cases {
      let reply = try await fixture.ask(.post, "/v2/orders", body)
      #expect(reply.text("code") == "\(code)" && reply.status == code / 100_000, "\(body) \(reply)")
    }
    let reader = try await fixture.ask(.post, "/v2/orders", order + "}", as: fixture.reader)
    #expect(reader.text("code") == "40310000", "\(reader)")
    let none = try await fixture.ask(.get, "/v2/account", as: fixture.bob)
    #expect(none.text("code") == "40410000", "\(none)")
  }

  @Test("an identifier of the API is a number of ours, and no other text is one")
  func identifiers() {
    for number in [1, 17, 1 << 40, (1 << 60) - 1] as [Int64] {
      let text = AlpacaID.order.text(number)
      #expect(UUID(uuidString: text) != nil && AlpacaID.order.number(text) == number, "\(text)")
      #expect(AlpacaID.account.number(text) == nil)
    }
    for text in ["", "17", "0000000b-0000-4000-8000-000000000001", AlpacaID.order.text(0)] {
      #expect(AlpacaID.order.number(text) == nil, "\(text)")
    }
  }

  @Test("an order that was given an old one's number after a restore has an id of its own")
  func epochs() {
    let epochs = AppEpochs([
      .init(0, order: 0, command: 0, event: 0),
      .init(1_800_000_000, order: 40, command: 3, event: 9),
    ])
    for number in [1, 40] as [Int64] {
      let text = AlpacaID.order.text(number)
      #expect(AlpacaID.order.text(number, in: epochs) == text)
      #expect(AlpacaID.order.number(text, in: epochs) == number)
    }
    let (old, new) = (AlpacaID.order.text(41), AlpacaID.order.text(41, in: epochs))
    #expect(new == "006b490b-d200-8000-8000-000000000029" && UUID(uuidString: new) != nil)
    #expect(AlpacaID.order.number(new, in: epochs) == 41)
    #expect(AlpacaID.order.number(old, in: epochs) == nil && AlpacaID.order.number(new) == nil)
    #expect(AlpacaID.account.text(41, in: epochs) == AlpacaID.account.text(41))
  }
}
