// What the polling tests share: names, moments and a source that answers on order.
import Market
import TestSupport

@testable import Polling

/// Monday 2026-07-06, a trading day.
let monday = TradingDay(daysSince1970: 20_640)

func moment(_ hour: Int, _ minute: Int, _ second: Int = 0, _ milliseconds: Int64 = 0) -> Timestamp {
  Timestamp(day: monday, secondOfDay: hour * 3_600 + minute * 60 + second)
    .adding(milliseconds: milliseconds)
}

func symbols(_ count: Int) -> [Symbol] {
  (0..<count).compactMap { Symbol("sz\(String(String($0 + 1_000_000).dropFirst()))") }
}

func referenceSymbol() -> Symbol { symbol("sh000001") }

func symbol(_ text: String) -> Symbol { Symbol(text) ?? Symbol(low: 0, high: 0) }

/// Every weekday trades; no jitter, so that the moments in a test are those of the grid and 1.2 s.
func schedule(spreadMilliseconds: Int = 0, seed: UInt64 = 1) -> PollSchedule {
  PollSchedule(spreadMilliseconds: spreadMilliseconds, seed: seed) { !$0.isWeekend }
}

/// A poller with a small batch size, so that few symbols make several groups.
func poller(
  symbols count: Int, batch: Int = 800, schedule: PollSchedule = schedule(),
  change: (inout PollerConfiguration) -> Void = { _ in }
) -> Poller {
  var configuration = PollerConfiguration(referenceSymbol: referenceSymbol(), seed: 7)
  configuration.batchSymbolsMax = batch
  change(&configuration)
  return Poller(configuration, schedule: schedule, symbols: symbols(count))
}

extension Poller.Action {
  var request: PollRequest? {
    if case .request(let request) = self { return request }
    return nil
  }
}

extension [Poller.Action] {
  var requests: [PollRequest] { compactMap(\.request) }
}

/// An answer on order: when, what.
struct Reply {
  var milliseconds: Int64 = 100
  var outcome = RequestOutcome.ok
  var retryAfterSeconds: Int?
}

/// Runs a poller against a source, on virtual time. The wall clock may be stepped; sleeps are
/// elapsed time, as they are in a real process.
struct Bench {
  var poller: Poller
  /// Elapsed microseconds, never stepped.
  private(set) var elapsed: Int64 = 0
  private var offset: Int64
  private var wakeElapsed: Int64?
  private var inFlightRequests: [(elapsed: Int64, request: PollRequest, reply: Reply)] = []
  var log: [(elapsed: Int64, wall: Timestamp, action: Poller.Action)] = []
  var responses: [(elapsed: Int64, outcome: RequestOutcome)] = []
  var inFlightMost = 0

  init(_ poller: Poller, at start: Timestamp) {
    self.poller = poller
    offset = start.microseconds
  }

  var now: Timestamp { Timestamp(microseconds: elapsed + offset) }

  var requests: [(elapsed: Int64, wall: Timestamp, request: PollRequest)] {
    log.compactMap { entry in entry.action.request.map { (entry.elapsed, entry.wall, $0) } }
  }

  var actions: [Poller.Action] { log.map(\.action) }

  mutating func stepClock(milliseconds: Int64) { offset += milliseconds * 1_000 }

  mutating func feed(_ event: Poller.Event, _ source: (PollRequest, Timestamp) -> Reply) {
    perform(poller.received(event, at: now), source)
  }

  mutating func reconfigure(
    schedule: PollSchedule, symbols: [Symbol], _ source: (PollRequest, Timestamp) -> Reply,
    change: (inout PollerConfiguration) -> Void = { _ in }
  ) {
    var configuration = poller.configuration
    change(&configuration)
    perform(
      poller.reconfigured(configuration, schedule: schedule, symbols: symbols, at: now), source)
  }

  private mutating func perform(
    _ actions: [Poller.Action], _ source: (PollRequest, Timestamp) -> Reply
  ) {
    for action in actions {
      log.append((elapsed, now, action))
      switch action {
      case .request(let request):
        let reply = source(request, now)
        inFlightRequests.append((elapsed + reply.milliseconds * 1_000, request, reply))
      case .wake(let at): wakeElapsed = elapsed + max(at.microseconds(since: now), 0)
      default: break
      }
    }
    inFlightMost = max(inFlightMost, inFlightRequests.count)
  }

  /// Lets time pass until so much has elapsed since the start.
  mutating func run(
    untilElapsedSeconds seconds: Int64, _ source: (PollRequest, Timestamp) -> Reply
  ) {
    while let next = nextElapsed, next <= seconds * 1_000_000 {
      elapsed = max(elapsed, next)
      if let wakeElapsed, wakeElapsed == next {
        self.wakeElapsed = nil
        feed(.woke, source)
      } else if let index = inFlightRequests.firstIndex(where: { $0.elapsed == next }) {
        let inFlightRequest = inFlightRequests.remove(at: index)
        responses.append((elapsed, inFlightRequest.reply.outcome))
        feed(
          .answered(
            inFlightRequest.request.id, inFlightRequest.reply.outcome,
            retryAfterSeconds: inFlightRequest.reply.retryAfterSeconds), source)
      }
    }
    elapsed = max(elapsed, seconds * 1_000_000)
  }

  private var nextElapsed: Int64? {
    [wakeElapsed, inFlightRequests.map(\.elapsed).min()].compactMap { $0 }.min()
  }
}
