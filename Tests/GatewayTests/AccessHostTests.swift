import Foundation
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
        #expect(head.hasPrefix("HTTP/1.1 403"), "\(path) \(head)")
      }
    }
  }
}
