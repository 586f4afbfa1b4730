import Feeds
import Market
import Polling

/// A worker's line to its host, with what every worker keeps beside it: which requests are under
/// way, with which key and at which host, and when the line wants to be woken.
struct RequestQueue: Sendable {
  private var queue: PacedQueue<FeedRequest>
  private var inFlight: [PollRequestID: WorkerRequest] = [:]
  /// The key every request is sent with; nil where none is needed, or where each has a quota.
  private let key: String?
  /// Which key pays for a request, where each has a quota.
  var ring: KeyRing?
  /// Hosts that had no answer for a request.
  var hosts: [FeedRequest: Int] = [:]
  private(set) var wake: Timestamp?

  /// A question that is not asked any more.
  struct Ending: Sendable {
    var feedRequest: FeedRequest
    /// nil where it was answered well.
    var fault: PacedEnd?
  }

  init(_ configuration: PacedQueueConfiguration, key: String? = nil, ring: KeyRing? = nil) {
    queue = PacedQueue(configuration)
    self.key = key
    self.ring = ring
  }

  /// A request under way; nil for one that was answered.
  func request(_ id: PollRequestID) -> WorkerRequest? { inFlight[id] }

  /// Gives the event to the queue, and adds what is to be done to `actions`.
  /// - Returns: the questions that ended, in order.
  mutating func received(
    _ event: PacedQueue<FeedRequest>.Event, at now: Timestamp, into actions: inout [WorkerAction]
  ) -> [Ending] {
    // Or a wake that has come would be asked for again, for ever.
    if event == .woke { wake = nil }
    if case .answered(let id, _, _) = event { inFlight[id] = nil }
    var endings: [Ending] = []
    var events = [event]
    while !events.isEmpty {
      for action in queue.received(events.removeFirst(), at: now) {
        switch action {
        case .request(let id, let feedRequest):
          if !send(feedRequest, id: id, at: now, into: &actions) {
            events.append(postponed(id, at: now))
          }
        case .wake(let moment): wake = moment
        case .health(let state): actions.append(.health(state))
        case .finished(let feedRequest): endings.append(Ending(feedRequest: feedRequest))
        case .abandoned(let feedRequest, let fault):
          endings.append(Ending(feedRequest: feedRequest, fault: fault))
        }
      }
    }
    for ending in endings { hosts[ending.feedRequest] = nil }
    return endings
  }

  /// A key with a quota is counted before the request leaves.
  /// - Returns: false without a free one: the request waits.
  private mutating func send(
    _ feedRequest: FeedRequest, id: PollRequestID, at now: Timestamp,
    into actions: inout [WorkerAction]
  ) -> Bool {
    let grant = ring?.take(at: now)
    if ring != nil, grant == nil { return false }
    if let grant { actions.append(.record(grant.usage)) }
    let request = WorkerRequest(
      id: id, feedRequest: feedRequest, key: grant?.label ?? key, host: hosts[feedRequest] ?? 0)
    inFlight[id] = request
    actions.append(.request(request))
    return true
  }

  /// The request waits for a key.
  func postponed(_ id: PollRequestID, at now: Timestamp) -> PacedQueue<FeedRequest>.Event {
    .answered(
      id, .postponed(until: ring?.nextAvailable(at: now) ?? now.adding(seconds: 3_600)),
      retryAfterSeconds: nil)
  }
}
