import Feeds
import Market
import Polling

/// What an engine reports: to the demo's view, the admin endpoint and the STATUS line.
package struct EngineReport: Sendable {
  /// The engine's time.
  package var now: Timestamp
  package var status: EngineStatus
  package var counters: PipelineCounters
  package var snapshots: [Snapshot] = []
  /// The last minute of each series of recorded bars, by symbol.
  package var latestBars: [Candle] = []
  package var sources: [SourceReport] = []
  package var isStopping = false
  package var backlog = Backlog()
  package var symbols = 0
  /// Symbols left out of their batches now.
  package var quarantined = 0
  /// The instruments in session without an accepted row for a minute of trading, by reason.
  package var silentInstruments: [String: Int] = [:]
  package static let silenceReasons =
    [SilenceMonitor.missing] + RejectionReason.allCases.map(\.rawValue)
  /// Live quotes come from a source that is not the preferred one.
  package var isOnFallback = false
  package var keys = Keys()
  package var calendar = CalendarOutlook()
  /// The last day whose evening is over has no certificate.
  package var isCertificateOverdue = false

  /// The source of the first market's live quotes that serves; nil where none are requested.
  package var quotes: SourceReport? { sources.first { $0.isQuotes && !$0.isStandby } }

  /// What is done on a weekday that the mainland's calendar does not contain, or that is closed
  /// against it; nil on others.
  package var calendarNotice: String? {
    if let kept = calendar.dateKept {
      return "closed, which no calendar said: every source keeps rows of \(kept)"
    }
    guard isDaySupposed else { return nil }
    let ended = now.shanghaiDay.advanced(by: calendar.daysLeft)
    return "waiting for the trading calendar, which ended on \(ended): today is recorded as a "
      + "trading day"
  }

  /// No host proves who it is any more: the clock or the authorities of this machine are at fault.
  package var areCertificatesRefused: Bool {
    guard let since = sources.compactMap(\.fault).filter(\.isOfCertificate).map(\.since).min()
    else { return false }
    return sources.allSatisfy { source in
      source.fault?.isOfCertificate != false && source.lastSuccessAt.map { $0 <= since } != false
    }
  }

  /// Whether today is a weekday of which neither the mainland's calendar nor the operator says
  /// anything.
  package var isDaySupposed: Bool { calendar.isTodaySupposed && symbols > 0 }

  /// What is on its way from the journal to the store.
  package struct Backlog: Sendable {
    /// Interpretation lags behind the journal: after a restart, or the store was away for long.
    package var isCatchingUp = false
    /// Entries appended, on the disk, and not interpreted yet.
    package var lastPosition = JournalPosition.start
    package var syncedPosition = JournalPosition.start
    package var entries: Int64 = 0
    /// Candles that wait for the store.
    package var pendingCandles = 0
    /// How long the commit under way has been, elapsed time; nil without one.
    package var commitWaitMicroseconds: Int64?
  }

  package struct Keys: Sendable {
    package var configured = 0
    package var parked: [KeyParking: Int] = [:]
  }

  /// How far the calendars reach; of the mainland exchanges where nothing else is stated.
  package struct CalendarOutlook: Sendable {
    package var daysLeft = 0
    /// The last day of New York's; nil where none is known.
    package var newYorkEnd: TradingDay?
    /// Today may trade, and is not declared to.
    package var isTodaySupposed = false
    /// When they next open; nil where the calendar does not reach so far.
    package var nextSession: Timestamp?
    /// The earlier date that every source keeps on a day that was to trade; nil on others.
    package var dateKept: TradingDay?
  }

  package struct Snapshot: Sendable {
    package var name: String
    package var quote: Quote
    package var forming: Candle?
  }
}

/// How one endpoint of a source is doing.
package struct SourceReport: Sendable {
  package var source: Source
  /// The endpoint as in `source_health`: `quotes`, `history`, `lists`, `bars`.
  package var endpoint: String
  /// Whether, of live quotes, another source of the same instruments serves.
  package var isStandby = false
  /// Since when it serves, of live quotes that may come from several sources.
  package var servingSince: Timestamp?
  /// nil before the first answer.
  package var state: SourceState?
  package var requests = 0
  package var failures = 0
  package var lastSuccessAt: Timestamp?
  /// Why it is not well; nil while it is.
  package var fault: SourceFault?
  /// Answers, by the outcome's name.
  package var outcomes: [String: Int] = [:]
  /// nil where nothing is published by the clock.
  package var freshness: Freshness?

  /// How far behind its exchange a source is. Only seconds in which it trades count.
  package struct Freshness: Sendable, Hashable {
    package var isInSession: Bool
    /// nil if nothing has been seen yet.
    package var stalenessSeconds: Int64?
    package var limitSeconds: Int64
    /// No calendar contains today, and a source that answers well has no row of it.
    package var mayBeClosed = false

    /// Whether it is not late; out of session there is nothing to be late for.
    package var isFresh: Bool {
      !isInSession || mayBeClosed || stalenessSeconds.map { $0 <= limitSeconds } ?? false
    }

    /// The reason why it may be late, for people.
    package var excuse: String {
      if !isInSession { return ", out of session" }
      return mayBeClosed ? ", no row of today: the market may be closed" : ""
    }
  }

  package var isQuotes: Bool { endpoint == "quotes" }

  /// The name for people: `sina quotes`.
  package var name: String { "\(source.name) \(endpoint)" }
}
