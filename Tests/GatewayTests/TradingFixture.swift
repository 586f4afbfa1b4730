import AppStore
import Foundation
import HTTPTypes
import Market
import NIOCore
import NIOPosix
import Operations
import Postgres
import TestSupport
import Testing

@testable import Gateway

/// A gateway with a market, two users with tokens, and a broker that can be stopped.
final class TradingFixture: Sendable {
  let served: ServedFixture
  let broker: StandInBroker
  let parts: Gateway.Parts
  let table: RouteTable
  /// Of alice, who trades; of bob, who does too; of alice, to read.
  let alice: String
  let bob: String
  let reader: String
  /// Of alice, for the market alone.
  let viewer: String
  private let running: Task<Void, Never>?
  private let outboxFollower: DatabaseFollower
  private let valuing: Task<Void, Never>

  /// - Parameter day: of the broker, until it begins another one.
  init(
    hasBroker: Bool = true, commandMilliseconds: Int = 20_000, day: TradingDay = StoreSamples.day
  ) async throws {
    served = try await ServedFixture(commandMilliseconds: commandMilliseconds)
    broker = try StandInBroker(served.database, day: day)
    let tokens = TokenTable(try AppConnection(url: served.database.url, application: "test"))
    func make(_ user: String, _ name: String, _ scopes: Set<TokenScope>) throws -> String {
      var generator = SystemRandomNumberGenerator()
      let secret = TokenSecret(using: &generator)
      _ = try tokens.create(secret, user: user, name: name, scopes: scopes)
      return secret.reveal()
    }
    alice = try make("alice", "a", [.market, .account, .trade])
    bob = try make("bob", "b", [.market, .account, .trade])
    reader = try make("alice", "r", [.market, .account])
    viewer = try make("alice", "v", [.market])
    let control = AccessControl(.init(), directory: TokenDirectory())
    control.directory.replace(with: try tokens.inForce())
    let made = served.gateway.parts(
      control: control, loops: MultiThreadedEventLoopGroup.singleton)
    parts = made.parts
    table = served.gateway.table(parts)
    outboxFollower = try made.users.outbox.follow(
      url: served.gateway.options.databaseURL, log: quietLog)
    let portfolios = made.users.portfolios
    valuing = Task { await portfolios.run() }
    running = hasBroker ? Task { [broker] in await broker.run() } : nil
  }

  deinit {
    running?.cancel()
    outboxFollower.stop()
    valuing.cancel()
  }

  func ask(
    _ method: HTTPRequest.Method, _ path: String, _ body: String? = nil, key: String? = nil,
    as token: String? = nil
  ) async throws -> Reply {
    var headers: HTTPFields = [.authorization: "Bearer \(token ?? alice)"]
    if let key, let name = HTTPField.Name("Idempotency-Key") { headers[name] = key }
    return try await AskedRequest(
      path: path, method: method, headers: headers, body: body.map { ByteBuffer(string: $0) }
    ).answer(from: table)
  }

  /// An account with money.
  func fund(_ amount: String = "1000000.00") async throws {
    _ = try await ask(.post, "/v1/accounts", #"{"name":"纸上","market":"A"}"#)
    _ = try await ask(
      .post, "/v1/account/deposits", #"{"amount":"\#(amount)","type":"bank"}"#, key: "first-money")
  }

  func listen<Result: Sendable>(
    body: @escaping @Sendable (_ port: Int) async throws -> Result
  ) async throws -> Result {
    try await LiveServer.run(served.gateway, parts, body: body)
  }

  /// - Returns: its number.
  func buy(
    _ quantity: Int, limit: String, _ symbol: String = "sh600000", key: String? = nil
  ) async throws -> Int64 {
    let reply = try await ask(
      .post, "/v1/orders",
      """
      {"stockSymbol":"\(symbol)","side":"buy","type":"limit","quantity":"\(quantity)",
      "limitPrice":"\(limit)"}
      """, key: key)
    return Int64(try reply.json["id"] as? String ?? "") ?? 0
  }
}

extension Reply {
  /// A member of the object, by path: `account.available`.
  func text(_ path: String) -> String? {
    var value: Any? = try? json
    for part in path.split(separator: ".") {
      if let index = Int(part) {
        let list = value as? [Any] ?? []
        value = list.indices.contains(index) ? list[index] : nil
      } else {
        value = (value as? [String: Any])?[String(part)]
      }
    }
    if let number = value as? NSNumber { return number.description }
    return value as? String
  }

  func count(_ name: String) -> Int { ((try? json[name]) as? [Any])?.count ?? -1 }
}
