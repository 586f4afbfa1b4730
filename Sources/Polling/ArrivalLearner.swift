// Whether a sweep begins too early, learnt from which rows its answers held.
//
// An exchange stamps a row and a source shows it a little later. A sweep that begins while rows are
// still arriving sees some a slot late, and those that are replaced meanwhile never. Neither the
// moment of arrival nor a lost row can be seen; what can be seen is, at each answer, the rows that
// were stamped before the answer before it and were not in that one, and instruments with a new row
// in every slot that have none in this one. An answer of which two thirds say so came too early.
// Instruments that trade seldom say nothing, and of those of Shanghai, whose stamps are spread over
// the three seconds, a third is late at every phase.
//
// One late answer is no evidence, nor is a row that was never published: the count of late answers
// falls with every timely one. Only more than one in sixty, and ten of them beyond that, says that
// the sweep begins too early.
import Market

/// The stamps of one answer to a sweep.
package struct ArrivedRows: Sendable, Hashable {
  package var askedAt: Timestamp
  /// The rows' stamps by the symbol's place in the request; nil where no row came.
  package var stamps: [Timestamp?]

  package init(askedAt: Timestamp, stamps: [Timestamp?]) {
    self.askedAt = askedAt
    self.stamps = stamps
  }
}

struct ArrivalLearner: Sendable {
  struct Row {
    var stamp: Timestamp?
    /// How often a new row comes, 0…4096: an average over some sixteen answers.
    private var regularity = 0

    init(stamp: Timestamp?) { self.stamp = stamp }

    var isRegular: Bool { regularity >= ArrivalLearner.regularityMin }

    mutating func recordNew(_ isNew: Bool) {
      regularity += ((isNew ? ArrivalLearner.regularityMax : 0) - regularity) / 16
    }
  }

  struct Group {
    var symbols: [Symbol]
    var askedAt: Timestamp
    var rows: [Row]
    var lateness = 0
  }

  private var groups: [UInt16: Group] = [:]

  private static let regularityMax = 4_096
  /// A new row in nine slots of ten.
  private static let regularityMin = 3_686
  /// A late answer weighs as much as sixty timely ones. The recorded bond has no row for one slot
  /// in 160.
  private static let lateWeight = 60
  private static let latenessMax = 600
  /// Answers further apart say nothing of a slot.
  private static let secondsApartMax: Int64 = 10

  /// Takes in an answer.
  /// - Returns: whether sweeps have begun too early for a while.
  mutating func received(_ rows: ArrivedRows, for symbols: [Symbol], group: UInt16) -> Bool {
    guard rows.stamps.count == symbols.count else { return false }
    guard var known = groups[group], known.symbols == symbols,
      rows.askedAt > known.askedAt,
      rows.askedAt <= known.askedAt.adding(seconds: Self.secondsApartMax)
    else {
      groups[group] = Group(
        symbols: symbols, askedAt: rows.askedAt, rows: rows.stamps.map { Row(stamp: $0) })
      return false
    }
    let (timely, late) = known.take(rows)
    known.askedAt = rows.askedAt
    if late > 2 * timely {
      known.lateness += Self.lateWeight
    } else if timely > 0 {
      known.lateness = max(known.lateness - 1, 0)
    }
    let isTooEarly = known.lateness >= Self.latenessMax
    groups[group] = known
    if isTooEarly { forget() }
    return isTooEarly
  }

  /// What was counted was of another phase.
  mutating func forget() {
    for group in groups.keys { groups[group]?.lateness = 0 }
  }
}

extension ArrivalLearner.Group {
  /// The reference symbol, at place 0, is in every group: it is not counted.
  fileprivate mutating func take(_ response: ArrivedRows) -> (timely: Int, late: Int) {
    var (timely, late) = (0, 0)
    for place in rows.indices.dropFirst() {
      guard let stamp = response.stamps[place] else { continue }
      guard let before = rows[place].stamp else {
        rows[place].stamp = stamp
        continue
      }
      // An older stamp comes from a node that lags and says nothing of this one.
      guard stamp >= before else { continue }
      if stamp > before {
        if stamp > askedAt { timely += 1 } else { late += 1 }
        rows[place].stamp = stamp
      } else if rows[place].isRegular {
        late += 1
      }
      rows[place].recordNew(stamp > before)
    }
    return (timely, late)
  }
}
