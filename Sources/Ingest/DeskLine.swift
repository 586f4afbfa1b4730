import Feeds
import Market
import Operations
import Polling

/// A desk's line to its host, with what every desk keeps beside it: which question a request asks,
/// and when the line wants to be woken.
struct DeskLine: Sendable {
  private var queue: PacedQueue<FeedRequest>
  private var asked: [PollRequestID: FeedRequest] = [:]
  /// The key every question is asked with; nil where none is needed.
  private let key: String?
  private(set) var wake: Timestamp?

  /// A question that is not asked any more.
  struct Ending: Sendable {
    var question: FeedRequest
    /// nil where it was answered well.
    var fault: PacedEnd?
  }

  init(_ configuration: PacedQueueConfiguration, key: String? = nil) {
    queue = PacedQueue(configuration)
    self.key = key
  }

  /// What a request under way asks; nil for one that was answered.
  func question(of id: PollRequestID) -> FeedRequest? { asked[id] }

  /// Tells the line, and adds what is to be done to `actions`.
  /// - Returns: the questions that ended, in order.
  mutating func received(
    _ event: PacedQueue<FeedRequest>.Event, at now: Timestamp, _ actions: inout [DeskAction]
  ) -> [Ending] {
    // Or a wake that has come would be asked for again, for ever.
    if event == .woke { wake = nil }
    if case .answered(let id, _, _) = event { asked[id] = nil }
    var endings: [Ending] = []
    for action in queue.received(event, at: now) {
      switch action {
      case .request(let id, let question, _):
        asked[id] = question
        actions.append(.request(DeskRequest(id: id, question: question, key: key)))
      case .wake(let moment): wake = moment
      case .health(let state): actions.append(.health(state))
      case .finished(let question): endings.append(Ending(question: question))
      case .gaveUp(let question, let fault):
        endings.append(Ending(question: question, fault: fault))
      }
    }
    return endings
  }
}

/// How each host may be asked: by a desk, and by a command beside it.
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
  public init(_ source: Source, requestsPerMinute: Int, seed: UInt64) {
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
public struct CommandBudget: Sendable, Hashable {
  public let requestsPerMinute: Int
  /// Less than the daemon's, which asks the same source.
  public let isShared: Bool

  /// More get an address banned (sina.md §2).
  static let sinaRequestsPerMinuteMax = 30
  /// Of a basic account (alpaca.md §B.2).
  static let alpacaRequestsPerMinuteMax = 200

  /// - Parameter besideDaemon: one is running, by the same settings.
  public init(_ source: Source, _ settings: Settings, besideDaemon: Bool) {
    let isSina = source == .sina
    let own = isSina ? settings.sinaHistoryRequestsPerMinute : settings.alpacaRequestsPerMinute
    let most = isSina ? Self.sinaRequestsPerMinuteMax : Self.alpacaRequestsPerMinuteMax
    isShared = besideDaemon && (isSina || !settings.alpacaSymbols.isEmpty)
    // A setting beyond what is known may be right: then a tenth more is as well.
    requestsPerMinute = isShared ? max(min(own, most - own), own / 10, 1) : own
  }
}
