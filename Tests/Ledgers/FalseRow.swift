import ExchangeSimulator
import Market
import TestExchange

/// Rows that are wrong and look right: each stands in one answer, with a stamp that is new and
/// valid, and is followed by honest ones.
///
/// They strike a few instruments, never one that an earlier false row may still speak for, so that
/// for each of them it is decided what becomes of it.
package struct FalseRowPlan: Sendable {
  package var seed: UInt64
  /// Of 1,000 instruments so many have false rows.
  package var instrumentsPerMille: Int64 = 50
  /// An instrument-day has 1 to so many of them.
  package var rowsMax: Int64 = 20
  package var kinds = FalseRow.Kind.allCases

  package init(seed: UInt64) { self.seed = seed }
}

/// A false row as it was served.
package struct FalseRow: Sendable {
  package enum Kind: String, Sendable, CaseIterable {
    /// Volume and money times three, or nine.
    case totalsTripled, totalsNinefold
    /// Prices, volume and money times ten.
    case rowTenfold
    /// Another instrument's line under this one's symbol.
    case otherInstrument
    /// Volume and money times three, with the true row behind it in the same answer.
    case duplicate
    case pricesTenfold, pricesDoubled
    /// The day's high times five, or its low divided by five, and nothing else.
    case highFivefold, lowFifth
    /// A higher high that the day's limits allow, and nothing else.
    case highWithinLimits
  }

  package let symbol: Symbol
  package let kind: Kind
  /// The stamp it bears, and when it was asked for.
  package let stamp: Timestamp
  package let servedAt: Timestamp
  package let fate: Fate

  /// What the rules make of it.
  package enum Fate: Sendable, Hashable {
    /// It contradicts itself, the day's limits, the previous close or its neighbour: it is never
    /// booked.
    case refused
    /// It is booked, until the third honest answer that contradicts it, at this moment.
    case corrected(at: Timestamp)
    /// Honest totals were beyond its own before three answers contradicted it: nobody can know.
    case overtaken
    /// Nobody looked for a while before three answers contradicted it.
    case outage
    /// The day ended before three answers contradicted it.
    case undecided

    package var isHidden: Bool {
      switch self {
      case .refused, .corrected: false
      case .overtaken, .outage, .undecided: true
      }
    }
  }
}

/// What is written of a false row when it is served.
struct FalseRowNote {
  var place: Int32
  var kind: FalseRow.Kind
  /// Place in the order of all answers.
  var sequence: Int32 = 0
  /// When it was served.
  var second: Int32
  var stamp: Int32
  var volume: Int64
  var turnover: Int64
  var high: Int64
  var low: Int64
  /// Nothing but memory speaks against it.
  var isPlausible: Bool

  /// Whether an honest state shows that this row was false: no total and no high ever falls, no
  /// low ever rises.
  func isContradicted(by frame: DayTape.Frame) -> Bool {
    frame.volume < volume || frame.turnover < turnover || Int64(frame.high) < high
      || Int64(frame.low) > low
  }

  /// Whether an honest state can speak for or against it: a row of the same second may come from a
  /// node that lags, but not after the close, when stamps rest.
  func isDecided(by frame: DayTape.Frame) -> Bool {
    frame.stamp > stamp || frame.stamp == stamp && Int(stamp) >= Grid.shanghaiClose
  }
}
