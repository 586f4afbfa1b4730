import Feeds
import Logging
import Market

/// What was learnt of a day beyond what its calendar said, for the log.
enum DayFinding: Sendable, Hashable {
  /// A calendar says otherwise of a known day that is not over.
  case withdrawn(TradingDay, of: Exchange)
  case added(TradingDay)
  /// A calendar says otherwise of a day that was observed: the observation stands.
  case contradicted(TradingDay)
  /// A calendar says otherwise of too many days: they stand.
  case calendarRefused(Exchange)
  /// Most rows of a response are of that day.
  case opened(TradingDay)
  /// In session every source keeps an earlier date.
  case closed(TradingDay, keeps: TradingDay)
  /// So it was to the end of the day …
  case observedClosed(TradingDay)
  /// … or it is not known.
  case unproven(TradingDay)
  /// A source keeps an earlier date while another has rows of today.
  case stale(Source, keeps: TradingDay)
  /// No source has rows that are newer.
  case standsStill(since: Timestamp)
  case moves(since: Timestamp)

  fileprivate var level: Logger.Level {
    switch self {
    case .withdrawn, .added, .opened, .closed, .observedClosed, .moves: .notice
    case .unproven, .stale, .standsStill: .warning
    case .contradicted, .calendarRefused: .critical
    }
  }

  fileprivate var sentence: String {
    switch self {
    case .withdrawn(let day, let exchange):
      "the trading calendar of \(exchange.title) withdrew \(day): it is closed then"
    case .added(let day): "the trading calendar added \(day): the exchanges trade then"
    case .contradicted(let day):
      "the trading calendar contradicts what was observed on \(day): the observation stands"
    case .calendarRefused(let exchange):
      "the trading calendar of \(exchange.title) contradicts too many known days, and none of them "
        + "is changed: check the source"
    case .opened(let day): "the exchanges trade on \(day), which was not known: it is recorded"
    case .closed(let day, let keeps):
      "the exchanges are closed on \(day), which no calendar said: every source keeps rows of "
        + "\(keeps), and one batch a minute is requested of each"
    case .observedClosed(let day): "the exchanges were closed on \(day): it is no trading day"
    case .unproven(let day):
      "nothing proves that the exchanges were closed on \(day) to the end: it counts as the "
        + "calendar has it"
    case .stale(let source, let keeps):
      "\(source.name) keeps rows of \(keeps), and another source has rows of today"
    case .standsStill(let since):
      "the exchange stands still: no source has a row newer than \(since)"
    case .moves(let since): "the exchange moves again, it stood still since \(since)"
    }
  }
}

extension [DayFinding] {
  func log(to log: Logger) {
    for finding in self { log.log(level: finding.level, "\(finding.sentence)") }
  }
}

extension Exchange {
  /// For people.
  fileprivate var title: String { self == .unitedStates ? "New York" : "Shanghai" }
}
