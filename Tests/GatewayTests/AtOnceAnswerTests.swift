import AppStore
import Foundation
import HTTPTypes
import Market
import NIOHTTP1
import Operations
import Reader
import TestTraits
import Testing

@testable import Gateway

/// What is in memory is answered on the event loop; these hold it to what Hummingbird answers.
@Suite(.ownThread) struct AtOnceAnswerTests {
  private static let secret: TokenSecret = {
    var generator = SystemRandomNumberGenerator()
    return TokenSecret(using: &generator)
  }()

  private static func served(
    _ options: AccessControl.Options
  ) throws -> (gateway: Gateway, parts: Gateway.Parts) {
    let gateway = Gateway(
      GatewayOptions(listen: .ipv4(host: "127.0.0.1", port: 0), databaseURL: ""), log: quietLog)
    var state = MarketState(epoch: 7, seq: 2)
    state.directory = InstrumentDirectory().updated(with: [
      try InstrumentDirectoryTests.record(1, "sh600519", name: "贵州茅台"),
      try InstrumentDirectoryTests.record(2, "sz000001", name: "平安银行"),
    ])
    // Long enough to be compressed.
    state.stocks = [StreamsMarket.stock(0, seq: 2, padding: 2_000), nil]
    state.figures = [nil, nil]
    gateway.memory.publish(state)
    let directory = TokenDirectory()
    let token = Token(
      id: 7, userID: 3, user: "alice", name: "phone", scopes: [.market],
      createdAt: Timestamp(seconds: 0), expiresAt: nil)
    let poor = Token(
      id: 8, userID: 3, user: "alice", name: "watch", scopes: [.account],
      createdAt: Timestamp(seconds: 0), expiresAt: nil)
    directory.replace(with: [secret.digest: token, poorSecret.digest: poor])
    var parts = Gateway.Parts()
    parts.middlewares = [AccessMiddleware(AccessControl(options, directory: directory))]
    return (gateway, parts)
  }

  private static let poorSecret: TokenSecret = {
    var generator = SystemRandomNumberGenerator()
    return TokenSecret(using: &generator)
  }()

  private struct Case: CustomStringConvertible {
    let path: String
    let fields: [String]
    let status: Int

    init(_ path: String = "/v1/stocks/sh600519", _ fields: [String] = [], _ status: Int = 200) {
      (self.path, self.fields, self.status) = (path, fields, status)
    }

    var description: String { "\(path) \(fields)" }
  }

  private static let stock = "/v1/stocks/sh600519"
  private static let cases = [
    Case(), Case("/v1/stocks/600519.SH"), Case("/v1/stocks/sz000001"),
    Case("/v1/stocks/sh600009", [], 404),
    Case("/v1/stocks/\(String(repeating: "a", count: 40))", [], 404),
    Case(stock, ["If-None-Match: \"7-2\""], 304),
    Case(stock, ["If-None-Match: W/\"7-2-gzip\", \"a\""], 304),
    Case(stock, ["If-None-Match: \"7-1\""]), Case(stock, ["Accept-Encoding: gzip"]),
    Case(stock, ["Origin: https://app.example"]), Case(stock, ["Origin: https://other.example"]),
    Case(stock, ["Connection: Keep-Alive", "User-Agent: test", "Accept: */*"]),
    Case(stock, ["Authorization: Bearer \(secret.reveal())"]),
    Case(stock, ["APCA-API-SECRET-KEY: \(secret.reveal())"]),
    // What everybody may read, this token may too.
    Case(stock, ["Authorization: Bearer \(poorSecret.reveal())"]),
    Case(stock, ["Authorization: Bearer nothing"], 401),
    Case(stock, ["Authorization: Basic a"], 401),
    Case("\(stock)-\(TokenSecret.prefix)", [], 400),
    Case(stock, ["X-Forwarded-For: 192.0.2.7", "X-Forwarded-Proto: https"]),
  ]

  @Test("an answer from the event loop has the bytes of Hummingbird's", arguments: [true, false])
  func sameBytes(isAnonymous: Bool) async throws {
    let (gateway, parts) = try Self.served(
      AccessControl.Options(
        anonymous: isAnonymous, tokenRequests: 10_000, addressRequests: 10_000,
        origins: ["https://app.example"]))
    let table = gateway.table(parts)
    try await LiveServer.run(gateway, parts) { port in
      for one in Self.cases {
        var head = HTTPRequestHead(version: .http1_1, method: .GET, uri: one.path)
        for field in ["Host: test"] + one.fields {
          let parts = field.split(separator: ":", maxSplits: 1)
          head.headers.add(name: String(parts[0]), value: String(parts[1].dropFirst()))
        }
        let answer = try #require(table.answerAtOnce(to: head, peer: "127.0.0.1"), "\(one)")
        if isAnonymous { #expect(answer.status.code == one.status, "\(one)") }
        // A connection's first request is Hummingbird's.
        let client = try StreamsClient(port: port)
        let first = try Self.answer(to: one, from: client)
        #expect(try Self.answer(to: one, from: client) == first, "\(one)")
        #expect(first.hasPrefix("HTTP/1.1 \(answer.status.code) "), "\(one)")
      }
    }
    let counted = gateway.counters.all.values.reduce(0, +)
    #expect(counted == 3 * Self.cases.count)
  }

  /// Head and body, but for what moves with time.
  private static func answer(to one: Case, from client: StreamsClient) throws -> String {
    var head = try client.get(one.path, headers: one.fields)
    let length = head.lowercased().split(separator: "\r\n")
      .first { $0.hasPrefix("content-length:") }
      .flatMap { Int($0.dropFirst(15).trimmingCharacters(in: .whitespaces)) }
    #expect((length == nil) == head.hasPrefix("HTTP/1.1 304"), "\(head)")
    let body = try client.bytes(length ?? 0)
    head.replace(#/Date: [^\r]*/#, with: "Date")
    head.replace(#/r=[0-9]+;t=[0-9]+/#, with: "r;t")
    return head + body.map { String($0, radix: 16) }.joined()
  }

  @Test(
    "what is not plain, or has no answer in memory, is Hummingbird's",
    arguments: [
      ("/v1/stocks", ""), ("/v1/stocks/sh600519?source=sina", ""), ("/v1/stocks/sh60051%39", ""),
      ("/v1/stocks/sh600519/history", ""), ("/v1/stocks/sh600519", "Content-Length: 5"),
      ("/v1/stocks/sh600519", "Transfer-Encoding: chunked"),
      ("/v1/stocks/sh600519", "Connection: close"), ("/v1/stocks/sh600519", "Host: another"),
      ("/v1/stocks/sh600519", "Expect: 100-continue"), ("/v1/stocks/sh600519", "Upgrade: h2c"),
    ])
  func notPlain(path: String, field: String) throws {
    let (gateway, parts) = try Self.served(AccessControl.Options(anonymous: true))
    let table = gateway.table(parts)
    var head = HTTPRequestHead(version: .http1_1, method: .GET, uri: path)
    head.headers.add(name: "Host", value: "test")
    if !field.isEmpty {
      let parts = field.split(separator: ":", maxSplits: 1)
      head.headers.add(name: String(parts[0]), value: String(parts[1].dropFirst()))
    }
    #expect(table.answerAtOnce(to: head, peer: "127.0.0.1") == nil)
    head.method = .HEAD
    #expect(table.answerAtOnce(to: head, peer: "127.0.0.1") == nil)
  }

  @Test("the date of an answer is in the form of RFC 9110")
  func date() {
    #expect(HTTPDate.text(atSecond: 784_111_777) == "Sun, 06 Nov 1994 08:49:37 GMT")
    #expect(HTTPDate.text(atSecond: 1_795_456_801) == "Mon, 23 Nov 2026 18:00:01 GMT")
  }
}
