import ExchangeSimulator
import Ledgers
import Market

/// What a day made of rows that contradicted each other, held against the false rows that were
/// served.
struct CorrectionVerifier {
  let falseRows: [FalseRow]
  /// Whose rows contradict each other for another reason, and whose false rows cannot be known.
  var others: Set<Symbol> = []

  private(set) var complaints: [String] = []

  init(_ falseRows: [FalseRow]) {
    self.falseRows = falseRows
    others = Set(falseRows.lazy.filter(\.fate.isHidden).map(\.symbol))
  }

  /// Each false row that was booked is corrected in time, once, and nothing else is.
  mutating func verify(_ events: [(at: Timestamp, event: FeedEvent)], counted: Int) {
    let disputes = events.compactMap { at, event in
      if case .dispute(let dispute) = event { (at: at, dispute: dispute) } else { nil }
    }
    var corrections: [Symbol: [Timestamp]] = [:]
    for (at, dispute) in disputes where dispute.kind == .corrected {
      corrections[dispute.symbol, default: []].append(at)
    }
    for (at, dispute) in disputes where !others.contains(dispute.symbol) {
      if dispute.kind != .corrected {
        complaints.append("\(dispute.symbol) \(at): \(dispute.kind.rawValue) without a cause")
      }
    }
    for row in falseRows where !others.contains(row.symbol) {
      guard case .corrected(let due) = row.fate else { continue }
      let found = corrections[row.symbol]?.firstIndex {
        row.servedAt <= $0 && $0.seconds <= due.seconds
      }
      guard let found else {
        complaints.append("not corrected by \(due): \(row)")
        continue
      }
      corrections[row.symbol]?.remove(at: found)
    }
    for (symbol, moments) in corrections where !others.contains(symbol) {
      complaints += moments.map { "\(symbol) \($0): corrected without a cause" }
    }
    let reported = disputes.count { $0.dispute.kind == .corrected }
    if reported != counted { complaints.append("\(reported) corrections, \(counted) counted") }
  }
}

extension DayRows {
  /// Gaps of one cause whose spans adjoin: they should be one row.
  var adjoiningGaps: [String] {
    var complaints: [String] = []
    for gaps in Dictionary(grouping: gaps, by: \.symbol).values {
      let sorted = gaps.sorted { ($0.from, $0.to) < ($1.from, $1.to) }
      for (gap, next) in zip(sorted, sorted.dropFirst())
      where gap.cause == next.cause && next.from <= gap.to {
        complaints.append("two gaps where one is: \(gap), \(next)")
      }
    }
    return complaints
  }

  func events(_ kind: DisputeEvent.Kind) -> [DisputeEvent] {
    events.compactMap { _, event in
      if case .dispute(let dispute) = event, dispute.kind == kind { dispute } else { nil }
    }
  }
}
