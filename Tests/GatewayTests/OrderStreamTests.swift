import Foundation
import HTTPTypes
import Market
import TestSupport
import TestTraits
import Testing

@testable import Gateway

/// The channels of what is the user's own, from the broker's step to the socket.
@Suite(.ownThread) struct OrderStreamTests {
  private static let canary = "canary-5d1e"

  private static func subscription(after number: Int64?, in epoch: Int64?) -> String {
    let after = number.map { ",\"afterN\":\($0)" } ?? ""
    let epoch = epoch.map { ",\"epochN\":\($0)" } ?? ""
    return """
      {"action":"subscribe"\(after)\(epoch),
      "channels":[{"name":"order-updates"},{"name":"notifications"}]}
      """
  }

  private static func follow(
    _ port: Int, as token: String, after number: Int64? = nil, in epoch: Int64? = nil
  ) throws -> StreamsClient {
    let client = try StreamsClient(port: port)
    try client.upgrade(headers: ["Authorization: Bearer \(token)"])
    client.send(subscription(after: number, in: epoch))
    return client
  }

  /// So many updates, however many messages they come in.
  /// - Returns: the kinds of events, each message's number, and all of it as text.
  private static func updates(
    _ count: Int, to client: StreamsClient
  ) throws -> (kinds: [String], numbers: [Int], text: String) {
    var (kinds, numbers, text) = ([String](), [Int](), "")
    while kinds.count < count {
      let message = try client.message("order-updates")
      let rows = try #require(message["data"] as? [[String: Any]])
      kinds += rows.compactMap { ($0["event"] as? [String: Any])?["kind"] as? String }
      numbers.append(try #require(message["n"] as? Int))
      text += "\(rows)"
    }
    return (kinds, numbers, text)
  }

  @Test("a user's streams get each change of an order, in order, and no other user's does")
  func changes() async throws {
    let fixture = try await TradingFixture()
    try await fixture.fund()
    try await fixture.listen { port in
      let mine = try Self.follow(port, as: fixture.alice)
      let other = try Self.follow(port, as: fixture.bob)
      #expect(try mine.message("subscribed")["n"] as? Int == 0)
      _ = try other.message("subscribed")
      let id = try await fixture.buy(300, limit: "10.02", key: Self.canary)
      try await fixture.broker.fill(id, quantity: 100, price: try ExactDecimal("10.01"))
      _ = try await fixture.ask(.patch, "/v1/orders/\(id)", #"{"limitPrice":"10.05"}"#)
      _ = try await fixture.ask(.delete, "/v1/orders/\(id + 1)")
      let seen = try Self.updates(5, to: mine)
      #expect(seen.kinds == ["accepted", "fill", "replaced", "accepted", "cancelled"])
      #expect(seen.numbers == seen.numbers.sorted() && seen.numbers.last == 5, "\(seen.numbers)")
      #expect(seen.text.contains(Self.canary) && seen.text.contains("10.01"), "\(seen.text)")
      // Whatever came to the other one stands before the answer.
      other.send(#"{"action":"ping"}"#)
      guard case .text(let next) = try other.frame() else {
        Issue.record("no answer")
        return
      }
      #expect(next.contains("pong"), "\(next)")
    }
  }

  @Test("an order that is refused is an update, with the reason")
  func refusal() async throws {
    let fixture = try await TradingFixture()
    try await fixture.fund("10.00")
    try await fixture.listen { port in
      let client = try Self.follow(port, as: fixture.reader)
      _ = try client.message("subscribed")
      _ = try await fixture.buy(100, limit: "10.00", key: "too-much")
      let rows = try client.message("order-updates")["data"] as? [[String: Any]]
      let row = try #require(rows?.first)
      #expect(row["state"] as? String == "rejected" && row["id"] is NSNull, "\(row)")
      #expect(row["idempotencyKey"] as? String == "too-much")
      #expect(row["filledQuantity"] as? String == "0" && row["command"] is String, "\(row)")
      #expect((row["event"] as? [String: Any])?["code"] as? String == "insufficient_funds")
    }
  }

  @Test("who comes again with the last number gets what was missed, and nothing else")
  func resumption() async throws {
    let fixture = try await TradingFixture()
    try await fixture.fund()
    let id = try await fixture.buy(300, limit: "10.02")
    try await fixture.broker.fill(id, quantity: 100, price: try ExactDecimal("10.01"))
    try await fixture.broker.fill(id, quantity: 200, price: try ExactDecimal("10.02"))
    try await fixture.listen { port in
      let again = try Self.follow(port, as: fixture.alice, after: 1)
      #expect(try again.message("subscribed")["n"] as? Int == 1)
      #expect(try Self.updates(2, to: again).kinds == ["fill", "fill"])
      let anew = try Self.follow(port, as: fixture.alice, after: 0)
      #expect(try Self.updates(3, to: anew).numbers.last == 3)
      let beyond = try Self.follow(port, as: fixture.alice, after: 99)
      #expect(try beyond.message("error")["code"] as? String == "unknown_number")
      let restored = try Self.follow(port, as: fixture.alice, after: 1, in: 7)
      #expect(try restored.message("error")["code"] as? String == "unknown_number")
      _ = try await fixture.buy(100, limit: "9.00")
      for client in [again, anew, beyond] {
        let last = try Self.updates(1, to: client)
        #expect(last.kinds == ["accepted"] && last.numbers == [4], "\(last)")
      }
    }
  }

  @Test("events carry the number in their id, and go on behind it")
  func events() async throws {
    let fixture = try await TradingFixture()
    try await fixture.fund()
    let id = try await fixture.buy(300, limit: "10.02")
    try await fixture.broker.fill(id, quantity: 100, price: try ExactDecimal("10.01"))
    let state = fixture.served.gateway.memory.state
    try await fixture.listen { port in
      let client = try StreamsClient(port: port)
      try client.get(
        "/v1/stream?channels=order-updates",
        headers: [
          "Authorization: Bearer \(fixture.alice)",
          "Last-Event-ID: \(state.epoch)-\(state.seq).1",
        ])
      let text = try client.text(through: "\"filledSoFar\":\"100\"")
      #expect(text.contains("id: \(state.epoch)-\(state.seq).2\n"), "\(text)")
      #expect(!text.contains("\"kind\":\"accepted\""), "\(text)")
    }
  }

  @Test("a portfolio comes whole, and again when its account changes, to its user alone")
  func portfolios() async throws {
    let fixture = try await TradingFixture()
    try await fixture.fund("10000.00")
    try await fixture.listen { port in
      let mine = try StreamsClient(port: port)
      let other = try StreamsClient(port: port)
      for (client, token) in [(mine, fixture.reader), (other, fixture.bob)] {
        try client.upgrade(headers: ["Authorization: Bearer \(token)"])
        client.send(#"{"action":"subscribe","channels":[{"name":"portfolio-updates"}]}"#)
        _ = try client.message("subscribed")
      }
      func next() throws -> [String: Any] {
        let rows = try mine.message("portfolio-updates")["data"] as? [[String: Any]]
        return try #require(rows?.first)
      }
      let first = try next()
      #expect(first["cash"] as? String == "10000.00" && first["account"] as? String == "1")
      #expect((first["stocks"] as? [Any])?.isEmpty == true, "\(first)")
      let id = try await fixture.buy(100, limit: "10.02")
      try await fixture.broker.fill(id, quantity: 100, price: try ExactDecimal("10.01"))
      var stocks: [[String: Any]] = []
      while stocks.isEmpty { stocks = try next()["stocks"] as? [[String: Any]] ?? [] }
      #expect(stocks.first?["stockSymbol"] as? String == "sh600000", "\(stocks)")
      #expect(stocks.first?["quantity"] as? String == "100" && stocks.first?["low"] is NSNull)
      _ = try await fixture.ask(.put, "/v1/portfolio/sh600000/triggers", #"{"low":"9.50"}"#)
      while stocks.first?["low"] is NSNull {
        stocks = try #require(try next()["stocks"] as? [[String: Any]])
      }
      #expect(stocks.first?["low"] as? String == "9.50", "\(stocks)")
      other.send(#"{"action":"ping"}"#)
      guard case .text(let text) = try other.frame() else {
        Issue.record("no answer")
        return
      }
      #expect(text.contains("pong"), "\(text)")
    }
  }

  @Test("a token without the scope account follows nothing of its user")
  func rights() async throws {
    let fixture = try await TradingFixture()
    try await fixture.fund()
    try await fixture.listen { port in
      let client = try Self.follow(port, as: fixture.viewer, after: 0)
      #expect(try client.message("error")["code"] as? String == "forbidden")
    }
  }
}
