import Market
import Testing

@testable import Polling

@Suite struct BackoffTests {
  @Test func `the bound doubles up to the cap`() {
    let backoff = Backoff(baseMilliseconds: 200, capMilliseconds: 5_000, seed: 1)
    let bounds = [1, 2, 3, 4, 5, 6, 7, 1_000].map { backoff.boundMilliseconds(failures: $0) }
    #expect(bounds == [200, 400, 800, 1_600, 3_200, 5_000, 5_000, 5_000])
  }

  @Test func `delays fill the whole range below the bound`() {
    let seed = UInt64.random(in: .min ... .max)
    var backoff = Backoff(baseMilliseconds: 100, capMilliseconds: 100, seed: seed)
    let delays = (0..<2_000).map { _ in backoff.delayMilliseconds(failures: 1) }
    #expect(delays.allSatisfy { (1...100).contains($0) }, "seed \(seed)")
    #expect(Set(delays).count > 90, "seed \(seed)")
  }

  @Test func `what the server asks for wins if it is longer`() {
    var backoff = Backoff(baseMilliseconds: 100, capMilliseconds: 100, seed: 1)
    #expect(backoff.delayMilliseconds(failures: 1, retryAfterSeconds: 7) == 7_000)
    #expect(backoff.delayMilliseconds(failures: 1, retryAfterSeconds: 0) <= 100)
    #expect(backoff.delayMilliseconds(failures: 1, retryAfterSeconds: .max) == 3_600_000)
  }

  /// 1994-11-06 08:49:37 UTC, RFC 9110's example.
  private let example = Timestamp(seconds: 784_111_777)

  @Test(arguments: [(-120, 120), (5, 0), (-86_400, 3_600)])
  func `a date is so many seconds from now, and capped`(_ ahead: Int64, _ expected: Int) {
    let text = "Sun, 06 Nov 1994 08:49:37 GMT"
    let now = example.adding(seconds: ahead)
    #expect(RetryAfter.seconds(text, date: example.seconds, now: now) == expected)
  }

  @Test(arguments: [("0", 0), ("120", 120), ("3601", 3_600), ("99999999999999999999", 3_600)])
  func `seconds are read and capped`(_ text: String, _ expected: Int) {
    #expect(RetryAfter.seconds(text, date: nil, now: example) == expected)
  }

  @Test(arguments: ["", " ", "-1", "+5", "1.5", "soon", "5 s", "٣"])
  func `anything else is no wish`(_ text: String) {
    #expect(RetryAfter.seconds(text, date: nil, now: example) == nil)
  }
}
