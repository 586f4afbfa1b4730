import Feeds
import Market
import Polling
import TestSupport
import Testing

@testable import Ingest

/// When the history worker wants to be woken.
@Suite struct HistoryWorkerWakeTests {
  private let morning = Timestamp(day: TradingDay(daysSince1970: 20_640), secondOfDay: 36_000)

  private func worker() -> HistoryWorker {
    let calendar = TradingCalendar.shanghai
    let lists = ListPlans(
      [], seed: 1, universe: Universe(), calendar: calendar)
    return HistoryWorker(
      SourceRegistry.definition(of: .sina),
      lists: lists, repairs: RepairPlan(), calendar: calendar,
      requestQueue: PacedQueueConfiguration(
        requestsPerMinute: 20, burst: 1, inFlightMax: 1, seed: 1))
  }

  private func wake(_ actions: [WorkerAction]) -> Timestamp? {
    actions.compactMap { if case .wake(let moment) = $0 { moment } else { nil } }.last
  }

  private func request(_ actions: [WorkerAction]) -> WorkerRequest? {
    actions.compactMap { if case .request(let request) = $0 { request } else { nil } }.last
  }

  @Test func `a wake that has come is not asked for again`() throws {
    var worker = worker()
    var actions = worker.received(.started, at: morning)
    let symbol = try #require(Symbol("sh600519"))
    actions = worker.received(
      .found(.exRights([symbol], isSupposed: false)), at: morning)
    var now = morning
    for _ in 0..<20 {
      if let request = request(actions) {
        actions = worker.received(
          .answered(request.id, WorkerResponse(response: .factors([]))), at: now)
      } else {
        guard let next = wake(actions) else { break }
        now = max(now, next)
        actions = worker.received(.woke, at: now)
      }
      if let next = wake(actions) { #expect(next > now) }
    }
    #expect(wake(worker.received(.woke, at: now.adding(seconds: 3600))) == nil)
  }

  @Test func `a day's minutes are asked for with room for the next day's`() throws {
    var worker = worker()
    _ = worker.received(.started, at: morning)
    let symbol = try #require(Symbol("sh600519"))
    let candidate = RepairCandidate(symbol: symbol, day: morning.shanghaiDay, want: .gap)
    let actions = worker.received(.repairsFound([candidate]), at: morning)
    #expect(request(actions)?.feedRequest == .sinaKline(symbol, .minute1, bars: 480))
  }
}
