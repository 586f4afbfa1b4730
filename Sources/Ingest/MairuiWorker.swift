import Feeds
import Market
import Polling

/// Asks Mairui for the lists of instruments: a plan for each board, one line to the hosts, and the
/// ring of licences, which owns the quota.
struct MairuiWorker: SourceWorker {
  let name = "lists"
  let source = Source.mairui
  private var lists: ListPlans
  private var queue: PacedQueue<FeedRequest>
  private var queueWake: Timestamp?
  private var ring: KeyRing
  private var sent: [PollRequestID: SentRequest] = [:]
  /// Hosts that had no answer for a question.
  private var hosts: [FeedRequest: Int] = [:]
  private let hostCount: Int

  private struct SentRequest: Sendable {
    let feedRequest: FeedRequest
    let key: String
  }

  /// - Parameters:
  ///   - lists: of Mairui's boards.
  ///   - ring: with what the ledger knows of the licences.
  init(lists: ListPlans, ring: KeyRing, hostCount: Int, requestQueue: PacedQueueConfiguration) {
    self.lists = lists
    self.ring = ring
    self.hostCount = hostCount
    queue = PacedQueue(requestQueue)
  }

  mutating func received(_ event: WorkerEvent, at now: Timestamp) -> [WorkerAction] {
    var actions: [WorkerAction] = []
    switch event {
    case .started: perform(lists.started(at: now), now, &actions)
    case .woke:
      perform(lists.woke(at: now), now, &actions)
      work(.woke, now, &actions)
    case .answered(let id, let response): handle(response, to: id, now, &actions)
    case .clockJumped(let microseconds):
      work(.clockJumped(microseconds: microseconds), now, &actions)
    case .stopping: work(.stopping, now, &actions)
    case .listWanted: perform(lists.wanted(at: now), now, &actions)
    case .certified, .repairsFound, .repairsUnknown, .exRights: break
    }
    if let wake = [lists.wake, queueWake].compactMap({ $0 }).min() {
      actions.append(.wake(at: wake))
    }
    return actions
  }

  private mutating func perform(
    _ wanted: [ListPlans.Action], _ now: Timestamp, _ actions: inout [WorkerAction]
  ) {
    for action in wanted {
      switch action {
      case .ask(let part):
        guard let board = MairuiBoard(part) else { continue }
        work(.enqueued([PacedJob(.mairuiList(board), priority: 0)]), now, &actions)
      case .alarm(let sentence): actions.append(.alarm(sentence))
      }
    }
  }

  private mutating func work(
    _ event: PacedQueue<FeedRequest>.Event, _ now: Timestamp, _ actions: inout [WorkerAction]
  ) {
    // Or a wake that has come would be asked for again, for ever.
    if event == .woke { queueWake = nil }
    var events = [event]
    while !events.isEmpty {
      for action in queue.received(events.removeFirst(), at: now) {
        switch action {
        case .request(let id, let feedRequest, _):
          if !ask(feedRequest, id, now, &actions) { events.append(postponed(id, now)) }
        case .wake(let moment): queueWake = moment
        case .health(let state): actions.append(.health(state))
        case .finished(let feedRequest), .abandoned(let feedRequest, _): hosts[feedRequest] = nil
        }
      }
    }
  }

  /// The licence is counted before the request leaves.
  /// - Returns: false without a free one: the question waits.
  private mutating func ask(
    _ feedRequest: FeedRequest, _ id: PollRequestID, _ now: Timestamp,
    _ actions: inout [WorkerAction]
  ) -> Bool {
    guard let grant = ring.take(at: now) else { return false }
    sent[id] = SentRequest(feedRequest: feedRequest, key: grant.label)
    actions.append(.record(grant.usage))
    actions.append(
      .request(
        WorkerRequest(
          id: id, feedRequest: feedRequest, key: grant.label, host: hosts[feedRequest] ?? 0)))
    return true
  }

  private func postponed(_ id: PollRequestID, _ now: Timestamp) -> PacedQueue<FeedRequest>.Event {
    .answered(
      id, .postponed(until: ring.nextAvailable(at: now) ?? now.adding(seconds: 3_600)),
      retryAfterSeconds: nil)
  }

  private mutating func handle(
    _ response: WorkerResponse, to id: PollRequestID, _ now: Timestamp,
    _ actions: inout [WorkerAction]
  ) {
    guard let sent = sent.removeValue(forKey: id) else { return }
    let keyOutcome = response.isDemoList ? .demoLicence : response.keyOutcome
    for action in ring.answered(sent.key, outcome: keyOutcome, at: now) {
      switch action {
      case .persist(let usage): actions.append(.record(usage))
      case .alarm(let label, let reason):
        actions.append(.alarm("the licence \(label) is parked: \(reason.name)"))
      case .recovered: break
      }
    }
    if keyOutcome.isAboutKey { return work(postponed(id, now), now, &actions) }
    let outcome = outcome(of: response, sent.feedRequest)
    if outcome == .transient { hosts[sent.feedRequest, default: 0] += 1 }
    work(.answered(id, outcome, retryAfterSeconds: response.waitSeconds), now, &actions)
    guard case .mairuiList(let board) = sent.feedRequest, let verdict = response.listVerdict else {
      return
    }
    perform(lists.decided(board.part, verdict, at: now), now, &actions)
  }

  /// What is not found at one host may be at the next (mairui.md §A.6).
  private func outcome(of response: WorkerResponse, _ feedRequest: FeedRequest) -> PacedOutcome {
    let isMissing = response.refusal?.kind == .notFound || response.refusal?.kind == .noData
    return isMissing && hosts[feedRequest, default: 0] + 1 < hostCount
      ? .transient : response.outcome
  }
}

extension WorkerResponse {
  /// The sample licence answers everything with 000001 (mairui.md §A.2).
  fileprivate var isDemoList: Bool {
    guard case .list(let list) = response else { return false }
    return list.rows.map(\.symbol) == [Symbol("sz000001")]
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
