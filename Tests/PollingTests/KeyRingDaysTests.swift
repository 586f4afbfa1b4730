import Feeds
import Market
import TestSupport
import TestTraits
import Testing

@testable import Polling

@Suite(.ownThread) struct KeyRingDaysTests {
  private static let seeds = (0..<2).map { _ in UInt64.random(in: .min ... .max) }

  @Test(arguments: seeds)
  func `in 10,000 days of faults and crashes no parked key is asked and every list comes`(
    _ seed: UInt64
  ) {
    var life = KeyRingLife(seed: seed)
    for _ in 0..<10_000 { life.liveADay() }
    #expect(life.violations == [], "seed \(seed)")
    #expect(life.requests > 100_000, "seed \(seed)")
    #expect(life.crashes > 1_000, "seed \(seed)")
    #expect(life.listsAccepted > 500, "seed \(seed)")
    // The promise is tested where it can be broken: after outages, with keys in trouble.
    #expect(life.daysDueWorking > 500, "seed \(seed)")
    #expect(life.daysDueBroken > 100, "seed \(seed)")
    #expect(life.refusals == KeySource.Response.refusals, "seed \(seed)")
  }
}

/// A daemon with three keys of fifty requests: what it knows, what it persisted, and the source.
private struct KeyRingLife {
  static let labels = ["key-1", "key-2", "key-3"]
  static let quota = 50

  private var generator: SplitMix
  private var source: KeySource
  private var ring: KeyRing
  private var plan: ListPlan
  private var wakeAt: Timestamp
  private(set) var day = monday

  /// What survives a crash.
  private var rows: [KeyUsage] = []
  private var acceptedAt: Timestamp?
  private var askedAt: Timestamp?

  private(set) var violations: [String] = []
  private(set) var requests = 0
  private(set) var crashes = 0
  private(set) var listsAccepted = 0
  private(set) var daysDueWorking = 0
  private(set) var daysDueBroken = 0
  private(set) var refusals: Set<KeySource.Response> = []
  private var acceptedBefore: Timestamp?
  private var tradingDaysOld = 0
  private var workingDaysDue = 0

  init(seed: UInt64) {
    generator = SplitMix(seed: seed)
    source = KeySource(seed: ~seed)
    ring = KeyRingLife.ring([])
    plan = KeyRingLife.plan(nil, nil)
    wakeAt = Timestamp(day: monday, secondOfDay: 0)
  }

  private static func ring(_ rows: [KeyUsage]) -> KeyRing {
    KeyRing(labels, of: .mairui, seed: 7, usage: rows)
  }

  private static func plan(_ acceptedAt: Timestamp?, _ askedAt: Timestamp?) -> ListPlan {
    ListPlan(
      seed: 7, acceptedAt: acceptedAt, askedAt: askedAt,
      isTradingDay: isTradingDay)
  }

  /// Weekdays but for a week in October and every twentieth day or so.
  @Sendable private static func isTradingDay(_ day: TradingDay) -> Bool? {
    let (_, month, date) = day.civil
    guard !day.isWeekend, month != 10 || date > 7 else { return false }
    var hash = SplitMix(seed: UInt64(bitPattern: Int64(day.daysSince1970)))
    return Int.random(in: 0..<20, using: &hash) > 0
  }

  // MARK: One day

  mutating func liveADay() {
    source.begin(day)
    let end = Timestamp(day: day.advanced(by: 1), secondOfDay: 0)
    for moment in otherJobs() + [end] {
      while wakeAt < min(moment, end) { wake(at: wakeAt) }
      if moment < end { _ = ask(at: moment) }
    }
    verifyDay()
    day = day.advanced(by: 1)
  }

  /// What else spends the keys: on some days far more than there is.
  private mutating func otherJobs() -> [Timestamp] {
    let isBusy = Int.random(in: 0..<12, using: &generator) == 0
    let count = Int.random(in: 0...(isBusy ? 250 : 8), using: &generator)
    let midnight = Timestamp(day: day, secondOfDay: 0)
    return (0..<count).map { _ in
      midnight.adding(milliseconds: Int64.random(in: 0..<86_400_000, using: &generator))
    }.sorted()
  }

  private mutating func wake(at now: Timestamp) {
    if happens(in: 200) { return crash(now) }
    follow(plan.received(happens(in: 500) ? .wanted : .woke, at: now), now)
  }

  private mutating func follow(_ actions: [ListPlan.Action], _ now: Timestamp) {
    var isAsked = false
    for action in actions {
      switch action {
      case .ask: isAsked = true
      case .wake(let at): wakeAt = at
      case .overdue: break
      }
    }
    if isAsked { askForList(now) }
  }

  /// A key at fault is no fault of the list: the next key is asked at once.
  private mutating func askForList(_ now: Timestamp) {
    for _ in 0..<6 {
      switch ask(at: now, isList: true) {
      case .ok:
        acceptedAt = now
        listsAccepted += 1
        return follow(plan.received(.accepted, at: now), now)
      case .quota, .invalid, .demo, .throttled: continue
      case .down, .crashed, nil: return
      }
    }
  }

  /// Takes a key, persists, sends, answers; a crash may come between any two.
  private mutating func ask(at now: Timestamp, isList: Bool = false) -> KeySource.Response? {
    guard let grant = ring.take(at: now) else { return nil }
    if happens(in: 100) { return crashed(now) }
    check(grant, now)
    persist(grant.usage)
    if isList { askedAt = now }
    if happens(in: 100) { return crashed(now) }
    requests += 1
    let response = source.response(grant.label, at: now)
    if source.requests(grant.label) > Self.quota { violations.append("\(day) over quota") }
    if response != .ok { refusals.insert(response) }
    if happens(in: 100) { return crashed(now) }
    for action in ring.answered(grant.label, outcome: response.outcome, at: now) {
      if case .persist(let usage) = action { persist(usage) }
    }
    if happens(in: 300) { return crashed(now) }
    return response
  }

  /// Judged by what was persisted before, not by what the ring believes.
  private mutating func check(_ grant: KeyRing.Grant, _ now: Timestamp) {
    let row = rows.last { $0.label == grant.label }
    if let until = row?.parkedUntil, until > now {
      violations.append("\(now) \(grant.label) is parked until \(until)")
    }
    if grant.usage.requests > Self.quota { violations.append("\(now) ledger over quota") }
  }

  /// As the table does: one row a key and day.
  private mutating func persist(_ usage: KeyUsage) {
    rows.removeAll { $0.label == usage.label && ($0.day == usage.day || $0.day < day) }
    // What is stored is what comes back from the journal's text.
    if let row = KeyUsage(text: usage.text) { rows.append(row) }
  }

  private mutating func crashed(_ now: Timestamp) -> KeySource.Response {
    crash(now)
    return .crashed
  }

  private mutating func crash(_ now: Timestamp) {
    crashes += 1
    ring = Self.ring(rows)
    plan = Self.plan(acceptedAt, askedAt)
    wakeAt = now.adding(seconds: Int64.random(in: 1...600, using: &generator))
  }

  private mutating func happens(in count: Int) -> Bool {
    Int.random(in: 0..<count, using: &generator) == 0
  }

  // MARK: The promise

  private mutating func verifyDay() {
    let isRefreshed = acceptedAt?.shanghaiDay == day
    let wasDue = acceptedBefore.map { $0.shanghaiDay.distance(to: day) >= 10 } ?? false
    acceptedBefore = acceptedAt
    if isRefreshed { (tradingDaysOld, workingDaysDue) = (0, 0) }
    guard Self.isTradingDay(day) == true else { return }
    tradingDaysOld = isRefreshed ? 0 : tradingDaysOld + 1
    guard wasDue else { return }
    let works = Self.labels.contains { source.worked($0) }
    daysDueWorking += works ? 1 : 0
    daysDueBroken += works ? 0 : 1
    workingDaysDue = isRefreshed ? 0 : workingDaysDue + (works ? 1 : 0)
    if works, !isRefreshed { violations.append("\(day): due, a key worked, and no list") }
    if tradingDaysOld > 10, workingDaysDue > 0 {
      violations.append("\(day): a list \(tradingDaysOld) trading days old")
    }
  }
}

/// The source's side: licences that lapse, quotas that end early, rate limits, outages.
private struct KeySource {
  enum Response: Hashable {
    case ok, quota, invalid, demo, throttled, down
    /// Of the daemon, not of the source.
    case crashed

    static let refusals: Set<Response> = [.quota, .invalid, .demo, .throttled, .down]

    var outcome: KeyRing.Outcome {
      switch self {
      case .ok: .ok
      case .quota: .quotaExhausted
      case .invalid: .invalidLicence
      case .demo: .demoLicence
      case .throttled: .throttled(retryAfterSeconds: nil)
      case .down, .crashed: .other
      }
    }
  }

  private struct Key {
    var requests = 0
    var quota = 50
    /// Days left without a licence, or with one for samples only.
    var invalidDays = 0
    var demoDays = 0
    var wasThrottledLate = false
  }

  private var generator: SplitMix
  private var keys: [String: Key] = [:]
  private var downDays = 0
  private var down: Range<Int>?
  private var wasDownLate = false

  init(seed: UInt64) { generator = SplitMix(seed: seed) }

  func requests(_ label: String) -> Int { keys[label]?.requests ?? 0 }

  /// Would it have answered from three o'clock on, had it been asked?
  func worked(_ label: String) -> Bool {
    let key = keys[label] ?? Key()
    return downDays == 0 && !wasDownLate && down.map { $0.upperBound < 15 * 3_600 } ?? true
      && key.invalidDays == 0 && key.demoDays == 0 && key.requests < key.quota - 12
      && !key.wasThrottledLate
  }

  mutating func begin(_ day: TradingDay) {
    downDays = max(downDays - 1, 0)
    if chance(40) { downDays = Int.random(in: 1...12, using: &generator) }
    wasDownLate = false
    let start = Int.random(in: 0..<86_400, using: &generator)
    down = chance(6) ? start..<(start + Int.random(in: 1...20_000, using: &generator)) : nil
    for label in KeyRingLife.labels {
      var key = keys[label] ?? Key()
      key.requests = 0
      key.wasThrottledLate = false
      key.quota = chance(10) ? Int.random(in: 0...50, using: &generator) : 50
      key.invalidDays = max(key.invalidDays - 1, 0)
      key.demoDays = max(key.demoDays - 1, 0)
      if chance(100) { key.invalidDays = Int.random(in: 1...60, using: &generator) }
      if chance(400) { key.demoDays = Int.random(in: 1...5, using: &generator) }
      keys[label] = key
    }
  }

  mutating func response(_ label: String, at now: Timestamp) -> Response {
    let second = now.shanghaiSecondOfDay
    keys[label, default: Key()].requests += 1
    let key = keys[label] ?? Key()
    if downDays > 0 || down?.contains(second) == true { return .down }
    if chance(30) {
      wasDownLate = wasDownLate || second >= 15 * 3_600
      return .down
    }
    if key.invalidDays > 0 { return .invalid }
    if key.demoDays > 0 { return .demo }
    if key.requests > key.quota { return .quota }
    if chance(60) {
      keys[label]?.wasThrottledLate = key.wasThrottledLate || second >= 15 * 3_600
      return .throttled
    }
    return .ok
  }

  private mutating func chance(_ count: Int) -> Bool {
    Int.random(in: 0..<count, using: &generator) == 0
  }
}
