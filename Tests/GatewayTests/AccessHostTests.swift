import Foundation
import HTTPTypes
import TestTraits
import Testing

@testable import Gateway

/// A page may have its own name resolved to the gateway's address.
@Suite(.ownThread) struct AccessHostTests {
  private let page = "http://rebound.example"

  @Test(
    "a page under a name is the gateway's own only where that is its name",
    arguments: [
      ("http://rebound.example", "rebound.example", [], OriginRule.Verdict.foreign),
      ("http://candled.example", "candled.example", ["Candled.example"], .own),
      ("https://candled.example:8443", "candled.example:8443", ["candled.example"], .own),
      ("http://rebound.example", "candled.example", ["candled.example"], .foreign),
      ("http://localhost:8466", "localhost:8466", [], .own),
      ("http://127.0.0.1:8466", "127.0.0.1:8466", ["candled.example"], .own),
      ("http://[::1]:8466", "[::1]:8466", [], .own),
      ("http://127.0.0.1:8466", "127.0.0.1:9", [], .foreign),
      ("http://127.0.0.1.example", "127.0.0.1.example", [], .foreign),
    ])
  func own(
    _ origin: String, _ host: String, _ hosts: [String], _ verdict: OriginRule.Verdict
  ) {
    #expect(OriginRule(origins: [], hosts: hosts).verdict(origin: origin, host: host) == verdict)
  }

  @Test("without gateway.hosts a program may name any host; with it, only those")
  func programs() {
    let open = OriginRule(origins: [])
    #expect(open.verdict(origin: nil, host: "anything") == .own)
    let closed = OriginRule(origins: ["https://app.example"], hosts: ["candled.example"])
    // A GET of a page to its own origin carries no Origin.
    #expect(closed.verdict(origin: nil, host: "rebound.example") == .misdirected)
    #expect(
      closed.verdict(origin: "https://app.example", host: "rebound.example") == .misdirected)
    #expect(closed.verdict(origin: nil, host: "CANDLED.example:80") == .own)
    #expect(closed.verdict(origin: nil, host: nil) == .own)
  }

  @Test("a request and a stream that were sent to another name are refused")
  func served() async throws {
    try await HostileServer.run(.init(anonymous: true, hosts: ["candled.example"])) { port in
      let client = try StreamsClient(port: port)
      #expect(try client.get("/v1/market", host: "rebound.example").hasPrefix("HTTP/1.1 421"))
      #expect(try client.text(through: "}").contains("misdirected"))
      #expect(try client.get("/v1/market", host: "candled.example").hasPrefix("HTTP/1.1 200"))
      for path in ["/v1/stream?symbols=s0", "/ws"] {
        let other = try StreamsClient(port: port)
        let head = try other.upgrade(path, host: "rebound.example")
        #expect(head.hasPrefix("HTTP/1.1 421"), "\(path) \(head)")
      }
    }
  }

  @Test("a request without a host, or with two, is 400; one of HTTP/1.0 needs none")
  func oneHost() async throws {
    try await HostileServer.run { port in
      func status(_ lines: [String]) throws -> String {
        let client = try StreamsClient(port: port)
        client.write(Array((lines + ["", ""]).joined(separator: "\r\n").utf8))
        return String(try client.head().dropFirst("HTTP/1.1 ".count).prefix(3))
      }
      for path in ["/v1/market", "/livez", "/v1/nothing", "/v1/stream?symbols=s0"] {
        let get = "GET \(path) HTTP/1.1"
        #expect(try status([get]) == "400", "\(path)")
        #expect(try status([get, "Host: a", "host: a"]) == "400", "\(path)")
        #expect(try status([get, "Host: a"]) != "400", "\(path)")
      }
      #expect(try status(["GET /v1/market HTTP/1.0"]) == "200")
      // Behind another request.
      let client = try StreamsClient(port: port)
      let both = ["GET /v1/market HTTP/1.1", "Host: a", "", "GET /v1/market HTTP/1.1", "", ""]
      client.write(Array(both.joined(separator: "\r\n").utf8))
      #expect(try client.head().contains(" 200 "))
      #expect(try client.text(through: "HTTP/1.1 400").contains("\"seq\""))
    }
  }

  @Test("a preflight names the methods of its path, for a listed page alone")
  func preflight() async throws {
    let listed = AccessControl.Options(anonymous: true, origins: ["https://app.example"])
    try await HostileServer.run(listed) { port in
      for (path, methods) in [
        ("/v1/orders/5", "DELETE, GET, HEAD, OPTIONS, PATCH"),
        ("/v1/preferences", "GET, HEAD, OPTIONS, PATCH, PUT"),
      ] {
        let reply = try AskedRequest(
          path: path, method: .options,
          headers: [.origin: "https://app.example", .accessControlRequestMethod: "PATCH"]
        ).answer(fromPort: port)
        let allowed = try #require(reply.headers[.accessControlAllowMethods])
        #expect(allowed.split(separator: ", ").sorted().joined(separator: ", ") == methods)
      }
      let foreign = try AskedRequest(
        path: "/v1/orders/5", method: .options,
        headers: [.origin: "https://bad.example", .accessControlRequestMethod: "PATCH"]
      ).answer(fromPort: port)
      #expect(foreign.status == 204 && foreign.headers[.accessControlAllowMethods] == nil)
    }
  }

  @Test("no answer is taken for what it is not")
  func nosniff() async throws {
    try await HostileServer.run { port in
      for path in ["/v1/market", "/v1/nothing", "/livez", "/", "/v1/stream?symbols=x&every=y"] {
        let reply = try AskedRequest(path: path).answer(fromPort: port)
        #expect(reply.headers[.xContentTypeOptions] == "nosniff", "\(path)")
      }
      let client = try StreamsClient(port: port)
      let events = try client.get("/v1/stream?symbols=s0").lowercased()
      #expect(events.contains("x-content-type-options: nosniff"), "\(events)")
    }
  }
}
