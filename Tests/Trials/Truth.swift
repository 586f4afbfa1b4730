import ExchangeSimulator
import Ingest
import Ledgers
import Market
import TestExchange

/// Days judged by the simulator's ledgers: what a perfect daemon must have written, and what really
/// traded.
package struct TruthTrial {
  package var plan: MemoryDay.Plan
  /// Every publication is seen.
  package var isUnbroken: Bool
  private var odd = Oddities()

  package struct Verdict: Sendable {
    package var candles = 0
    package var gaps = 0
    package var certificates = 0
    /// Volume that stands in another minute than it traded in, of how much; days seen whole.
    package var displacement: (moved: Int64, total: Int64) = (0, 0)
    package var falseRows: [FalseRow] = []
    /// Events, and revisions they brought.
    package var corrections = 0
    package var revisions = 0
    /// Readable, empty if all is well.
    package var complaints: [String] = []
  }

  /// Nothing goes wrong. Stamps lie off the minute's grid.
  package static func quiet(seed: UInt64, instruments: Int) -> TruthTrial {
    var plan = MemoryDay.Plan(seed: seed)
    plan.instruments = instruments
    return TruthTrial(plan: plan, isUnbroken: true)
  }

  /// What makes a day hard without breaking it.
  package enum FaultScenario: CaseIterable, Sendable {
    case falseRows, laggingNodes, oddInstruments
  }

  /// A small market, with false rows on half of it.
  package static func short(_ faultScenario: FaultScenario, seed: UInt64) -> TruthTrial {
    switch faultScenario {
    case .falseRows:
      var trial = deceived(seed: seed, instruments: 90)
      trial.plan.falseRows?.instrumentsPerMille = 500
      return trial
    case .laggingNodes: return alternating(seed: seed, instruments: 90)
    case .oddInstruments: return odd(seed: seed, instruments: 90)
    }
  }

  /// As quiet, but for false rows on some instruments.
  package static func deceived(seed: UInt64, instruments: Int) -> TruthTrial {
    var trial = quiet(seed: seed, instruments: instruments)
    trial.plan.falseRows = FalseRowPlan(seed: seed)
    return trial
  }

  /// As quiet, but answered by nodes that lag by turns, as a content network's do.
  package static func alternating(seed: UInt64, instruments: Int) -> TruthTrial {
    var trial = quiet(seed: seed, instruments: instruments)
    trial.plan.nodeLagsSeconds = [0, 6, 0, 15, 3]
    return trial
  }

  /// Trades taken back in session and after the close, an instrument that publishes 200 s late, and
  /// one that trades without limits although nothing says so.
  package static func odd(seed: UInt64, instruments: Int) -> TruthTrial {
    var trial = quiet(seed: seed, instruments: instruments)
    let market = SimulatedMarket(
      seed: seed, day: trial.plan.day, instruments: instruments)
    let symbols = { (behaviour: Behaviour) in
      market.listings.filter { $0.behaviour == behaviour && $0.board == .main }.map(\.symbol)
    }
    let (liquid, active) = (symbols(.liquid), symbols(.active))
    trial.odd.busted = [liquid[0], active[0], liquid[1]]
    trial.odd.nibbled = [active[1]]
    trial.odd.relisted = [active[2]]
    let (odd, late) = (trial.odd, active[3])
    trial.plan.prepare = { market in
      market.takeBack(perMille: 400, of: odd.busted[0], at: 38_000)
      market.takeBack(shares: 100, of: odd.busted[1], at: 54_030)
      market.takeBack(perMille: 300, of: odd.busted[2], at: 54_030)
      market.takeBack(shares: 100, of: odd.nibbled[0], at: 47_500)
      market.relist(odd.relisted[0], aroundPercent: 160)
      market.delay(late, bySeconds: 200)
    }
    return trial
  }

  /// Outages over the open, of 1, 20 and 90 minutes, the last over lunch, one over the close, and a
  /// node that lags for a while.
  package static func broken(seed: UInt64, instruments: Int) -> TruthTrial {
    var plan = MemoryDay.Plan(seed: seed)
    plan.instruments = instruments
    let shift = Int(seed % 60)
    plan.outages = [
      34_150 + shift..<34_450 + shift, 36_030 + shift..<36_090 + shift,
      37_200 + shift..<38_400 + shift,
      40_000 + shift..<45_400 + shift, 47_000 + shift..<47_190 + shift,
      53_400 + shift..<54_600 + shift,
    ]
    plan.staleSpells = [50_000 + shift..<50_009 + shift, 51_000 + shift..<51_040 + shift]
    return TruthTrial(plan: plan, isUnbroken: false)
  }

  /// The daemon is started in the middle of the day.
  package static func late(seed: UInt64, instruments: Int) -> TruthTrial {
    var plan = MemoryDay.Plan(seed: seed)
    plan.instruments = instruments
    plan.start = 34_200 + Int(seed * 977 % 18_000)
    return TruthTrial(plan: plan, isUnbroken: false)
  }

  package func run() throws -> Verdict {
    var day = MemoryDay(plan)
    day.run()
    let candles = Array(day.rows.candles.values)
    let certificates = Array(day.rows.certificates.values)
    var verdict = Verdict(
      candles: candles.count, gaps: day.rows.gaps.count, certificates: certificates.count)
    let (ledger, truth) = (day.recorder.observableLedger(), day.recorder.trueLedger())
    verdict.falseRows = ledger.falseRows
    verdict.corrections = day.rows.events(.corrected).count
    verdict.revisions = day.rows.revisions.count { $0.cause == .correction }
    verdict.complaints = ledger.differences(
      candles: candles, gaps: day.rows.gaps, certificates: certificates)
    verdict.complaints += truth.differences(certificates: certificates)
    if isUnbroken { verdict.displacement = truth.displacement(candles: candles) }
    verdict.complaints += try day.rows.misstatements()
    verdict.complaints += day.rows.adjoiningGaps
    if certificates.isEmpty { verdict.complaints.append("no certificate was written") }
    verdict.complaints += odd.complaints(about: day)
    var verifier = CorrectionVerifier(ledger.falseRows)
    verifier.others.formUnion(odd.symbols)
    verifier.verify(
      day.rows.events, counted: day.pipeline.counters.disputes[.corrected, default: 0])
    verdict.complaints += verifier.complaints
    return verdict
  }
}

/// Instruments of a truth trial that do what no other does.
struct Oddities: Sendable {
  /// Busts that no later trade can hide, and those that one may.
  var busted: [Symbol] = []
  var nibbled: [Symbol] = []
  var relisted: [Symbol] = []

  var symbols: [Symbol] { busted + nibbled + relisted }

  /// A bust and a day without limits are each told.
  func complaints(about day: MemoryDay) -> [String] {
    let corrected = Set(day.rows.events(.corrected).map(\.symbol))
    let unknown = Set(day.rows.events(.bandUnknown).map(\.symbol))
    return busted.filter { !corrected.contains($0) }.map { "\($0): no bust was told" }
      + relisted.filter { !unknown.contains($0) }.map { "\($0): no word of its missing limits" }
      + unknown.filter { !relisted.contains($0) }.map { "\($0): its limits are known" }
  }
}

extension TruthTrial.Verdict {
  /// What cannot be known or does not count as wrong, for people to see.
  package var remarks: String {
    var remarks = ""
    if displacement.total > 0 {
      let perTenThousand = displacement.moved * 10_000 / displacement.total
      remarks += "; \(ExactDecimal(units: perTenThousand, scale: 2)) % of the volume in a "
      remarks += "neighbouring minute"
    }
    guard !falseRows.isEmpty else { return remarks }
    let fates = falseRows.map(\.fate)
    let hidden = fates.count { $0.isHidden }
    let refused = fates.count { $0 == .refused }
    remarks += "; \(falseRows.count) false rows: \(refused) never booked, "
    remarks += "\(fates.count - refused - hidden) to correct, \(hidden) not to be known "
    remarks += "(overtaken \(fates.count { $0 == .overtaken }), outage "
    remarks += "\(fates.count { $0 == .outage }), undecided \(fates.count { $0 == .undecided })); "
    remarks += "\(corrections) corrections, \(revisions) revisions"
    return remarks
  }
}
