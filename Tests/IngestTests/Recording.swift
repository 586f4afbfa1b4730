import ExchangeSimulator
import Ingest
import Journal
import Market
import Trials

/// A simulated day as a journal holds it, made by the daemon's own poller and pipeline, with the
/// rows an uninterrupted run makes of it.
struct Recording {
  private(set) var entries: [JournalEntry] = []
  private(set) var tables = Tables()
  private let day: MemoryDay

  var market: SimulatedMarket { day.market }
  var pipeline: Pipeline { day.pipeline }

  /// Small, so that a sweep is several answers and a stop can fall between them.
  static func plan(seed: UInt64) -> MemoryDay.Plan {
    var plan = MemoryDay.Plan(seed: seed)
    plan.instruments = 40
    plan.batchSymbolsMax = 16
    plan.start = 9 * 3600 + 14 * 60
    plan.end = 15 * 3600 + 37 * 60
    plan.cadenceSeconds = 12
    return plan
  }

  init(_ plan: MemoryDay.Plan) {
    var (entries, tables) = ([JournalEntry](), Tables())
    var day = MemoryDay(plan)
    day.run { entry, commit in
      entries.append(entry)
      if let commit { tables.take(commit) }
    }
    (self.entries, self.tables, self.day) = (entries, tables, day)
  }

  /// The number of the first entry received at or after a second of the day.
  func entry(at second: Int) -> Int {
    let moment = Timestamp(day: day.plan.day, secondOfDay: second)
    return entries.firstIndex { $0.receivedAt >= moment } ?? entries.count
  }
}
