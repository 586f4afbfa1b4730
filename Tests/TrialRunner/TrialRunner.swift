import ExchangeSimulator
import Market
import Trials

@main
struct TrialRunner {
  static func main() {
    var plan = MemoryDay.Plan(seed: 1)
    plan.instruments = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 300
    if CommandLine.arguments.count > 2 {
      plan.outages = [36030..<36092, 39600..<40801, 41000..<47400, 53000..<54600]
      plan.staleSpells = [50000..<50009, 51000..<51040]
    }
    var day = MemoryDay(plan)
    day.run()
    print(day.rows.candles.count, day.rows.gaps.count, day.rows.audits.count, day.rows.rejections.count, day.rows.revisions)
    let observable = day.recorder.observableLedger()
    let differences = observable.differences(candles: Array(day.rows.candles.values), gaps: day.rows.gaps, audits: Array(day.rows.audits.values))
    print(differences.count, differences.prefix(10).joined(separator: "\n"))
    show(day, "bj920010", 40900...48200)
    let t = day.recorder.trueLedger().differences(candles: Array(day.rows.candles.values))
    print(t.count, t.prefix(5).joined(separator: "\n"))
  }
}
func show(_ day: MemoryDay, _ name: String, _ range: ClosedRange<Int>) {
  guard let symbol = Symbol(name) else { return }
  print(day.rows.gaps.filter { $0.symbol == symbol })
  let observable = day.recorder.observableLedger()
  let mine = day.rows.candles.values.filter { $0.symbol == symbol && $0.timeframe == .minute1 }.sorted { $0.openedAt < $1.openedAt }
  for c in mine where range.contains(c.openedAt.shanghaiSecondOfDay) { print("mine", c.openedAt, c.open, c.high, c.low, c.close, c.volume, c.flags.rawValue) }
  for c in observable.candles(of: symbol) where range.contains(c.openedAt.shanghaiSecondOfDay) { print("theirs", c.openedAt, c.open, c.high, c.low, c.close, c.volume, c.flags.rawValue) }
}
