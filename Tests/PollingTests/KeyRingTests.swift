import Market
import TestSupport
import Testing

@testable import Polling

@Suite struct KeyRingTests {
  private func ring(_ labels: [String] = ["a", "b"], quota: Int? = 50) -> KeyRing {
    KeyRing(labels, of: .mairui, dailyQuota: quota, seed: 7)
  }

  private func rebuilt(_ usage: [KeyUsage], _ labels: [String] = ["a", "b"]) -> KeyRing {
    KeyRing(labels, of: .mairui, seed: 7, usage: usage)
  }

  private func labels(_ ring: inout KeyRing, _ count: Int, at now: Timestamp) -> [String] {
    (0..<count).compactMap { ring.take(at: now.adding(seconds: Int64($0)))?.label }
  }

  private let midnight = Timestamp(day: monday.advanced(by: 1), secondOfDay: 600)

  @Test func `the key with the most left goes, and of equals the one that rested longest`() {
    var ring = ring(["a", "b", "c"])
    #expect(labels(&ring, 7, at: moment(9, 0)) == ["a", "b", "c", "a", "b", "c", "a"])
    let usage = [KeyUsage(source: .mairui, label: "a", day: monday, requests: 2)]
    var other = rebuilt(usage)
    #expect(labels(&other, 6, at: moment(9, 0)) == ["b", "b", "a", "b", "a", "b"])
  }

  @Test func `a request is counted in the row that comes with its leave`() {
    var ring = ring(["a"])
    let first = ring.take(at: moment(9, 0))
    #expect(first?.usage == KeyUsage(source: .mairui, label: "a", day: monday, requests: 1))
    let second = ring.take(at: moment(9, 1))
    #expect(second?.usage.requests == 2)
  }

  @Test func `a key is parked with its last request until ten past midnight`() {
    var ring = ring(["a"], quota: 2)
    _ = ring.take(at: moment(9, 0))
    let last = ring.take(at: moment(9, 1))
    #expect(last?.usage.parkedReason == .quota)
    #expect(last?.usage.parkedUntil == midnight)
    #expect(ring.take(at: moment(23, 59)) == nil)
    #expect(ring.nextAvailable(at: moment(23, 59)) == midnight)
    #expect(ring.take(at: midnight)?.usage.requests == 1)
  }

  @Test func `the source's own quota parks a key, whatever the ledger says`() {
    var ring = ring()
    _ = ring.take(at: moment(9, 0))
    let actions = ring.answered("a", outcome: .quotaExhausted, at: moment(9, 0, 1))
    let row = KeyUsage(
      source: .mairui, label: "a", day: monday, requests: 1, parkedUntil: midnight,
      parkedReason: .quota)
    #expect(actions == [.persist(row)])
    #expect(labels(&ring, 3, at: moment(9, 1)) == ["b", "b", "b"])
  }

  @Test func `an invalid licence alarms once and is tried once an hour`() {
    var ring = ring()
    _ = ring.take(at: moment(9, 0))
    let first = ring.answered("a", outcome: .invalidLicence, at: moment(9, 0, 1))
    #expect(first.last == .alarm(label: "a", .invalidLicence))
    #expect(labels(&ring, 2, at: moment(9, 59)) == ["b", "b"])
    // The probe goes first, alone, and is parked again before it is sent.
    #expect(labels(&ring, 2, at: moment(10, 1)) == ["a", "b"])
    #expect(ring.answered("a", outcome: .invalidLicence, at: moment(10, 2)).count == 1)
    #expect(labels(&ring, 2, at: moment(11, 0)) == ["b", "b"])
  }

  @Test func `a licence that works again is back at once`() {
    var ring = ring()
    _ = ring.take(at: moment(9, 0))
    _ = ring.answered("a", outcome: .invalidLicence, at: moment(9, 0, 1))
    _ = ring.take(at: moment(10, 1))
    let actions = ring.answered("a", outcome: .ok, at: moment(10, 1, 1))
    let row = KeyUsage(source: .mairui, label: "a", day: monday, requests: 2)
    #expect(actions == [.persist(row)])
    #expect(labels(&ring, 4, at: moment(10, 2)) == ["b", "b", "a", "b"])
  }

  @Test func `a crash before the probe's answer costs an hour, not a second probe`() throws {
    var ring = ring(["a"])
    _ = ring.take(at: moment(9, 0))
    _ = ring.answered("a", outcome: .invalidLicence, at: moment(9, 0, 1))
    let grant = ring.take(at: moment(10, 1))
    let probe = try #require(grant)
    var again = rebuilt([probe.usage], ["a"])
    #expect(again.take(at: moment(11, 0, 59)) == nil)
    #expect(again.take(at: moment(11, 1))?.usage.requests == 3)
  }

  @Test func `a demo licence rests until the next day`() {
    var ring = ring(["a"])
    _ = ring.take(at: moment(9, 0))
    #expect(
      ring.answered("a", outcome: .demoLicence, at: moment(9, 1)).last
        == .alarm(label: "a", .demoLicence))
    #expect(ring.nextAvailable(at: moment(9, 2)) == midnight)
  }

  @Test func `a rate limit parks for a minute at least, and as long as the source asks`() {
    var ring = ring(["a"])
    _ = ring.take(at: moment(9, 0))
    _ = ring.answered("a", outcome: .throttled(retryAfterSeconds: 5), at: moment(9, 0))
    #expect(ring.take(at: moment(9, 0, 59)) == nil)
    #expect(ring.take(at: moment(9, 1)) != nil)
    _ = ring.answered("a", outcome: .throttled(retryAfterSeconds: 1_800), at: moment(9, 1))
    #expect(ring.take(at: moment(9, 30, 59)) == nil)
    #expect(ring.take(at: moment(9, 31)) != nil)
    let third = ring.answered("a", outcome: .throttled(retryAfterSeconds: nil), at: moment(9, 31))
    #expect(third.last == .alarm(label: "a", .rateLimit))
  }

  @Test func `a clock set back over midnight earns no second quota`() {
    var ring = ring(["a"], quota: 3)
    #expect(labels(&ring, 2, at: midnight).count == 2)
    #expect(labels(&ring, 5, at: moment(23, 0)).count == 1)
  }

  @Test func `a ring is rebuilt from its rows, the latest of each key`() {
    let rows = [
      KeyUsage(
        source: .mairui, label: "a", day: monday.advanced(by: -1), requests: 50,
        parkedUntil: moment(0, 10), parkedReason: .quota),
      KeyUsage(source: .mairui, label: "a", day: monday, requests: 5),
      KeyUsage(source: .mairui, label: "a", day: monday, requests: 4),
      KeyUsage(source: .alpacaIEX, label: "b", day: monday, requests: 9),
      KeyUsage(source: .mairui, label: "gone", day: monday, requests: 9),
    ]
    var ring = rebuilt(rows)
    #expect(labels(&ring, 7, at: moment(9, 0)) == ["b", "b", "b", "b", "b", "a", "b"])
  }

  @Test func `without a daily quota the load is even all the same`() {
    var ring = ring(quota: nil)
    #expect(labels(&ring, 400, at: moment(9, 0)).filter { $0 == "a" }.count == 200)
  }

  @Test func `an answer that says nothing of the key changes nothing`() {
    var ring = ring()
    _ = ring.take(at: moment(9, 0))
    #expect(ring.answered("a", outcome: .other, at: moment(9, 1)) == [])
    #expect(ring.answered("nobody", outcome: .invalidLicence, at: moment(9, 1)) == [])
  }
}
