import Market

/// What `Queries` answers with.

/// How the database stands, at one moment.
public struct StoreStatus: Sendable {
  /// The last journal entry whose effects are stored.
  public var position: JournalPosition
  /// The daemon's clock at that entry; nil before the first commit.
  public var knownAt: Timestamp?
  public var epoch: Int64
  /// The change that came last.
  public var lastSeq: Int64
  public var lastCommitAt: Timestamp?
  /// Seconds since then, by the server's clock.
  public var lastCommitAge: ExactDecimal?
  public var instruments: Int64
  /// The day of the newest quote. The counts below are of it.
  public var tradingDay: TradingDay?
  public var quotes: Int64
  public var candles: Int64
  public var gaps: Int64
  public var rejections: Int64
  /// The newest day with certificates, how many it has, and how many of them do not balance.
  public var certifiedDay: TradingDay?
  public var certificates: Int64
  public var residuals: Int64
  public var databaseBytes: Int64
  /// Filled share of the server's notification queue, 0…1.
  public var notificationQueue: ExactDecimal
  public var health: [SourceHealthRow]
  /// Who leads, or did last; nil if nobody ever has.
  public var leader: StoredLeader?
}

/// A term of the lease.
public struct StoredLeader: Sendable, Hashable {
  public var term: Int64
  /// The identity of its journal.
  public var holder: String
  /// The machine.
  public var host: String
  public var acquiredAt: Timestamp
  /// `leads`, or `expired`: then anybody may.
  public var state: String
}

/// Which candles are wanted, as the parameters of the function `candles`.
public struct CandleQuery: Sendable {
  public var symbol: Symbol
  public var timeframe: Timeframe
  /// Opened then or later.
  public var from: Timestamp?
  /// Opened before then.
  public var to: Timestamp?
  public var fill = CandleFill.none
  public var adjust = PriceAdjustment.raw
  /// What was believed then; nil for what is believed now.
  public var asOf: Timestamp?
  /// Whose series, where the symbol has several.
  public var source: Source?
  /// How many at most, counted from the end; nil for all.
  public var newest: Int32?

  public init(_ symbol: Symbol, _ timeframe: Timeframe) {
    self.symbol = symbol
    self.timeframe = timeframe
  }
}

/// What stands where a day that has candles lacks one.
public enum CandleFill: String, Sendable, CaseIterable {
  case none
  /// A flat candle at the close before it, flagged `filled`.
  case flat
}

/// Which prices a candle shows (sina.md §4).
public enum PriceAdjustment: Sendable, Hashable {
  case raw
  /// Forward: divided by the factor of the day, so that the newest prices stand; or those of a day.
  case qfq(standsOn: TradingDay?)
  /// Backward: multiplied with the factor of the day, so that the first prices stand.
  case hfq

  /// `raw`, `qfq`, `qfq:2025-06-30`, `hfq`.
  public var text: String {
    switch self {
    case .raw: "raw"
    case .qfq(nil): "qfq"
    case .qfq(let day?): "qfq:\(day)"
    case .hfq: "hfq"
    }
  }

  public init?(text: String) {
    switch text {
    case "raw": self = .raw
    case "qfq": self = .qfq(standsOn: nil)
    case "hfq": self = .hfq
    default:
      guard text.hasPrefix("qfq:"), let day = TradingDay(String(text.dropFirst(4))) else {
        return nil
      }
      self = .qfq(standsOn: day)
    }
  }
}

/// A final candle as the function `candles` gives it.
public struct CandleRecord: Sendable, Hashable {
  public var openedAt: Timestamp
  public var closedAt: Timestamp
  public var tradingDay: TradingDay
  /// The prices; nil on days no adjustment factor is known for.
  public var open: ExactDecimal?
  public var high: ExactDecimal?
  public var low: ExactDecimal?
  public var close: ExactDecimal?
  public var volume: ExactDecimal
  public var turnover: ExactDecimal?
  public var trades: Int64?
  public var vwap: ExactDecimal?
  public var flags: CandleFlags
  public var revision: Int16
  /// When these values became known.
  public var knownFrom: Timestamp
  public var source: String
}

/// One thing known of a candle, as the function `why` tells it.
public struct CandleFact: Sendable, Hashable {
  /// `candle`, `rolled up`, `revision`, `change`, `gap`, `disagreement`, `certificate`, `nothing`.
  public var what: String
  public var at: Timestamp
  /// For people.
  public var detail: String
}

/// Where two sources, or two readings, could not be reconciled, with its codes as words.
public struct DisagreementRecord: Sendable, Hashable {
  public var symbol: Symbol
  public var timeframe: String
  public var openedAt: Timestamp
  public var tradingDay: TradingDay
  public var field: String
  public var ours: ExactDecimal?
  public var theirs: ExactDecimal?
  public var ourSource: String
  public var theirSource: String
  /// `open` or `resolved`.
  public var state: String
  public var knownFrom: Timestamp
}

/// A gap and what became of it.
public struct GapRecord: Sendable, Hashable {
  public var gap: Gap
  /// `open`, `closed` or `permanent`.
  public var state: String
  /// How often its minutes were looked for in vain.
  public var sightings: Int16
  public var permanentReason: String?
  public var knownFrom: Timestamp
}

/// A certificate, with the residuals as the database reckons them.
public struct CertificateRecord: Sendable, Hashable {
  public var certificate: DayCertificate
  public var residualVolume: ExactDecimal?
  public var residualTurnover: ExactDecimal?
  /// nil if the day's end was not seen.
  public var isBalanced: Bool?
  /// When bars were last held against the day; nil if never.
  public var repairedAt: Timestamp?
}

/// A series of an instrument, with its codes as words.
public struct InstrumentRecord: Sendable, Hashable {
  public var symbol: Symbol
  public var name: String?
  public var exchange: String?
  public var kind: String?
  public var board: String?
  public var source: String
  public var firstSeen: Timestamp
}

/// A refused row, without the moment it came: a repetition may have come first.
public struct RejectionRecord: Sendable, Hashable {
  public var source: Source
  public var symbol: String
  public var reason: String
  public var detail: String
  public var payload: [UInt8]
}
