import Feeds
import Market
import Polling
import Testing

@testable import Ingest

/// When the history desk wants to be woken.
@Suite struct SinaDeskWakeTests {
  private let morning = Timestamp(day: TradingDay(daysSince1970: 20_640), secondOfDay: 36_000)

  private func desk() -> SinaDesk {
    let calendar = CalendarBox()
    let lists = ListPlans(
      [], ListPlanConfiguration(seed: 1), universe: Universe(), calendar: calendar)
    return SinaDesk(
      lists: lists, repairs: RepairPlan(), calendar: calendar,
      line: PacedQueueConfiguration(requestsPerMinute: 20, burst: 1, inFlightMax: 1, seed: 1))
  }

  private func wake(_ actions: [DeskAction]) -> Timestamp? {
    actions.compactMap { if case .wake(let moment) = $0 { moment } else { nil } }.last
  }

  private func request(_ actions: [DeskAction]) -> DeskRequest? {
    actions.compactMap { if case .request(let request) = $0 { request } else { nil } }.last
  }

  @Test func `a wake that has come is not asked for again`() throws {
    var desk = desk()
    var actions = desk.received(.started, at: morning)
    let symbol = try #require(Symbol("sh600519"))
    actions = desk.received(.exRights([symbol]), at: morning)
    var now = morning
    for _ in 0..<20 {
      if let request = request(actions) {
        actions = desk.received(
          .answered(request.id, DeskAnswer(answer: .factors([]))), at: now)
      } else {
        guard let next = wake(actions) else { break }
        now = max(now, next)
        actions = desk.received(.woke, at: now)
      }
      if let next = wake(actions) { #expect(next > now) }
    }
    #expect(wake(desk.received(.woke, at: now.adding(seconds: 3600))) == nil)
  }

  @Test func `a day's minutes are asked for with room for the next day's`() throws {
    var desk = desk()
    _ = desk.received(.started, at: morning)
    let symbol = try #require(Symbol("sh600519"))
    let candidate = RepairCandidate(symbol: symbol, day: morning.shanghaiDay, want: .gap)
    let actions = desk.received(.repairsFound([candidate]), at: morning)
    #expect(request(actions)?.question == .sinaKline(symbol, .minute1, bars: 480))
  }
}
