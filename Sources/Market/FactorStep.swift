/// One step of adjustment, judged: what the file says of a day against the exchange's own previous
/// close of it (docs/sources/sina.md#factors). The exchange prevails, and what is not known is nil,
/// never 1.
package struct FactorStep: Sendable, Hashable {
  /// What a price before the day is divided by, dividends and splits together.
  package var total: ExactDecimal?
  /// Shares, or units, that one of before the day has become.
  package var split: ExactDecimal?
  package var basis: Basis
  package var verdict: Verdict
  package var exception: Exception?

  package enum Basis: String, Sendable {
    case file
    /// The close before the day over the day's previous close: exact to half a tick.
    case derived
  }

  /// Of the file's step; of a day that the file lacks, how exact the derived one is.
  package enum Verdict: String, Sendable {
    /// The previous close is what the file makes of the close, to the tick.
    case proven
    case withinTick = "within_a_tick"
    case contradicted
    case untestable
  }

  package enum Exception: String, Sendable {
    /// The day's previous close was not recorded.
    case unrecorded
    /// The close before it was not seen.
    case closeUnseen = "close_unseen"
    /// There is no close before it.
    case firstDay = "first_day"
    /// A fund that paid and whose previous close is the close.
    case unmoved
    /// A tick off: the cash differs by holder, or was rounded.
    case cashByHolder = "cash_by_holder"
  }

  /// What a file says of one day.
  package enum Filed: Sendable, Hashable {
    /// Of shares: the close before it over what that became.
    case shares(ExactDecimal)
    /// Of a fund: the cash a unit was paid, and what its splits were multiplied by; nil where that
    /// cannot be read.
    case fund(cash: ExactDecimal?, split: ExactDecimal?)
  }

  /// What was recorded of a day.
  package struct Evidence: Sendable, Hashable {
    /// The exchange's, of the day itself.
    package var previousClose: ExactDecimal?
    /// The last one before the day.
    package var close: ExactDecimal?
    /// Whether the close is of the trading day before.
    package var isCloseSeen: Bool

    package init(
      previousClose: ExactDecimal? = nil, close: ExactDecimal? = nil, isCloseSeen: Bool = false
    ) {
      self.previousClose = previousClose
      self.close = close
      self.isCloseSeen = isCloseSeen
    }
  }

  /// Places of a ratio.
  static let places: UInt8 = 12
  private static let one = ExactDecimal(1)
}

extension FactorStep {
  /// - Parameters:
  ///   - filed: nil where the file has nothing of the day.
  ///   - tick: the exchange rounds its previous close to.
  /// - Returns: nil where nothing happened, as far as is known.
  package static func judged(
    _ filed: Filed?, by evidence: Evidence, ofFund isFund: Bool, tick: ExactDecimal
  ) -> FactorStep? {
    guard let close = evidence.close, let previous = evidence.previousClose, close.isPositive,
      previous.isPositive, evidence.isCloseSeen
    else { return filed.map { untested($0, by: evidence) } }
    if filed == nil, close == previous { return nil }
    let candidates = filed?.readings(of: close, tick: tick) ?? []
    let nearest = candidates.min { $0.distance(to: previous) < $1.distance(to: previous) }
    if let nearest, nearest.expected == previous {
      return FactorStep(
        total: nearest.total, split: nearest.split, basis: .file, verdict: .proven)
    }
    if case .fund(let cash?, let split?)? = filed, split == one, cash.isPositive, close == previous,
      let nearest
    {
      return FactorStep(
        total: nearest.total, split: one, basis: .file, verdict: .untestable, exception: .unmoved)
    }
    var step = FactorStep(
      total: try? close.divided(by: previous, scale: places),
      split: isFund ? split(of: close, to: previous, tick: tick) : close == previous ? one : nil,
      basis: .derived, verdict: filed == nil ? .withinTick : .contradicted)
    if let nearest, nearest.distance(to: previous) <= tick {
      step.verdict = .withinTick
      step.split = nearest.split
      if !isFund { step.exception = .cashByHolder }
    }
    return step
  }

  private static func untested(_ filed: Filed, by evidence: Evidence) -> FactorStep {
    var step = FactorStep(basis: .file, verdict: .untestable)
    step.exception =
      evidence.previousClose == nil
      ? .unrecorded : evidence.close == nil ? .firstDay : .closeUnseen
    switch filed {
    case .shares(let total): step.total = total
    case .fund(let cash?, let split?) where split == one:
      step.split = one
      step.total =
        cash.isZero ? one : evidence.close.flatMap { total(of: $0, cash: cash, split: one) }
    case .fund: break  // Which way a split is written is not known.
    }
    return step
  }

  fileprivate static func total(
    of close: ExactDecimal, cash: ExactDecimal, split: ExactDecimal
  ) -> ExactDecimal? {
    guard !cash.isNegative, cash < close else { return nil }
    return try? (close * split).divided(by: close - cash, scale: places)
  }

  /// What a fund's split was, by prices alone. Cash takes at most a part of the price: so a price
  /// that rose was merged, and one that is an exact fraction was split. All others may be cash.
  private static func split(
    of close: ExactDecimal, to previous: ExactDecimal, tick: ExactDecimal
  ) -> ExactDecimal? {
    if close == previous { return one }
    if previous > close { return try? close.divided(by: previous, scale: places) }
    let exact = (2...splitMax).map { ExactDecimal($0) }.filter {
      close.divided(by: $0, toTick: tick) == previous
    }
    return exact.count == 1 ? exact[0] : nil
  }

  private static let splitMax: Int64 = 100
}

/// What a file's step means, and the previous close that it would make.
private struct Reading {
  var total: ExactDecimal
  var split: ExactDecimal?
  var expected: ExactDecimal

  func distance(to price: ExactDecimal) -> ExactDecimal {
    guard let distance = try? expected - price else { return ExactDecimal(.max) }
    return distance.isNegative
      ? ExactDecimal(units: -distance.units, scale: distance.scale)
      : distance
  }
}

extension FactorStep.Filed {
  fileprivate func readings(of close: ExactDecimal, tick: ExactDecimal) -> [Reading] {
    switch self {
    case .shares(let total):
      return [reading(of: close, total: total, split: nil, tick: tick)].compactMap(\.self)
    case .fund(let cash?, let split?):
      // 1 → 2 may be written as 2 or as 0.5.
      let inverse = try? ExactDecimal(1).divided(by: split, scale: FactorStep.places)
      return (split == ExactDecimal(1) ? [split] : [split, inverse ?? split]).compactMap { split in
        FactorStep.total(of: close, cash: cash, split: split).flatMap {
          reading(of: close, total: $0, split: split, tick: tick)
        }
      }
    case .fund: return []
    }
  }

  private func reading(
    of close: ExactDecimal, total: ExactDecimal, split: ExactDecimal?, tick: ExactDecimal
  ) -> Reading? {
    close.divided(by: total, toTick: tick).map {
      Reading(total: total, split: split, expected: $0)
    }
  }
}

extension ExactDecimal {
  fileprivate func divided(by divisor: ExactDecimal, toTick tick: ExactDecimal) -> ExactDecimal? {
    // A ratio has an error behind its last place, and half a tick is rounded up.
    try? divided(by: divisor, scale: 8).divided(by: tick, scale: 0) * tick
  }
}
