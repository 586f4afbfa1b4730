import Commits
import Market

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
  let origin: CommitOrigin
  /// The daemon's clock.
  let knownAt: Timestamp
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

  var isHistory: Bool { origin.isHistory }

  /// Some key may be stored already: equal rows must be told from different ones.
  var stagesCandles: Bool { strategy.stagesCandles || strategy.isolatesRows }
}

/// The rows that a change names.
struct ChangedKeys {
  var candles: [CandleKey] = []
  var revisions: [CandleKey] = []
  var gaps: [Int64] = []
  var closedGaps: [Int64] = []
  var certificates: [DayKey] = []
  /// Instruments; no followers' business, but that of ranges.
  var factors: [Int32] = []
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

/// Where the rows of a commit come from.
enum CommitOrigin {
  case journal
  /// No journal entry of the daemon's: the position stays as it is.
  case history(HistoryCommit.Chunk?)

  var isHistory: Bool { if case .history = self { true } else { false } }
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
