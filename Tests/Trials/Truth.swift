import ExchangeSimulator
import Market

/// Days judged by the simulator's ledgers: what a perfect daemon must have written, and what really
/// traded.
public struct TruthTrial: Sendable {
  public var plan: MemoryDay.Plan
  /// Every publication is seen.
  public var isUnbroken: Bool

  public struct Verdict: Sendable {
    public var candles = 0
    public var gaps = 0
    public var certificates = 0
    /// Volume that stands in another minute than it traded in, of how much; days seen whole.
    public var displacement: (moved: Int64, total: Int64) = (0, 0)
    public var falseRows: [FalseRow] = []
    /// Readable, empty if all is well.
    public var complaints: [String] = []
  }

  /// Nothing goes wrong.
  public static func quiet(seed: UInt64, instruments: Int) -> TruthTrial {
    var plan = MemoryDay.Plan(seed: seed)
    plan.instruments = instruments
    return TruthTrial(plan: plan, isUnbroken: true)
  }

  /// As quiet, but for false rows on some instruments.
  public static func deceived(seed: UInt64, instruments: Int) -> TruthTrial {
    var trial = quiet(seed: seed, instruments: instruments)
    trial.plan.falseRows = FalseRowPlan(seed: seed)
    return trial
  }

  /// Outages over the open, of 1, 20 and 90 minutes, the last over lunch, one over the close, and a
  /// node that lags for a while.
  public static func broken(seed: UInt64, instruments: Int) -> TruthTrial {
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
  public static func late(seed: UInt64, instruments: Int) -> TruthTrial {
    var plan = MemoryDay.Plan(seed: seed)
    plan.instruments = instruments
    plan.start = 34_200 + Int(seed * 977 % 18_000)
    return TruthTrial(plan: plan, isUnbroken: false)
  }

  public func run() throws -> Verdict {
    var day = MemoryDay(plan)
    day.run()
    let candles = Array(day.rows.candles.values)
    let audits = Array(day.rows.audits.values)
    var verdict = Verdict(
      candles: candles.count, gaps: day.rows.gaps.count, certificates: audits.count)
    let (ledger, truth) = (day.recorder.observableLedger(), day.recorder.trueLedger())
    verdict.falseRows = ledger.falseRows
    verdict.complaints = ledger.differences(
      candles: candles, gaps: day.rows.gaps, audits: audits)
    verdict.complaints += truth.differences(audits: audits)
    if isUnbroken { verdict.displacement = truth.displacement(candles: candles) }
    verdict.complaints += try day.rows.misstatements()
    if audits.isEmpty { verdict.complaints.append("no certificate was written") }
    return verdict
  }
}
