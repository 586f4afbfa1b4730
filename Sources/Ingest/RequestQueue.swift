import Feeds
import Market
import Polling

/// A worker's line to its host, with what every worker keeps beside it: which question a request
/// asks, and when the line wants to be woken.
struct RequestQueue: Sendable {
  private var queue: PacedQueue<FeedRequest>
  private var inFlight: [PollRequestID: FeedRequest] = [:]
  /// The key every question is asked with; nil where none is needed.
  private let key: String?
  private(set) var wake: Timestamp?

  /// A question that is not asked any more.
  struct Ending: Sendable {
    var feedRequest: FeedRequest
    /// nil where it was answered well.
    var fault: PacedEnd?
  }

  init(_ configuration: PacedQueueConfiguration, key: String? = nil) {
    queue = PacedQueue(configuration)
    self.key = key
  }

  /// What a request under way asks; nil for one that was answered.
  func feedRequest(of id: PollRequestID) -> FeedRequest? { inFlight[id] }

  /// Gives the event to the queue, and adds what is to be done to `actions`.
  /// - Returns: the questions that ended, in order.
  mutating func received(
    _ event: PacedQueue<FeedRequest>.Event, at now: Timestamp, into actions: inout [WorkerAction]
  ) -> [Ending] {
    // Or a wake that has come would be asked for again, for ever.
    if event == .woke { wake = nil }
    if case .answered(let id, _, _) = event { inFlight[id] = nil }
    var endings: [Ending] = []
    for action in queue.received(event, at: now) {
      switch action {
      case .request(let id, let feedRequest, _):
        inFlight[id] = feedRequest
        actions.append(.request(WorkerRequest(id: id, feedRequest: feedRequest, key: key)))
      case .wake(let moment): wake = moment
      case .health(let state): actions.append(.health(state))
      case .finished(let feedRequest): endings.append(Ending(feedRequest: feedRequest))
      case .abandoned(let feedRequest, let fault):
        endings.append(Ending(feedRequest: feedRequest, fault: fault))
      }
    }
    return endings
  }
}
