import ExchangeSimulator
import Market
import TestExchange

/// What goes wrong in a simulated month: which hours nobody answers, which nights the K-lines say
/// nothing or something wrong, and which day the daemon is not there.
struct MonthPlan {
  /// One day's trouble with the quotes, or the absence of the daemon.
  enum Trouble {
    case none, minute, twentyMinutes, ninetyMinutes, lunch
    /// Until after the day's end: the exchange's totals are never seen.
    case unseenClose
    /// Over the close and back before the day's end.
    case close
    case laggingNode, wholeDay, stopped
  }

  /// What the K-lines of a night are like.
  enum Night {
    case good
    /// `null`, which is as good as no answer.
    case silent
    /// 456, for an hour of the exchange's time.
    case throttled
    /// One bar in twenty has a thousand times its volume.
    case wrong
  }

  /// From an evening to the next morning, in which K-lines are not the truth.
  struct FaultSpan {
    var symbol: Symbol?
    var from: Timestamp
    var to: Timestamp
  }

  let days: [TradingDay]
  let symbols: [Symbol]
  private(set) var troubles: [Trouble]
  private(set) var faults = FaultPlan()
  private(set) var faultSpans: [FaultSpan] = []
  /// Whose K-lines are wrong, and whose are `null`, from some day on.
  let wronged: Symbol
  let silenced: Symbol

  /// Sessions whose minutes can still be had, the latest included (docs/sources/sina.md#k-lines).
  static let reach = 8
  /// Certificates are written then, and repairs looked for.
  static let evening = 15 * 3600 + 36 * 60
  static let morning = 8 * 3600

  private static let month: [(Trouble, Night)] = [
    (.none, .good), (.minute, .good), (.twentyMinutes, .silent), (.lunch, .good),
    (.ninetyMinutes, .throttled), (.unseenClose, .good), (.laggingNode, .good), (.wholeDay, .good),
    (.none, .good), (.twentyMinutes, .wrong), (.minute, .good), (.stopped, .good), (.none, .good),
    (.close, .good), (.ninetyMinutes, .good), (.twentyMinutes, .good), (.unseenClose, .good),
    (.lunch, .silent), (.wholeDay, .good), (.laggingNode, .good), (.lunch, .wrong),
    (.twentyMinutes, .silent),
  ]
  private static let week: [(Trouble, Night)] = [
    (.unseenClose, .good), (.stopped, .good), (.twentyMinutes, .good), (.lunch, .wrong),
    (.minute, .good),
  ]

  init(days: [TradingDay], symbols: [Symbol], seed: UInt64) {
    self.days = days
    self.symbols = symbols
    let pattern = days.count < 10 ? MonthPlan.week : MonthPlan.month
    let plan = days.indices.map { pattern[$0 % pattern.count] }
    troubles = plan.map(\.0)
    let stocks = symbols.filter { Instrument.classify($0)?.kind == .stock }
    (wronged, silenced) = (stocks[0], stocks[1])
    faults = FaultPlan(seed: seed)
    let shift = Int(seed % 60)
    for (place, (trouble, night)) in plan.enumerated() {
      for outage in MonthPlan.outages(trouble) { add(outage, shift, days[place]) }
      if trouble == .laggingNode { lag(on: days[place], shift) }
      addFault(night, place)
    }
    addFault(wronged, .volumeTimesThousand, from: days[days.count * 14 / 22])
    addFault(silenced, .response(.null), from: days[days.count * 3 / 22])
  }

  /// Seconds of the day.
  private static func outages(_ trouble: Trouble) -> [Range<Int>] {
    switch trouble {
    case .none, .laggingNode, .stopped: []
    case .minute: [36_030..<36_090]
    case .twentyMinutes: [37_200..<38_400, 52_000..<52_020]
    case .ninetyMinutes: [49_000..<53_900]
    case .lunch: [40_000..<47_400]
    case .close: [53_600..<54_900]
    case .unseenClose: [53_400..<86_400]
    case .wholeDay: [0..<86_400]
    }
  }

  private mutating func add(_ outage: Range<Int>, _ shift: Int, _ day: TradingDay) {
    let isWhole = outage.lowerBound == 0
    faults.add(
      .silence(
        from: Timestamp(day: day, secondOfDay: outage.lowerBound + (isWhole ? 0 : shift)),
        to: Timestamp(day: day, secondOfDay: 0).adding(seconds: Int64(outage.upperBound))))
  }

  private mutating func lag(on day: TradingDay, _ shift: Int) {
    for (from, seconds) in [(50_000, 12), (51_000, 40)] {
      let begin = Timestamp(day: day, secondOfDay: from + shift)
      faults.add(
        Fault(
          .staleNode(lagSeconds: 30), from: begin, to: begin.adding(seconds: Int64(seconds))))
    }
  }

  private mutating func addFault(_ night: Night, _ place: Int) {
    let from = Timestamp(day: days[place], secondOfDay: 54_000)
    let to = Timestamp(day: days[place].advanced(by: 1), secondOfDay: MonthPlan.morning)
    let fault: Fault
    switch night {
    case .good: return
    case .silent: fault = Fault(.response(.null), on: .sinaHistory, from: from, to: to)
    case .throttled: fault = Fault(.throttled, on: .sinaHistory, from: from, to: to)
    case .wrong:
      fault = Fault(
        .volumeTimesThousand, on: .sinaHistory, from: from, to: to, chancePerMille: 50)
    }
    faults.add(fault)
    faultSpans.append(FaultSpan(symbol: nil, from: from, to: to))
  }

  private mutating func addFault(_ symbol: Symbol, _ kind: Fault.Kind, from day: TradingDay) {
    let from = Timestamp(day: day, secondOfDay: 54_000)
    let to = end.adding(seconds: 86_400)
    faults.add(Fault(kind, on: .sinaHistory, from: from, to: to, symbols: [symbol]))
    faultSpans.append(FaultSpan(symbol: symbol, from: from, to: to))
  }

  /// The morning after the last day, when its second sightings are over.
  var end: Timestamp {
    Timestamp(day: days[days.count - 1].advanced(by: 1), secondOfDay: MonthPlan.morning)
  }

  /// When the daemon runs.
  var shifts: [(start: Timestamp, stop: Timestamp)] {
    var shifts: [(start: Timestamp, stop: Timestamp)] = []
    var start = Timestamp(day: days[0], secondOfDay: MonthPlan.morning)
    for (place, trouble) in troubles.enumerated() where trouble == .stopped {
      let next = place + 1 < days.count ? days[place + 1] : days[place].advanced(by: 1)
      shifts.append((start, Timestamp(day: days[place], secondOfDay: MonthPlan.morning)))
      start = Timestamp(day: next, secondOfDay: MonthPlan.morning)
    }
    shifts.append((start, end))
    return shifts
  }
}

// MARK: - What is to be expected

extension MonthPlan {
  /// Whether some evening told the truth of an instrument's day: after `moment`, when the hole was
  /// known, and while the source still told of that day.
  func isRepairable(_ symbol: Symbol, _ day: TradingDay, knownFrom moment: Timestamp) -> Bool {
    // The day before the first is known by its totals.
    let place = days.firstIndex(of: day) ?? -1
    return (max(place, 0)..<min(place + MonthPlan.reach, days.count)).contains { later in
      let evening = Timestamp(day: days[later], secondOfDay: MonthPlan.evening)
      return hasEvening(later) && evening >= moment && !hasFault(symbol, at: evening)
    }
  }

  /// Whether K-lines were not to be had, or wrong, at a moment of the night.
  func hasFault(_ symbol: Symbol, at moment: Timestamp) -> Bool {
    faultSpans.contains { trouble in
      trouble.symbol.map { $0 == symbol } ?? true && trouble.from <= moment && moment < trouble.to
    }
  }

  /// Whether there is a certificate on that day, after which repairs are looked for.
  private func hasEvening(_ place: Int) -> Bool {
    switch troubles[place] {
    case .stopped, .wholeDay, .unseenClose: false
    default: true
    }
  }

  /// Whether the exchange's own totals of that day were seen.
  func isCloseSeen(_ day: TradingDay) -> Bool {
    guard let place = days.firstIndex(of: day) else { return true }
    return isSeen(day) && troubles[place] != .unseenClose
  }

  /// Whether the source still tells of that day's minutes at the month's end.
  func isReached(_ day: TradingDay) -> Bool {
    days.count - (days.firstIndex(of: day) ?? -1) <= MonthPlan.reach
  }

  /// Whether any answer of that day was seen.
  func isSeen(_ day: TradingDay) -> Bool {
    days.firstIndex(of: day).map { troubles[$0] != .stopped && troubles[$0] != .wholeDay } ?? false
  }
}
