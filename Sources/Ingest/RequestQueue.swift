import Feeds
import Market
import Operations
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

  /// Tells the line, and adds what is to be done to `actions`.
  /// - Returns: the questions that ended, in order.
  mutating func received(
    _ event: PacedQueue<FeedRequest>.Event, at now: Timestamp, _ actions: inout [WorkerAction]
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

/// How each host may be asked: by a worker, and by a command beside it.
extension PacedQueueConfiguration {
  /// One question at a time: the host bans whoever asks for more.
  static func sina(requestsPerMinute: Int, seed: UInt64) -> PacedQueueConfiguration {
    PacedQueueConfiguration(
      requestsPerMinute: requestsPerMinute, burst: 1, inFlightMax: 1, seed: seed)
  }

  static func mairui(seed: UInt64) -> PacedQueueConfiguration {
    PacedQueueConfiguration(requestsPerMinute: 10, burst: 2, inFlightMax: 1, seed: seed)
  }

  static func alpaca(requestsPerMinute: Int, seed: UInt64) -> PacedQueueConfiguration {
    PacedQueueConfiguration(
      requestsPerMinute: requestsPerMinute, burst: min(requestsPerMinute, 10), inFlightMax: 4,
      seed: seed)
  }

  /// The line a command has to a source.
  package init(_ source: Source, requestsPerMinute: Int, seed: UInt64) {
    self =
      source == .sina
      ? .sina(requestsPerMinute: requestsPerMinute, seed: seed)
      : .alpaca(requestsPerMinute: requestsPerMinute, seed: seed)
    // Or a request would count as lost, and be sent again, while its answer is waited for.
    deadlineMilliseconds = HTTPFeedUpstream.deadlineMilliseconds
  }
}

/// What a command may ask of a source in a minute. The host counts what comes from one address, or
/// with one key, whichever process sends it.
package struct CommandBudget: Sendable, Hashable {
  package let requestsPerMinute: Int
  /// Less than the daemon's, which asks the same source.
  package let isShared: Bool

  /// More get an address banned (sina.md §2).
  static let sinaRequestsPerMinuteMax = 30
  /// Of a basic account (alpaca.md §B.2).
  static let alpacaRequestsPerMinuteMax = 200

  /// - Parameter besideDaemon: one is running, by the same settings.
  package init(_ source: Source, _ settings: Settings, besideDaemon: Bool) {
    let isSina = source == .sina
    let own = isSina ? settings.sinaHistoryRequestsPerMinute : settings.alpacaRequestsPerMinute
    let most = isSina ? Self.sinaRequestsPerMinuteMax : Self.alpacaRequestsPerMinuteMax
    isShared = besideDaemon && (isSina || !settings.alpacaSymbols.isEmpty)
    // A setting beyond what is known may be right: then a tenth more is as well.
    requestsPerMinute = isShared ? max(min(own, most - own), own / 10, 1) : own
  }
}
