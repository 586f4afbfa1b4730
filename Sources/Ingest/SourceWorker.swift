import Feeds
import Market
import Polling
import Store

/// A worker asks for what live quotes do not tell: lists of instruments, K-lines, bars, factors.
///
/// Each joins a plan (what is wanted) to a line (when it may be asked) and, where a source wants
/// one, a key ring (who asks). It is a value like the poller: an event and a moment go in, actions
/// come out. The engine performs them: a key's use is in the journal before the request leaves, an
/// answer is in the journal before the worker hears of it.
protocol SourceWorker: Sendable {
  /// The endpoint's name in health and logs: `lists`, `history`, `bars`.
  var name: String { get }
  var source: Source { get }
  mutating func received(_ event: WorkerEvent, at now: Timestamp) -> [WorkerAction]
}

enum WorkerEvent: Sendable {
  /// The journal's tail is interpreted: what is known of keys and lists is all there is to know.
  case started
  /// The moment of the latest `wake` has come. Early or late does no harm.
  case woke
  case answered(PollRequestID, WorkerResponse)
  /// A day's certificates are stored.
  case certified
  /// What `lookForRepairs` found.
  case repairsFound([RepairCandidate])
  /// The store did not answer.
  case repairsUnknown
  /// Their previous close is not the last close: a dividend or split was paid.
  case exRights([Symbol], isSupposed: Bool = false)
  /// The engine's time was moved: what was to come after a while comes at another moment.
  case clockJumped(microseconds: Int64)
  /// Sina does not know a symbol that is polled, or the lists do not know one that trades.
  case listWanted
  case stopping
}

enum WorkerAction: Sendable {
  case request(WorkerRequest)
  /// Replaces every earlier wake.
  case wake(at: Timestamp)
  /// Goes into the journal ahead of the request that spends it; if the journal does not take it,
  /// that request is not made, and is answered with nothing.
  case record(KeyUsage)
  case lookForRepairs(from: TradingDay)
  case health(SourceState)
  /// Something a person must see to.
  case alarm(String)
}

/// One request to perform.
struct WorkerRequest: Sendable {
  var id: PollRequestID
  var feedRequest: FeedRequest
  /// The label of the key it is asked with.
  var key: String?
  /// Counts up where an earlier host had no answer: the next one in order is asked.
  var host = 0
}

/// What came back.
struct WorkerResponse: Sendable, Hashable {
  /// nil if nothing came, or the journal could not take it.
  var response: FeedResponse?
  var retryAfterSeconds: Int?
  /// What the universe made of a list; nil where none was complete.
  var listVerdict: UniverseVerdict?
}
