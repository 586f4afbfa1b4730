import AppStore
import HTTPTypes
import Market
import Operations
import TestSupport
import Testing

@testable import Gateway

@Suite struct RateLimiterTests {
  /// A bucket as the text books have it: it fills at the rate, up to the burst. In millionths of a
  /// request.
  private struct Bucket {
    let rate: Int64
    let burst: Int64
    var level: Int64
    var at: Int64 = 0

    init(rate: Int, burst: Int) {
      self.rate = Int64(rate)
      self.burst = Int64(burst) * 1_000_000
      level = self.burst
    }

    mutating func fill(to now: Int64) {
      level = min(level + (now - at) * rate, burst)
      at = now
    }

    mutating func take(cost: Int, at now: Int64) -> Bool {
      fill(to: now)
      guard level >= Int64(cost) * 1_000_000 else { return false }
      level -= Int64(cost) * 1_000_000
      return true
    }
  }

  @Test func `random requests are judged as by a bucket that fills`() {
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = SplitMix(seed: seed)
    for _ in 0..<50 {
      // Whose interval is a whole number of microseconds.
      let rate = [1, 2, 5, 20, 50, 100, 1_000].randomElement(using: &random) ?? 1
      var limiter = RateLimiter<Int>(ratePerSecond: rate)
      var model: [Int: Bucket] = [:]
      var now: Int64 = 1
      for step in 0..<400 {
        now += .random(in: 0...2_000_000 / Int64(rate), using: &random)
        let key = Int.random(in: 0..<3, using: &random)
        var bucket = model[key] ?? Bucket(rate: rate, burst: limiter.burst)
        if Int.random(in: 0..<10, using: &random) == 0 {
          limiter.charge(key, cost: 9, at: now)
          bucket.fill(to: now)
          bucket.level = max(bucket.level - 9_000_000, -9 * bucket.burst)
        } else {
          let cost = Int.random(in: 1...3, using: &random)
          let expected = bucket.take(cost: cost, at: now)
          let verdict = limiter.request(from: key, cost: cost, at: now)
          guard verdict.isAdmitted == expected,
            verdict.remaining == Int(max(bucket.level, 0) / 1_000_000)
          else {
            Issue.record("seed \(seed), step \(step), rate \(rate): \(verdict), \(bucket)")
            return
          }
        }
        model[key] = bucket
      }
    }
  }

  @Test func `who was refused is admitted after the wait, and not a microsecond before`() {
    var limiter = RateLimiter<Int>(ratePerSecond: 10)
    for _ in 0..<limiter.burst { #expect(limiter.request(from: 1, at: 0).isAdmitted) }
    let wait = limiter.request(from: 1, at: 0).waitMicroseconds
    #expect(wait == 100_000)
    #expect(!limiter.request(from: 1, at: wait - 1).isAdmitted)
    #expect(limiter.request(from: 1, at: wait).isAdmitted)
  }

  @Test func `the table stays bounded, and what has no room shares one bucket`() {
    var limiter = RateLimiter<Int>(ratePerSecond: 1, entriesMax: 100)
    for key in 0..<10_000 { _ = limiter.request(from: key, at: 0) }
    #expect(limiter.count == 100)
    #expect(!limiter.request(from: 10_001, at: 0).isAdmitted)
    #expect(limiter.request(from: 1, at: 0).isAdmitted)
    // All are full again: there is room.
    for key in 20_000..<20_100 { #expect(limiter.request(from: key, at: 60_000_000).isAdmitted) }
    #expect(limiter.count <= 100)
  }

  @Test func `the headers name the policy and what is left of it`() {
    var limiter = RateLimiter<Int>(ratePerSecond: 5)
    let headers = limiter.headers(of: limiter.request(from: 1, cost: 6, at: 0))
    #expect(headers.map(\.name) == ["RateLimit-Policy", "RateLimit"])
    #expect(headers.map(\.value) == ["\"requests\";q=20;w=4", "\"requests\";r=14;t=2"])
  }
}

@Suite struct TicketBoxTests {
  private let identity = Principal.Identity(tokenID: 1, userID: 1, scopes: [.market])

  @Test func `a ticket serves once, within 30 seconds`() throws {
    var box = TicketBox()
    var generator = SystemRandomNumberGenerator()
    let first = try box.make(for: identity, at: 0, using: &generator)
    let second = try box.make(for: identity, at: 0, using: &generator)
    #expect(first != second && box.redeem("", at: 1) == nil)
    #expect(box.redeem(first, at: 29_999_999) == identity)
    #expect(box.redeem(first, at: 29_999_999) == nil)
    #expect(box.redeem(second, at: 30_000_000) == nil)
  }

  @Test func `tickets are bounded, used ones included`() throws {
    var box = TicketBox()
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<TicketBox.ticketsMax { _ = try box.make(for: identity, at: 0, using: &generator) }
    let problem = #expect(throws: Problem.self) {
      try box.make(for: identity, at: 0, using: &generator)
    }
    #expect(problem?.status.code == 429 && problem?.headers[.retryAfter] == "30")
    _ = try box.make(for: identity, at: 30_000_000, using: &generator)
    #expect(box.count == 1)
  }
}

@Suite struct ClientAddressTests {
  private static let proxies = ["10.0.0.0/8", "::1", "unix"].compactMap { AddressRange($0) }

  /// The peer, X-Forwarded-For, and who is counted.
  @Test(
    arguments: [
      ("203.0.113.9", nil, "203.0.113.9"), ("203.0.113.9", "1.2.3.4", "203.0.113.9"),
      ("10.1.2.3", "1.2.3.4", "1.2.3.4"), ("10.1.2.3", "9.9.9.9, 1.2.3.4", "1.2.3.4"),
      ("10.1.2.3", "1.2.3.4, 10.9.9.9", "1.2.3.4"), ("10.1.2.3", "nonsense", "10.1.2.3"),
      ("10.1.2.3", "1.2.3.4:5678", "1.2.3.4"), ("10.1.2.3", "", "10.1.2.3"),
      ("::1", "1.2.3.4", "1.2.3.4"), (nil, "1.2.3.4", "1.2.3.4"),
      ("::ffff:10.1.2.3", "1.2.3.4", "1.2.3.4"), ("11.1.2.3", "1.2.3.4", "11.1.2.3"),
    ] as [(String?, String?, String)])
  func `a header is used only where its writer is trusted`(
    _ peer: String?, _ forwarded: String?, _ expected: String
  ) {
    let address = ClientAddress(
      peer: peer, forwardedFor: forwarded, trusting: Self.proxies)
    #expect(address.bytes == NumericAddress.bytes(expected))
  }

  @Test func `the addresses of one IPv6 network are counted together`() {
    func bytes(_ text: String) -> [UInt8] {
      ClientAddress(peer: text, forwardedFor: nil, trusting: []).bytes
    }
    #expect(bytes("2001:db8::1") == bytes("2001:db8::ffff:1"))
    #expect(bytes("2001:db8::1") != bytes("2001:db8:0:1::1"))
  }

  @Test(arguments: ["10.0.0.1/8", "10.0.0.0/33", "10.0.0.0/", "x", "", "::1/129", "10.0.0.0/-1"])
  func `what is no range is none`(_ text: String) {
    #expect(AddressRange(text) == nil)
  }
}
