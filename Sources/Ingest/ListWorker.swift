import Feeds
import Market
import Polling

/// Requests lists of instruments of a source whose keys have a quota: a plan for each list, one
/// queue to the hosts, and the ring of keys, which owns the quota.
struct ListWorker: SourceWorker {
  let name: String
  let source: Source
  private let keyNoun: String
  private let sampleRows: [Symbol]
  private var lists: ListPlans
  private var requestQueue: RequestQueue
  private let hostCount: Int
  /// Lists that were answered with a sample: what becomes of it says nothing of the list.
  private var sampled: Set<ListPart> = []

  /// - Parameters:
  ///   - lists: of the source's parts.
  ///   - ring: with what the ledger knows of the licences.
  init(
    _ definition: any SourceDefinition, lists: ListPlans, ring: KeyRing, hostCount: Int,
    requestQueue: PacedQueueConfiguration
  ) {
    name = definition.workerName
    source = definition.mainSeries
    keyNoun = definition.credentials?.noun ?? "key"
    sampleRows = definition.lists?.sampleRows ?? []
    self.lists = lists
    self.hostCount = hostCount
    self.requestQueue = RequestQueue(requestQueue, ring: ring)
  }

  mutating func received(_ event: WorkerEvent, at now: Timestamp) -> [WorkerAction] {
    var actions: [WorkerAction] = []
    switch event {
    case .started: perform(lists.started(at: now), at: now, into: &actions)
    case .woke:
      perform(lists.woke(at: now), at: now, into: &actions)
      work(.woke, at: now, into: &actions)
    case .answered(let id, let response): handle(response, to: id, at: now, into: &actions)
    case .clockJumped(let microseconds):
      work(.clockJumped(microseconds: microseconds), at: now, into: &actions)
    case .stopping: work(.stopping, at: now, into: &actions)
    case .found(.listDecided(let part, _)) where sampled.remove(part) != nil: break
    case .found(let event): perform(lists.found(event, at: now), at: now, into: &actions)
    case .certified, .repairsFound, .repairsUnknown, .responseWanted, .roleChanged: break
    }
    if let wake = [lists.wake, requestQueue.wake].compactMap({ $0 }).min() {
      actions.append(.wake(at: wake))
    }
    return actions
  }

  private mutating func perform(
    _ wanted: [ListPlans.Action], at now: Timestamp, into actions: inout [WorkerAction]
  ) {
    for action in wanted {
      switch action {
      case .ask(let part):
        let request = FeedRequest(.list(part), to: source)
        work(.enqueued([PacedJob(request, priority: 0)]), at: now, into: &actions)
      case .alarm(let sentence): actions.append(.alarm(sentence))
      }
    }
  }

  private mutating func work(
    _ event: PacedQueue<FeedRequest>.Event, at now: Timestamp, into actions: inout [WorkerAction]
  ) {
    _ = requestQueue.received(event, at: now, into: &actions)
  }

  private mutating func handle(
    _ response: WorkerResponse, to id: PollRequestID, at now: Timestamp,
    into actions: inout [WorkerAction]
  ) {
    guard let request = requestQueue.request(id), let key = request.key else { return }
    let isSample = isSample(response)
    if case .list(let part) = request.feedRequest.query {
      if isSample { sampled.insert(part) } else { sampled.remove(part) }
    }
    let keyOutcome = isSample ? .demoLicence : response.keyOutcome
    for action in requestQueue.ring?.answered(key, outcome: keyOutcome, at: now) ?? [] {
      switch action {
      case .persist(let usage): actions.append(.record(usage))
      case .alarm(let label, let reason):
        actions.append(.alarm("the \(keyNoun) \(label) is parked: \(reason.name)"))
      case .recovered: break
      }
    }
    if keyOutcome.isAboutKey {
      return work(requestQueue.postponed(id, at: now), at: now, into: &actions)
    }
    let outcome = outcome(of: response, feedRequest: request.feedRequest)
    switch outcome {
    case .transient, .malformed, .unchanged:
      requestQueue.hosts[request.feedRequest, default: 0] += 1
    default: break
    }
    work(.answered(id, outcome, retryAfterSeconds: response.waitSeconds), at: now, into: &actions)
  }

  private func isSample(_ response: WorkerResponse) -> Bool {
    guard case .list(let list) = response.response, !sampleRows.isEmpty else { return false }
    return list.rows.map(\.symbol) == sampleRows
  }

  /// What is not found at one host may be at the next (docs/sources/mairui.md#refusals).
  private func outcome(of response: WorkerResponse, feedRequest: FeedRequest) -> RequestOutcome {
    let isMissing = response.refusal?.kind == .notFound || response.refusal?.kind == .noData
    return isMissing && requestQueue.hosts[feedRequest, default: 0] + 1 < hostCount
      ? .transient : response.outcome
  }
}

extension KeyRing.Outcome {
  /// The key is at fault, not the question: another key may have the answer.
  fileprivate var isAboutKey: Bool {
    switch self {
    case .quotaExhausted, .invalidLicence, .demoLicence: true
    case .throttled, .ok, .other: false
    }
  }
}
