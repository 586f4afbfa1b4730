import Commits
import Market
import Postgres

/// Which part of a commit a statement belongs to; an error carries it.
enum CommitStep {
  static let commit = "commit"
  static let candles = "commit candles"
  static let instruments = "commit instruments"
  static let change = "commit change"
  static let end = "commit end"
}

/// How a commit is attempted; what an attempt fails of decides on the next one.
struct CommitStrategy {
  var notifies: Bool
  /// Some key is stored already: the server distinguishes equal rows from different ones.
  var stagesCandles = false
  /// Some row is refused: find out which.
  var isolatesRows = false
  /// Another writer named an instrument first.
  var forgetsRegistry = false
  /// Why this commit goes without its NOTIFY.
  var notifyFault: StoreError?

  /// - Returns: whether another attempt, made differently, may succeed.
  mutating func adapt(to error: StoreError) -> Bool {
    forgetsRegistry = false
    switch (error.sqlState, error.context) {
    case ("23505", CommitStep.candles): stagesCandles = true
    case ("23505", CommitStep.instruments): forgetsRegistry = true
    case (_, CommitStep.change), (_, CommitStep.end):
      // Either may be NOTIFY's doing: its call is part of the one, its queue is filled in the
      // other. The next attempt shows whether it was.
      guard notifies, error.mayBeNotifys else { return false }
      notifies = false
      notifyFault = error
    default:
      guard error.code == .rowRefused, !isolatesRows else { return false }
      isolatesRows = true
    }
    return true
  }
}

/// What a transaction has found out so far.
struct CommitContext {
  let strategy: CommitStrategy
  /// The daemon's clock.
  let knownAt: Timestamp
  /// Its rows come from no journal entry.
  let isHistory: Bool
  var seq: Int64
  /// An xid8, as text.
  let transaction: String
  var receipt = CommitReceipt()
  var keys = ChangedKeys()
  /// Days that are the bars' already: the book's account of them no longer counts.
  var repaired: Set<DayKey> = []
  /// What the database would not have.
  var refused: [RefusedRow] = []
  /// How many certificates of a day do not balance, as stored.
  var residuals: [TradingDay: Int] = [:]

  /// Some key may be stored already: equal rows must be told from different ones.
  var stagesCandles: Bool { strategy.stagesCandles || strategy.isolatesRows }

  init(
    strategy: CommitStrategy, commit: SortedCommit, seq: Int64, transaction: String
  ) {
    self.strategy = strategy
    knownAt = commit.base.knownAt
    isHistory = commit.history != nil
    self.seq = seq
    self.transaction = transaction
  }
}

/// The rows that a change names.
struct ChangedKeys {
  var candles: [CandleKey] = []
  var revisions: [CandleKey] = []
  var gaps: [Int64] = []
  var closedGaps: [Int64] = []
  var certificates: [DayKey] = []
}

/// The key of `candle`.
struct CandleKey: Hashable, Comparable {
  var instrument: Int32
  var timeframe: Int16
  var openedAt: Timestamp

  static func < (left: CandleKey, right: CandleKey) -> Bool {
    (left.instrument, left.timeframe, left.openedAt)
      < (right.instrument, right.timeframe, right.openedAt)
  }
}

/// The key of `day_audit`.
struct DayKey: Hashable, Comparable {
  var instrument: Int32
  var day: TradingDay

  static func < (left: DayKey, right: DayKey) -> Bool {
    (left.day, left.instrument) < (right.day, right.instrument)
  }
}

/// A commit without duplicates: MERGE and ON CONFLICT refuse a batch that names a key twice. Of
/// two rows with one key the later one counts. Sorting by id happens once ids are known.
struct SortedCommit {
  var base: Commit
  /// Places in `base.quotes`: a row is a kilobyte, too much to copy a sweep of them about.
  var quotesToWrite: [Int] = []
  /// Set where the rows come from no journal entry of the daemon's: the position stays as it is.
  var history: History?

  struct History {
    var chunk: HistoryCommit.Chunk?
  }

  init(_ commit: Commit, history: History? = nil) {
    self.history = history
    base = commit
    base.quotes = commit.quotes.lastOfEach(\.series)
  }

  /// Whether there is nothing to write.
  var isEmpty: Bool {
    quotesToWrite.isEmpty && base.isEmptyButForQuotes && !base.storesPosition
  }
}

extension Array {
  /// The last element of each key, in order of first appearance. Copies nothing if no key repeats.
  func lastOfEach<Key: Hashable>(_ key: (Element) -> Key) -> [Element] {
    var places: [Key: Int] = [:]
    places.reserveCapacity(count)
    var kept: [Element]?
    for (index, element) in enumerated() {
      let key = key(element)
      if let place = places[key] {
        if kept == nil { kept = Array(self[..<index]) }
        kept?[place] = element
      } else {
        places[key] = kept?.count ?? index
        kept?.append(element)
      }
    }
    return kept ?? self
  }
}

extension Timestamp {
  /// The calendar day in UTC, by which `candle` is partitioned.
  var utcDay: TradingDay { MarketZone.utc.day(at: self) }
}
