import Commits
import ExchangeSimulator
import Feeds
import Journal
import Ledgers
import Market
import Polling
import TestExchange
import Testing

@testable import Ingest
@testable import Store

/// A worker without an engine: what it does is written down in order, what it asks is answered by a
/// script, and a pipeline reads what the journal would hold. Time jumps from wake to wake.
struct WorkerDriver {
  enum Step: Hashable {
    case recorded(KeyUsage)
    case asked(FeedRequest, key: String?, host: Int)
    case alarm(String)
    case looked(TradingDay)
  }

  /// nil where nothing comes back.
  typealias Script = (WorkerRequest, Timestamp) -> CannedResponse?

  var worker: any SourceWorker
  var pipeline: Pipeline
  var script: Script
  /// What the store would answer.
  var candidates: (Timestamp) -> [RepairCandidate] = { _ in [] }
  /// Whether the answer of that number, from 1, comes while only the journal takes it.
  var isStoreBehind: (Int) -> Bool = { _ in false }
  private(set) var now: Timestamp
  private(set) var steps: [Step] = []
  private(set) var times: [Timestamp] = []
  private(set) var entries: [JournalEntry] = []
  private(set) var tables = FeedTables()
  private(set) var wake: Timestamp?
  private var position: Int64 = 0

  init(
    _ worker: any SourceWorker, pipeline: Pipeline = Pipeline(), at now: Timestamp,
    script: @escaping Script
  ) {
    self.worker = worker
    self.pipeline = pipeline
    self.now = now
    self.script = script
  }

  mutating func send(_ first: WorkerEvent) {
    var events = [first]
    while !events.isEmpty {
      for action in worker.received(events.removeFirst(), at: now) {
        switch action {
        case .request(let request):
          let (answer, found) = response(request)
          events.append(.answered(request.id, answer))
          if !isStoreBehind(feedRequests.count) { events += found.map { .found($0) } }
        case .wake(let moment): wake = moment
        case .record(let usage):
          record(.recorded(usage))
          _ = take(.usage(usage, at: now))
        case .lookForRepairs(let day):
          record(.looked(day))
          events.append(.repairsFound(candidates(now)))
        case .health, .coolDown, .sweepCompleted, .log: break
        case .alarm(let sentence): record(.alarm(sentence))
        }
      }
    }
  }

  /// Wakes the worker whenever it wants to be, until `end`. A wake that is not in the future would
  /// never end: it is a failure.
  mutating func run(until end: Timestamp) {
    while let wake, wake <= end {
      now = max(now, wake)
      self.wake = nil
      send(.woke)
      if let next = self.wake, next <= now {
        Issue.record("woken at \(now.microseconds), it wants to be woken at \(next.microseconds)")
        return
      }
    }
    now = max(now, end)
  }

  mutating func run(seconds: Int64) { run(until: now.adding(seconds: seconds)) }

  /// Moves the time of day; none passes.
  mutating func setClock(to moment: Timestamp) {
    let microseconds = moment.microseconds(since: now)
    now = moment
    send(.clockJumped(microseconds: microseconds))
  }

  private mutating func record(_ step: Step) {
    steps.append(step)
    times.append(now)
  }

  private mutating func response(_ request: WorkerRequest) -> (WorkerResponse, [MarketEvent]) {
    record(.asked(request.feedRequest, key: request.key, host: request.host))
    guard let canned = script(request, now) else { return (WorkerResponse(), []) }
    let digest = take(
      .response(
        to: request.feedRequest, requestedAt: now, receivedAt: now, status: Int32(canned.status),
        body: Array(canned.body.utf8)))
    var response = WorkerResponse(
      response: digest.response, retryAfterSeconds: canned.retryAfterSeconds)
    response.isReceived = true
    return (response, digest.found)
  }

  private mutating func take(_ entry: JournalEntry) -> Digest {
    position += 1
    entries.append(entry)
    let digest = pipeline.process(entry, at: JournalPosition(position))
    if let commit = pipeline.takeCommit() { tables.take(commit) }
    return digest
  }

  // MARK: - What it did

  var feedRequests: [FeedRequest] {
    steps.compactMap { if case .asked(let feedRequest, _, _) = $0 { feedRequest } else { nil } }
  }

  var alarms: [String] {
    steps.compactMap { if case .alarm(let sentence) = $0 { sentence } else { nil } }
  }

  /// `key@host` of each request.
  var keys: [String] {
    steps.compactMap {
      if case .asked(_, let key, let host) = $0 { "\(key ?? "nobody")@\(host)" } else { nil }
    }
  }

  func times(of feedRequest: FeedRequest) -> [Timestamp] {
    zip(steps, times).compactMap { step, time in
      if case .asked(feedRequest, _, _) = step { time } else { nil }
    }
  }

  mutating func forgetSteps() {
    steps = []
    times = []
  }

  /// What a restart finds.
  var stored: StoredState {
    var stored = StoredState(
      position: JournalPosition(position), knownAt: now, bookState: pipeline.sharedState,
      quotes: [], epoch: 1, lastSeq: 0)
    tables.complete(&stored)
    return stored
  }
}

extension CannedResponse {
  static func text(_ body: String, status: Int = 200) -> CannedResponse {
    CannedResponse(status: status, body: body)
  }

  /// What a simulated exchange said; its bodies are ASCII but for names.
  init(_ response: MemoryExchange.Response) {
    self.init(
      status: response.status, body: String(decoding: response.body, as: UTF8.self),
      retryAfterSeconds: response.retryAfterSeconds)
  }
}

func shanghai(_ day: String, _ hour: Int, _ minute: Int = 0) throws -> Timestamp {
  Timestamp(day: try #require(TradingDay(day)), secondOfDay: hour * 3_600 + minute * 60)
}

func newYork(_ day: String, _ hour: Int, _ minute: Int = 0, _ second: Int = 0) throws
  -> Timestamp
{
  Timestamp(
    day: try #require(TradingDay(day)), newYorkSecondOfDay: hour * 3_600 + minute * 60 + second)
}
