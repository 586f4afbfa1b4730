import AppStore
import HTTPTypes
import Operations
import TestTraits
import Testing
import Transport

@testable import Gateway

@Suite struct WebhookRuleTests {
  private let rule = WebhookRule()
  private let open = WebhookRule(isPrivateAllowed: true)

  @Test func `a signature is that of Standard Webhooks`() throws {
    // The example of the specification's libraries.
    let secret = WebhookSecret([
      0x31, 0xF2, 0x90, 0xF6, 0xBF, 0x06, 0x29, 0x8A, 0xAB, 0x4F, 0x08, 0xD4, 0x3C, 0x3F, 0x08,
      0x2C, 0xF6, 0x48, 0xA3, 0x62, 0xDA, 0x2D, 0xA4, 0xB0,
    ])
    #expect(secret.reveal() == "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
    let signature = secret.signature(
      id: "msg_p5jXN8AQM9LWM0D4loKWxJek", seconds: 1_614_265_330,
      body: Array(#"{"test": 2432232314}"#.utf8))
    #expect(signature == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
  }

  @Test(arguments: [
    "127.0.0.1", "127.255.255.254", "0.0.0.0", "10.1.2.3", "100.64.0.1", "169.254.169.254",
    "172.16.0.1", "172.31.255.255", "192.168.1.1", "192.0.2.1", "198.18.0.1", "198.51.100.7",
    "203.0.113.9", "224.0.0.1", "240.0.0.1", "255.255.255.255", "::", "::1", "::ffff:127.0.0.1",
    "::ffff:10.0.0.1", "::7f00:1", "fe80::1", "fe80::1%lo", "fc00::1", "fd12:3456::1", "ff02::1",
    "64:ff9b::a00:1", "64:ff9b::7f00:1", "64:ff9b:1::1", "100::1", "2001::1", "2001:db8::1",
    "2002:7f00:1::1", "3fff::1", "5f00::1", "localhost", "",
  ])
  func `an address that is not global is refused`(_ address: String) {
    #expect(rule.refuses(address))
  }

  @Test(arguments: [
    "1.1.1.1", "8.8.8.8", "172.32.0.1", "192.169.0.1", "223.255.255.255", "::ffff:8.8.8.8",
    "64:ff9b::808:808", "2606:4700::1111", "2a00:1450::1", "2001:4860::8888",
  ])
  func `a global one is not`(_ address: String) {
    #expect(!rule.refuses(address) && !open.refuses(address))
  }

  @Test func `private networks are allowed where the operator says so, multicast is not`() {
    for address in ["127.0.0.1", "::1", "10.0.0.1", "fd00::1"] { #expect(!open.refuses(address)) }
    for address in ["224.0.0.1", "ff02::1"] { #expect(open.refuses(address)) }
  }

  @Test func `an address of the machine itself is refused, if it is global too`() {
    #expect(OwnAddresses.contains([127, 0, 0, 1]) && !OwnAddresses.contains([8, 8, 8, 8]))
    let own = WebhookRule(isPrivateAllowed: false) { $0 == [8, 8, 8, 8] }
    #expect(own.refuses("8.8.8.8") && !own.refuses("1.1.1.1"))
    #expect(own.refuses("64:ff9b::808:808") && own.refuses("::ffff:8.8.8.8"))
  }

  @Test(arguments: [
    ("https://example.com", "https://example.com", "/"),
    ("https://Example.com:8443/a/b?c=d&e=%20", "https://example.com:8443", "/a/b?c=d&e=%20"),
    ("https://8.8.8.8/x", "https://8.8.8.8", "/x"),
  ])
  func `a URL has a base and a path`(_ url: String, _ base: String, _ path: String) throws {
    let target = try #require(try rule.target(of: url))
    #expect(target.base.description == base && target.path == path)
  }

  @Test(arguments: [
    "", "example.com", "ftp://example.com/", "https://", "https:///x", "https://a b/",
    "https://user@example.com/", "https://user:pass@example.com/", "https://example.com/#part",
    "https://example.com:0/", "https://example.com:65536/", "https://-a.com/", "https://a..b/",
    "https://example.com/\u{e9}", "https://example.com/a b", "https://example.com\r\nX: y/",
    "javascript:alert(1)", "file:///etc/passwd", "https://[::1]/", "https://1.1.1.1@10.0.0.1/",
  ])
  func `what is no URL of the form is none`(_ url: String) throws {
    #expect(try rule.target(of: url) == nil && open.target(of: url) == nil)
  }

  @Test func `TLS is needed but at loopback where it is allowed, and literals are judged`() throws {
    for url in ["http://example.com/", "http://127.0.0.1/", "http://localhost/"] {
      #expect(throws: WebhookRule.Refusal.scheme) { try rule.target(of: url) }
    }
    for url in ["https://127.0.0.1/", "https://10.0.0.1/", "https://169.254.169.254/latest"] {
      #expect(throws: WebhookRule.Refusal.address) { try rule.target(of: url) }
    }
    #expect(throws: WebhookRule.Refusal.scheme) { try open.target(of: "http://10.0.0.1/") }
    for url in ["http://127.0.0.1:80/", "http://localhost/", "https://10.0.0.1/"] {
      #expect(try open.target(of: url) != nil)
    }
  }
}

/// The routes, with a database behind them.
@Suite(.ownThread) struct WebhookRouteTests {
  @Test func `a user has five webhooks, and sees a secret once`() async throws {
    let fixture = try await TradingFixture()
    let body = #"{"url":"https://example.com/hook"}"#
    let made = try await fixture.ask(.post, "/v1/webhooks", body)
    #expect(made.status == 201 && made.headers[.location] == "/v1/webhooks/1")
    let secret = try #require(try made.json["secret"] as? String)
    #expect(secret.hasPrefix("whsec_") && secret.count == 50)
    for _ in 0..<4 { #expect(try await fixture.ask(.post, "/v1/webhooks", body).status == 201) }
    let sixth = try await fixture.ask(.post, "/v1/webhooks", body)
    #expect(sixth.status == 409 && sixth.body.contains("limit_reached"))
    let list = try await fixture.ask(.get, "/v1/webhooks")
    #expect(list.body.contains(#""state":"active""#) && !list.body.contains("secret"))
    #expect((try list.json["webhooks"] as? [Any])?.count == 5)
    let others = try await fixture.ask(.get, "/v1/webhooks", as: fixture.bob)
    #expect(others.body == #"{"webhooks":[]}"#)
    let foreign = try await fixture.ask(.put, "/v1/webhooks/1", body, as: fixture.bob)
    #expect(foreign.status == 404 && foreign.body.contains("unknown_webhook"))
    #expect(try await fixture.ask(.delete, "/v1/webhooks/1", as: fixture.bob).status == 204)
    #expect(try await fixture.ask(.get, "/v1/webhooks", as: fixture.viewer).status == 403)
    #expect(try await fixture.ask(.put, "/v1/webhooks/1", body).status == 200)
    for _ in 0..<2 { #expect(try await fixture.ask(.delete, "/v1/webhooks/1").status == 204) }
    #expect((try await fixture.ask(.get, "/v1/webhooks").json["webhooks"] as? [Any])?.count == 4)
  }
}
