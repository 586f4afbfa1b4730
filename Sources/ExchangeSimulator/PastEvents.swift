import Market

/// What happened to one instrument on the days before the first simulated one, the dividends of the
/// season apart: when it was listed and when it left, a suspension, a split.
///
/// Days are counted backwards from the first simulated day, 1 being the last before it, so that a
/// longer past repeats the shorter one. A pure function of (seed, place, traits).
struct PastEvents: Sendable {
  /// nil: before all of them.
  private(set) var firstDay: Int?
  /// nil: it is listed still.
  private(set) var lastDay: Int?
  /// Days without trading.
  private var suspended: ClosedRange<Int>?
  /// Day and shares for ten.
  private var split: (day: Int, sharesPerTen: Int64)?
  /// Day and thousandths of the close.
  private var dividend: (day: Int, perMille: Int64)?

  /// About a year: events further back would be seen by nobody.
  private static let daysMax: Int64 = 250
  private static let listedPerMille: Int64 = 40
  private static let suspendedPerMille: Int64 = 80
  private static let splitPerMille: Int64 = 50
  /// Trading days after a listing that are without a price limit, and one more: a share that was
  /// listed before them trades as any other on the first simulated day.
  private static let listedDaysMin: Int64 = 6
  private static let sharesPerTen: [Int64] = [13, 15, 18, 20]

  /// The first four shares have one event each, so that a small market and a short past show all.
  private static let firstShare = 4

  init(seed: UInt64, place: Int, traits: Traits) {
    if traits.isIndex { return }
    var random = Randomness(seed: Randomness.mixed(seed), stream: UInt64(place) &+ 0xE7E7)
    let isListedInside = random.chance(perMille: Self.listedPerMille)
    let listedDay = Self.listedDaysMin + 1 + random.below(Self.daysMax)
    let isSuspended = random.chance(perMille: Self.suspendedPerMille)
    let suspendedTo = 2 + random.below(Self.daysMax)
    let suspendedDays = 2 + random.below(8)
    let isSplit = random.chance(perMille: Self.splitPerMille)
    let splitDay = 1 + random.below(Self.daysMax)
    let sharesPerTen = Self.sharesPerTen[Int(random.below(Int64(Self.sharesPerTen.count)))]
    if traits.kind == .stock, isListedInside { firstDay = Int(listedDay) }
    if isSuspended { suspended = Int(suspendedTo)...Int(suspendedTo + suspendedDays - 1) }
    if isSplit { split = (Int(splitDay), sharesPerTen) }
    switch traits.behaviour {
    case .haltedAllDay, .haltedUnmarked: suspended = 1...Int(suspendedDays)
    case .delisted:
      lastDay = 2 + Int(suspendedDays) / 3
      suspended = nil
    default: break
    }
    switch place - Self.firstShare {
    case 0: dividend = (2, 20)
    case 1: split = (4, 20)
    case 2: suspended = 2...3
    case 3: firstDay = Int(Self.listedDaysMin) + 2
    default: break
    }
  }

  /// It is listed; trading may be suspended.
  func isListed(on day: Int) -> Bool { day >= lastDay ?? 1 && day <= firstDay ?? .max }

  /// Nobody is suspended on the day of the listing, or on the last.
  func trades(on day: Int) -> Bool {
    guard isListed(on: day) else { return false }
    return day == firstDay || day == lastDay || suspended?.contains(day) != true
  }

  /// What the day is ex, if it is and if the reference price is known; the day before is listed.
  func exDay(_ day: Int, on date: TradingDay, traits: Traits, reference: Int64) -> ExDay? {
    if let split, split.day == day {
      return ExDay(splitInto: split.sharesPerTen, traits: traits, on: date, reference: reference)
    }
    guard let dividend, dividend.day == day else { return nil }
    return ExDay(paying: dividend.perMille, traits: traits, on: date, reference: reference)
  }
}
