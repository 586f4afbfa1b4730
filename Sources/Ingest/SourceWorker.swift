import Feeds
import Logging
import Market
import Polling

/// A worker makes the requests to one endpoint of a source: live quotes, lists of instruments,
/// K-lines, bars, factors.
///
/// Each joins a plan (what is wanted) to a line (when it may be asked) and, where a source wants
/// one, a key ring (who asks). It is a value: an event and a moment go in, actions come out. The
/// engine performs them: a key's use is in the journal before the request leaves, an answer is in
/// the journal before the worker gets it.
protocol SourceWorker: Sendable {
  /// The endpoint's name in health and logs: `quotes`, `lists`, `history`, `bars`.
  var name: String { get }
  var source: Source { get }
  /// Whether it sweeps live quotes: then it begins at once, its answers date our clock, and rows
  /// wait for the rest of their sweep.
  var isLive: Bool { get }
  mutating func received(_ event: WorkerEvent, at now: Timestamp) -> [WorkerAction]
}

extension SourceWorker {
  var isLive: Bool { false }
}

/// What the pipeline found in the journal's entries that workers act on.
enum MarketEvent: Sendable {
  /// Their previous close is not the last close: a dividend or split was paid. Of those whose last
  /// close passed unseen that is only supposed.
  case exRights([Symbol], isSupposed: Bool)
  /// The source does not know these symbols, or does not know them yet.
  case unknownSymbols([Symbol])
  /// What became of a list that is whole.
  case listDecided(ListPart, UniverseVerdict)
  /// Every listed instrument, after a list that was accepted.
  case universe(Universe)
  /// The trading days of the mainland exchanges, as far as they are known.
  case calendar(TradingCalendar)
}

enum WorkerEvent: Sendable {
  /// The journal's tail is interpreted: what is known of keys and lists is all there is to know.
  case started
  /// The moment of the latest `wake` has come. Early or late does no harm.
  case woke
  case answered(PollRequestID, WorkerResponse)
  /// A day's certificates are stored.
  case certified
  /// What `lookForRepairs` found; nil where the store did not answer.
  case repairsFound([RepairCandidate]?)
  case found(MarketEvent)
  /// An answer is wanted for its own sake, to date our clock by.
  case responseWanted(withinSeconds: Int64)
  /// The engine's time was moved: what was to come after a while comes at another moment.
  case clockJumped(microseconds: Int64)
  /// The role of a source of live quotes changed: what is requested from now on.
  case roleChanged(Poller.Role)
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
  /// Goes into the journal: a restart must know that the source refuses us.
  case coolDown(CoolDown)
  /// A sweep of live quotes is over; so many of its requests brought nothing.
  case sweepCompleted(failed: Int)
  /// Something a person must see to.
  case alarm(String)
  case log(Logger.Level, String, [String: String])
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
package struct WorkerResponse: Sendable, Hashable {
  /// nil if nothing came, or the journal could not take it.
  package var response: FeedResponse?
  /// Whether an answer came, whatever was made of it.
  var isReceived = false
  package var retryAfterSeconds: Int?
  /// The stamps of an answer with quotes.
  var rows: ArrivedRows?

  package init(response: FeedResponse? = nil, retryAfterSeconds: Int? = nil) {
    self.response = response
    self.retryAfterSeconds = retryAfterSeconds
  }
}
