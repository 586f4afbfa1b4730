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
  public var auditedDay: TradingDay?
  public var certificates: Int64
  public var residuals: Int64
  public var databaseBytes: Int64
  /// Filled share of the server's notification queue, 0…1.
  public var notificationQueue: ExactDecimal
  public var health: [SourceHealthRow]
}

/// A final candle as the function `candles` gives it.
public struct CandleRecord: Sendable, Hashable {
  public var openedAt: Timestamp
  public var closedAt: Timestamp
  public var tradingDay: TradingDay
  public var open: ExactDecimal
  public var high: ExactDecimal
  public var low: ExactDecimal
  public var close: ExactDecimal
  public var volume: ExactDecimal
  public var turnover: ExactDecimal?
  public var flags: CandleFlags
  public var revision: Int16
}

/// A certificate, with the residuals as the database reckons them.
public struct AuditRecord: Sendable, Hashable {
  public var audit: DayAudit
  public var residualVolume: ExactDecimal?
  public var residualTurnover: ExactDecimal?
  /// nil if the day's end was not seen.
  public var isBalanced: Bool?
}

/// An instrument, with its codes as words.
public struct InstrumentRecord: Sendable, Hashable {
  public var symbol: Symbol
  public var name: String?
  public var exchange: String?
  public var kind: String?
  public var board: String?
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
