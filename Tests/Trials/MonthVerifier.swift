import ExchangeSimulator
import Ledgers
import Market
import TestExchange
import TestSupport

/// Holds a stored month against the plan of its troubles and the simulator's two ledgers.
struct MonthVerifier {
  private let plan: MonthPlan
  private let stored: StoredMonth
  /// Without those that a correction took back.
  private let holes: [StoredMonth.Hole]
  private let certificates: [StoredMonth.Certificate]
  /// Days of which the source has no bars: nothing traded, or nobody could.
  private var idle: Set<InstrumentDay> = []
  /// Days with a false row that no rule can find out.
  private var deceived: Set<InstrumentDay> = []
  private var figures = MonthTrial.Verdict()
  private var complaints: [String] = []

  private struct InstrumentDay: Hashable {
    var symbol: Symbol
    var day: TradingDay
  }

  init(plan: MonthPlan, stored: StoredMonth) throws {
    self.plan = plan
    self.stored = stored
    let all = try stored.holes()
    holes = all.filter { $0.closedBy != "superseded" }
    figures.superseded = all.count - holes.count
    certificates = try stored.certificates()
  }

  /// One day: what the book wrote is there or was revised on record, what was repaired is true,
  /// what was certified is what the exchange traded.
  mutating func compare(
    _ day: TradingDay, seen: ObservableLedger?, truth: TrueLedger
  ) throws {
    let candles = try stored.candles(on: day)
    let replaced = try stored.replaced(on: day)
    figures.candles += candles.count
    figures.revised += replaced.count
    if let seen { compare(candles, replaced, with: seen) }
    if let seen, plan.isSeen(day) { compareHoles(on: day, with: seen) }
    if let seen { try compareCorrections(on: day, with: seen.falseRows) }
    for symbol in plan.symbols where truth.totals(of: symbol)?.volume.isZero == true {
      idle.insert(InstrumentDay(symbol: symbol, day: day))
    }
    for symbol in seen?.hidden ?? [] { deceived.insert(InstrumentDay(symbol: symbol, day: day)) }
    prove(day, candles, truth)
    certify(day, truth)
  }

  /// No final candle may be lost, and none may change but on record.
  private mutating func compare(
    _ candles: [StoredMonth.Key: Candle], _ replaced: [StoredMonth.Key: Candle],
    with seen: ObservableLedger
  ) {
    var written: Set<StoredMonth.Key> = []
    for expected in seen.symbols.flatMap(seen.candles(of:)) {
      let key = StoredMonth.Key(symbol: expected.symbol, openedAt: expected.openedAt)
      written.insert(key)
      if seen.hidden.contains(key.symbol) { continue }
      let name = "\(expected.symbol) \(expected.openedAt)"
      guard let now = candles[key] else {
        complaints.append("\(name): a final candle is lost")
        continue
      }
      let before = replaced[key] ?? now
      if before != expected {
        complaints.append("\(name): \(before) was written first, not \(expected)")
      }
    }
    for key in replaced.keys
    where !written.contains(key) && !seen.hidden.contains(key.symbol) {
      complaints.append("\(key.symbol) \(key.openedAt): revised, but never written")
    }
    figures.filled += candles.keys.count { !written.contains($0) }
  }

  /// A hole is never deleted: all that the answers left open must be there, closed or not. That a
  /// close was not seen is known the next morning; where the bars asked for another day had
  /// certified this one by then, there is no hole to write down.
  private mutating func compareHoles(on day: TradingDay, with seen: ObservableLedger) {
    let known = seen.symbols.filter { !seen.hidden.contains($0) }
    var expected = Set(known.flatMap(seen.gaps(of:)))
    for hole in holes
    where hole.gap.tradingDay == day && !seen.hidden.contains(hole.gap.symbol) {
      if expected.remove(hole.gap) == nil { complaints.append("not expected: \(hole.gap)") }
    }
    let morning = Timestamp(day: day.advanced(by: 1), secondOfDay: MonthPlan.morning)
    let certified = Set(
      certificates.lazy.filter { $0.day == day && $0.repairedAt.map { $0 < morning } ?? false }
        .map(\.symbol))
    for gap in expected where gap.cause != .unseenClose || !certified.contains(gap.symbol) {
      complaints.append("not in the ledger: \(gap)")
    }
  }

  /// Days that were repaired from true K-lines and have no hole left are the truth.
  private mutating func prove(
    _ day: TradingDay, _ candles: [StoredMonth.Key: Candle], _ truth: TrueLedger
  ) {
    let open = Set(
      holes.lazy.filter { $0.gap.tradingDay == day && $0.closedBy == nil }.map(\.gap.symbol))
    let repaired = certificates.filter { certificate in
      certificate.day == day && !open.contains(certificate.symbol)
        && certificate.repairedAt.map { !plan.hasFault(certificate.symbol, at: $0) } ?? false
    }
    figures.proven += repaired.count
    let symbols = Set(repaired.map(\.symbol))
    complaints += truth.repairDifferences(candles: Array(candles.values), of: symbols)
    for hidden in deceived where hidden.day == day {
      figures.deceived += 1
      if symbols.contains(hidden.symbol) {
        figures.undeceived += 1
      } else if canBeUndeceived(hidden) {
        complaints.append("\(hidden.symbol) \(day): a false row stayed")
      }
    }
  }

  /// Without the exchange's totals of a day nothing says whether a false row or the bars are right.
  private func canBeUndeceived(_ hidden: InstrumentDay) -> Bool {
    plan.isCloseSeen(hidden.day)
      && plan.isRepairable(
        hidden.symbol, hidden.day, knownFrom: Timestamp(day: hidden.day, secondOfDay: 0))
  }

  private mutating func certify(_ day: TradingDay, _ truth: TrueLedger) {
    let unseen = Set(
      holes.lazy.filter { $0.gap.tradingDay == day && $0.gap.cause == .unseenClose }
        .map(\.gap.symbol))
    for certificate in certificates where certificate.day == day {
      figures.certificates += 1
      guard let totals = certificate.totals else { continue }
      if unseen.contains(certificate.symbol) { figures.totalsFromBars += 1 }
      let name = "\(certificate.symbol) \(day)"
      if !certificate.isBalanced { complaints.append("\(name): the certificate is not balanced") }
      guard let traded = truth.totals(of: certificate.symbol) else { continue }
      if totals != traded {
        complaints.append("\(name): certified \(totals), traded \(traded)")
      }
    }
  }
}

// MARK: - False rows

extension MonthVerifier {
  /// A minute is handed out this long after its end at the latest, while rows come in.
  private static let handOutSecondsMax: Int64 = 60

  /// Each false row that was booked is an event in time and, where its minute was final by then, a
  /// revision; nothing else is.
  private mutating func compareCorrections(
    on day: TradingDay, with falseRows: [FalseRow]
  ) throws {
    let events = try stored.disputes(on: day)
    let corrections = events.count { _, event in
      if case .dispute(let dispute) = event { dispute.kind == .corrected } else { false }
    }
    var verifier = CorrectionVerifier(falseRows)
    verifier.verify(events, counted: corrections)
    complaints += verifier.complaints
    let corrected = try stored.corrected(on: day)
    let struck = Set(falseRows.map(\.symbol))
    complaints += corrected.filter { !struck.contains($0.symbol) }.map {
      "\($0.symbol) \($0.openedAt): corrected without a false row"
    }
    for row in falseRows where !verifier.others.contains(row.symbol) {
      guard case .corrected(let due) = row.fate, let openedAt = row.stamp.minuteOpening,
        openedAt.adding(seconds: 60 + Self.handOutSecondsMax) < due,
        !corrected.contains(StoredMonth.Key(symbol: row.symbol, openedAt: openedAt))
      else { continue }
      complaints.append("no minute was revised for \(row)")
    }
    figures.falseRows += falseRows
    figures.corrections += corrections
    figures.corrected += corrected.count
  }
}

extension Timestamp {
  /// When the minute opened that trades of this second belong to; nil outside the session's inner
  /// minutes.
  fileprivate var minuteOpening: Timestamp? {
    let second = shanghaiSecondOfDay
    guard Session.morningOpen < second, second < Session.afternoonClose,
      !(Session.morningClose...Session.afternoonOpen).contains(second)
    else { return nil }
    return Timestamp(
      day: shanghaiDay, secondOfDay: Session.opening(ofMinute: Session.minute(of: second)))
  }
}

// MARK: - The month as a whole

extension MonthVerifier {
  /// - Parameter warnings: how many corrections the log told.
  mutating func verdict(warnings: Int) throws -> MonthTrial.Verdict {
    for hole in holes { verify(hole) }
    if warnings != figures.corrections {
      complaints.append("\(figures.corrections) corrections, \(warnings) warnings")
    }
    let (uncounted, kept) = try stored.revisions()
    if uncounted > 0 {
      complaints.append("\(uncounted) candles were changed without a record")
    }
    if kept < figures.revised { complaints.append("\(figures.revised) changes, \(kept) records") }
    figures.gaps = holes.count
    if figures.candles == 0 { complaints.append("no candles were written") }
    if figures.closed == 0 { complaints.append("no hole was healed") }
    if figures.proven == 0 { complaints.append("no day was repaired") }
    figures.complaints = complaints
    return figures
  }

  private mutating func verify(_ hole: StoredMonth.Hole) {
    let gap = hole.gap
    let day = InstrumentDay(symbol: gap.symbol, day: gap.tradingDay)
    // That nothing traded is only proven by the exchange's own end of the day.
    let isIdle = gap.cause == .unseenClose && idle.contains(day)
    let isRepairable =
      !isIdle && (!deceived.contains(day) || plan.isCloseSeen(gap.tradingDay))
      && plan.isRepairable(gap.symbol, gap.tradingDay, knownFrom: hole.knownFrom)
    if let closedBy = hole.closedBy {
      figures.closed += 1
      if closedBy != "kline" { complaints.append("closed by \(closedBy): \(gap)") }
    } else if isRepairable {
      complaints.append("could have been healed, seen \(hole.sightings) times: \(gap)")
    } else if let reason = hole.permanentReason {
      figures.permanent += 1
      let isLost = !plan.isReached(gap.tradingDay)
      if reason.isEmpty || hole.sightings < 2 && !isLost {
        complaints.append("permanent after \(hole.sightings) sightings: \(gap)")
      }
    } else if plan.isReached(gap.tradingDay), hole.sightings < 2 {
      figures.waiting += 1
    } else {
      complaints.append("open without a cause, seen \(hole.sightings) times: \(gap)")
    }
  }
}
