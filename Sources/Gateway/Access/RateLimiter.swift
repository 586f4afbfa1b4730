/// Token buckets, one a key: what a key may ask for in a second, and some seconds' worth at once.
///
/// A bucket is kept as the moment at which it will be full again (GCRA), so a full one is no entry
/// at all. The table is bounded: where it is full of keys that are all in use, further keys share
/// one bucket.
package struct RateLimiter<Key: Hashable & Sendable>: Sendable {
  /// What a request may do, and what its answer says of the bucket.
  package struct Verdict: Sendable, Hashable {
    package var isAdmitted: Bool
    /// Requests that are left now.
    package var remaining: Int
    /// Until the bucket is full again, or, if it was not admitted, until one request is.
    package var waitMicroseconds: Int64
  }

  package let burst: Int
  private let interval: Int64
  private let window: Int64
  private let entriesMax: Int
  private var fullAt: [Key: Int64] = [:]
  /// Of the keys for which there is no room.
  private var sharedFullAt: Int64 = .min
  /// The table is swept no more often than this many new keys.
  private var newUntilSweep: Int

  package static var burstSeconds: Int { 4 }
  /// A debt is paid back in so many times the burst's seconds.
  private static var debtWindowsMax: Int64 { 10 }

  /// - Parameter ratePerSecond: above 0, at most 1,000,000.
  package init(ratePerSecond: Int, entriesMax: Int = 65_536) {
    precondition((1...1_000_000).contains(ratePerSecond) && entriesMax > 0, "a bug of the caller")
    burst = ratePerSecond * Self.burstSeconds
    interval = 1_000_000 / Int64(ratePerSecond)
    window = interval * Int64(burst)
    self.entriesMax = entriesMax
    newUntilSweep = entriesMax
  }

  package var count: Int { fullAt.count }

  /// - Parameters:
  ///   - cost: requests it counts for; one that is dearer than a full bucket takes all of it.
  ///   - now: microseconds of a clock that never jumps.
  package mutating func request(from key: Key, cost: Int = 1, at now: Int64) -> Verdict {
    let before = max(fullAt(of: key), now)
    let after = before + interval * Int64(min(cost, burst))
    guard after - now <= window else {
      return Verdict(
        isAdmitted: false, remaining: Int(max(window - (before - now), 0) / interval),
        waitMicroseconds: after - now - window)
    }
    store(after, for: key, at: now)
    return Verdict(
      isAdmitted: true, remaining: Int((window - (after - now)) / interval),
      waitMicroseconds: after - now)
  }

  /// Takes so much out of the bucket, also what is not in it yet: for what turned out dearer.
  package mutating func charge(_ key: Key, cost: Int, at now: Int64) {
    let before = max(fullAt(of: key), now)
    store(
      min(before + interval * Int64(cost), now + window * Self.debtWindowsMax), for: key, at: now)
  }

  private func fullAt(of key: Key) -> Int64 {
    fullAt[key] ?? (fullAt.count < entriesMax ? .min : sharedFullAt)
  }

  private mutating func store(_ moment: Int64, for key: Key, at now: Int64) {
    if fullAt[key] == nil {
      newUntilSweep -= 1
      if newUntilSweep <= 0 {
        fullAt = fullAt.filter { $0.value > now }
        newUntilSweep = max(entriesMax - fullAt.count, entriesMax / 16, 1)
      }
      guard fullAt.count < entriesMax else {
        sharedFullAt = max(sharedFullAt, moment)
        return
      }
    }
    fullAt[key] = moment
  }

  /// `RateLimit-Policy` and `RateLimit` of draft-ietf-httpapi-ratelimit-headers-10.
  package func headers(of verdict: Verdict) -> [(name: String, value: String)] {
    let seconds = (verdict.waitMicroseconds + 999_999) / 1_000_000
    return [
      ("RateLimit-Policy", "\"requests\";q=\(burst);w=\(Self.burstSeconds)"),
      ("RateLimit", "\"requests\";r=\(verdict.remaining);t=\(seconds)"),
    ]
  }
}
