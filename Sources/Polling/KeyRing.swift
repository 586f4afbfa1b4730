// Which of a source's keys pays for the next request.
//
// The rule: a key that was refused comes first when its probe is due, at most once an hour, because
// otherwise nobody would notice that it works again; else, of the keys that are not parked, the one
// with the most requests left today, and of equals the one that has rested longest. So the load is
// even, and the last key falls idle only when all of them do.
//
// A request is counted before it is sent: `take` returns the row that must be durable first. A
// crash in between counts one too many, never one too few, and a crash loop runs into the quota of
// the ledger, not the source's patience. Keys are known by their labels; no secret is in here.
import Market

/// The keys of one source, their ledger of today and their health.
package struct KeyRing: Sendable {
  /// Leave to send one request.
  package struct Grant: Sendable, Hashable {
    package let label: String
    /// Must be durable before the request is sent.
    package let usage: KeyUsage
  }

  /// What an answer says of the key it was asked with.
  package enum Outcome: Sendable, Hashable {
    case ok
    case quotaExhausted
    case invalidLicence
    case demoLicence
    case throttled(retryAfterSeconds: Int?)
    /// It says nothing of the key: no answer, 5xx, not found.
    case other
  }

  package enum Action: Sendable, Hashable {
    case persist(KeyUsage)
    /// Somebody must look at this key; once, until it works again.
    case alarm(label: String, KeyParking)
  }

  struct Key: Sendable {
    let label: String
    /// The ledger's day; it never goes back, so that a clock set back earns no second quota.
    var day = TradingDay(daysSince1970: 0)
    var requests = 0
    var parking: Parking?
    var lastUsed = Timestamp(microseconds: .min)
    var throttles = 0
    /// A refused key has a request under way.
    var isProbing = false
  }

  struct Parking: Sendable {
    var until: Timestamp
    var reason: KeyParking
  }

  private let source: Source
  /// Requests a key and Shanghai day; nil where the source does not count days.
  private let dailyQuota: Int?
  var keys: [Key]
  var backoff: Backoff

  /// A quota may be counted by a clock that is not quite ours.
  static let dayGraceSeconds = 600
  /// How often a refused key is tried.
  static let probeSeconds: Int64 = 3_600
  /// A licence seen from too many addresses is cool again after 60 s
  /// (docs/sources/mairui.md#licence).
  static let rateLimitMilliseconds = 60_000...RetryAfter.secondsMax * 1_000
  /// The rate limits in a row that are a fault of the deployment: two hosts share a key.
  static let alarmThrottles = 3

  /// - Parameters:
  ///   - dailyQuota: the free plan of 2022 had 50, and no later number is sure
  ///     (docs/sources/mairui.md#quotas).
  ///   - usage: the rows persisted before, of one key and day in the order written.
  /// - Precondition: the labels are labels. One that is repeated is one key.
  package init(
    _ labels: [String], of source: Source, dailyQuota: Int? = 50, seed: UInt64,
    usage: [KeyUsage] = []
  ) {
    precondition(labels.allSatisfy(KeyUsage.isLabel))
    self.source = source
    self.dailyQuota = dailyQuota
    var seen = Set<String>()
    keys = labels.filter { seen.insert($0).inserted }.map { Key(label: $0) }
    backoff = Backoff(
      baseMilliseconds: Self.rateLimitMilliseconds.lowerBound,
      capMilliseconds: Self.rateLimitMilliseconds.upperBound, seed: seed)
    for row in usage where row.source == source { restore(row) }
  }

  private mutating func restore(_ usage: KeyUsage) {
    guard let index = index(of: usage.label), usage.day >= keys[index].day else { return }
    let isSameDay = usage.day == keys[index].day
    keys[index].requests = max(usage.requests, isSameDay ? keys[index].requests : 0)
    keys[index].day = usage.day
    keys[index].parking = usage.parkedUntil.flatMap { until in
      usage.parkedReason.map { Parking(until: until, reason: $0) }
    }
  }

  /// Chooses a key and counts the request; nil while every key is parked.
  package mutating func take(at now: Timestamp) -> Grant? {
    guard let index = choice(at: now) else { return nil }
    var key = keys[index]
    key.advance(to: now.shanghaiDay)
    key.requests += 1
    key.lastUsed = now
    key.isProbing = key.parking?.reason.isRefusal ?? false
    if let parking = key.parking {
      // Parked again before it is asked, so that a crash loop probes no oftener.
      let until = now.adding(seconds: Self.probeSeconds)
      key.parking = key.isProbing ? Parking(until: until, reason: parking.reason) : nil
    }
    if isSpent(key) { key.park(until: dayAfter(key.day), reason: .quota, at: now) }
    keys[index] = key
    return Grant(label: key.label, usage: usage(key))
  }

  /// When `take` will next succeed: `now` or later. nil without any key.
  package func nextAvailable(at now: Timestamp) -> Timestamp? {
    keys.map { freeAt($0, at: now) }.min()
  }

  func index(of label: String) -> Int? { keys.firstIndex { $0.label == label } }

  func usage(_ key: Key) -> KeyUsage {
    KeyUsage(
      source: source, label: key.label, day: key.day, requests: key.requests,
      parkedUntil: key.parking?.until, parkedReason: key.parking?.reason)
  }

  func dayAfter(_ day: TradingDay) -> Timestamp {
    Timestamp(day: day.advanced(by: 1), secondOfDay: KeyRing.dayGraceSeconds)
  }

  func isSpent(_ key: Key) -> Bool { dailyQuota.map { key.requests >= $0 } ?? false }

  private func choice(at now: Timestamp) -> Int? {
    let free = keys.indices.filter { freeAt(keys[$0], at: now) <= now }
    let refused = free.filter { keys[$0].parking?.reason.isRefusal ?? false }
    if let due = refused.min(by: { keys[$0].lastUsed < keys[$1].lastUsed }) { return due }
    let today = now.shanghaiDay
    return free.min { left, right in
      let (left, right) = (keys[left], keys[right])
      return (left.requests(on: today), left.lastUsed) < (right.requests(on: today), right.lastUsed)
    }
  }

  private func freeAt(_ key: Key, at now: Timestamp) -> Timestamp {
    let unparked = max(key.parking?.until ?? now, now)
    guard key.day >= now.shanghaiDay, isSpent(key) else { return unparked }
    return max(unparked, dayAfter(key.day))
  }
}

extension KeyRing.Key {
  fileprivate func requests(on today: TradingDay) -> Int { day < today ? 0 : requests }

  mutating func advance(to today: TradingDay) {
    guard day < today else { return }
    day = today
    requests = 0
  }

  /// The longer of two parkings stands, and the graver reason.
  mutating func park(until: Timestamp, reason: KeyParking, at now: Timestamp) {
    guard let parking, parking.until > now else {
      parking = KeyRing.Parking(until: until, reason: reason)
      return
    }
    self.parking = KeyRing.Parking(
      until: max(parking.until, until),
      reason: parking.reason.gravity > reason.gravity ? parking.reason : reason)
  }
}

extension KeyParking {
  /// The key itself is at fault, and works again only once somebody has mended it.
  var isRefusal: Bool { self == .invalidLicence || self == .demoLicence }

  fileprivate var gravity: Int {
    switch self {
    case .rateLimit: 0
    case .quota: 1
    case .demoLicence: 2
    case .invalidLicence: 3
    }
  }
}
