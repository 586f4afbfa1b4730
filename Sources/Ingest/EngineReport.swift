import Feeds
import Journal
import Market
import Polling

/// What an engine tells of itself: to the demo's view, the admin endpoint and the STATUS line.
public struct EngineReport: Sendable {
  /// The engine's time.
  public var now: Timestamp
  public var status: EngineStatus
  public var counters: PipelineCounters
  public var snapshots: [Snapshot]
  /// The last minute of each American series, by symbol.
  public var usEquities: [Candle]
  public var sources: [SourceReport] = []
  public var isStopping = false
  /// Interpretation lags behind the journal: after a restart, or the store was away for long.
  public var isCatchingUp = false
  /// Entries appended, on the disk, and not interpreted yet.
  public var lastPosition = JournalPosition.start
  public var syncedPosition = JournalPosition.start
  public var backlogEntries: Int64 = 0
  /// Candles that wait for the store.
  public var pendingCandles = 0
  /// How long the commit under way has been, elapsed time; nil without one.
  public var commitWaitMicroseconds: Int64?
  public var symbols = 0
  /// In session without an accepted row for a minute of trading, by reason.
  public var silentInstruments: [String: Int] = [:]
  public static let silenceReasons =
    [SilenceMonitor.missing] + RejectionReason.allCases.map(\.rawValue)
  public var keys = 0
  public var keysParked: [KeyParking: Int] = [:]
  public var calendarDaysLeft = 0
  /// When the mainland exchanges next open; nil where the calendar does not reach so far.
  public var nextSession: Timestamp?
  /// The last day whose evening is over has no certificate.
  public var isCertificateOverdue = false

  /// Nobody knows whether the mainland trades on this weekday: what is to be polled is not.
  public var isTodayUnknown: Bool {
    calendarDaysLeft < 0 && symbols > 0 && !now.shanghaiDay.isWeekend
  }

  public struct Snapshot: Sendable {
    public var name: String
    public var quote: Quote
    public var forming: Candle?
  }

  public init(now: Timestamp, status: EngineStatus, counters: PipelineCounters) {
    self.now = now
    self.status = status
    self.counters = counters
    snapshots = []
    usEquities = []
  }
}

/// How one endpoint of a source is doing.
public struct SourceReport: Sendable {
  public var source: Source
  /// As in `source_health`: `quotes`, `history`, `lists`, `bars`.
  public var endpoint: String
  /// nil before the first answer.
  public var state: SourceState?
  public var requests = 0
  public var failures = 0
  public var lastSuccessAt: Timestamp?
  /// Why it is not well; nil while it is.
  public var fault: SourceFault?
  /// Answers, by the outcome's name.
  public var outcomes: [String: Int] = [:]
  /// nil where nothing is published by the clock.
  public var freshness: Freshness?

  /// How far behind its exchange a source is. Only seconds in which it trades count.
  public struct Freshness: Sendable, Hashable {
    public var isInSession: Bool
    /// nil if nothing has been seen yet.
    public var stalenessSeconds: Int64?
    public var limitSeconds: Int64

    /// Out of session there is nothing to be late for.
    public var isFresh: Bool {
      !isInSession || stalenessSeconds.map { $0 <= limitSeconds } ?? false
    }

    public init(isInSession: Bool, stalenessSeconds: Int64?, limitSeconds: Int64) {
      self.isInSession = isInSession
      self.stalenessSeconds = stalenessSeconds
      self.limitSeconds = limitSeconds
    }
  }

  public init(source: Source, endpoint: String) {
    self.source = source
    self.endpoint = endpoint
  }

  /// For people: `sina quotes`.
  public var name: String { "\(source.name) \(endpoint)" }
}
