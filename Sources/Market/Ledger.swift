/// The records that make a day's account add up: what passed unseen, what was corrected, what was
/// refused, and the certificate at the end.

/// Trading that passed while nobody looked: volume that belongs to the day but to no minute.
public struct Gap: Sendable, Hashable {
  public var symbol: Symbol
  public var tradingDay: TradingDay
  /// The last moment the feed was proven alive, and the first one after.
  public var from: Timestamp
  public var to: Timestamp
  public var volume: ExactDecimal
  public var turnover: ExactDecimal
  public var cause: GapCause
  /// Of the series.
  public var source: Source

  public init(
    symbol: Symbol, tradingDay: TradingDay, from: Timestamp, to: Timestamp,
    volume: ExactDecimal, turnover: ExactDecimal, cause: GapCause, source: Source = .live
  ) {
    self.symbol = symbol
    self.tradingDay = tradingDay
    self.from = from
    self.to = to
    self.volume = volume
    self.turnover = turnover
    self.cause = cause
    self.source = source
  }
}

public enum GapCause: Int16, Sendable, CaseIterable {
  /// Observation began after the open.
  case lateStart = 1
  /// No usable answer for longer than a snapshot may straddle a minute.
  case outage = 2
  /// Volume stamped into a minute that had long been final.
  case latePrint = 3
  /// The day's end was never seen: how much passed is unknown, the volume stands at zero.
  case unseenClose = 4
  /// Two contradicting readings were served in turn, and neither was booked.
  case dispute = 5
  /// Volume that was taken back, and that no minute still held in memory accounts for: the only
  /// cause whose volume and turnover may be negative.
  case correction = 6

  public var name: String {
    switch self {
    case .unseenClose: "unseen_close"
    case .lateStart: "late_start"
    case .outage: "outage"
    case .latePrint: "late_print"
    case .dispute: "dispute"
    case .correction: "correction"
    }
  }
}

/// A final candle that changed, with the reason; the store keeps what it was before.
public struct Revision: Sendable, Hashable {
  public var candle: Candle
  public var cause: RevisionCause

  public init(candle: Candle, cause: RevisionCause) {
    self.candle = candle
    self.cause = cause
  }
}

public enum RevisionCause: Int16, Sendable, CaseIterable {
  /// A print stamped into the minute arrived after its grace period.
  case latePrint = 1
  /// Its source, asked again, gave other values.
  case sourceCorrected = 2
  /// The source's own minute bars of the day, where they add up and ours lacked something.
  case kline = 3
  /// A row that was booked turned out to be false, or the exchange took volume back.
  case correction = 4

  public var name: String {
    switch self {
    case .latePrint: "late_print"
    case .sourceCorrected: "source_corrected"
    case .kline: "kline"
    case .correction: "correction"
    }
  }
}

/// The conservation certificate of one instrument and day:
/// Σ minute volume + Σ gap volume = the exchange's day volume, and the same for turnover.
public struct DayCertificate: Sendable, Hashable {
  public var symbol: Symbol
  public var tradingDay: TradingDay
  /// The exchange's own day totals; nil when the end of the day was never seen.
  public var exchangeVolume: ExactDecimal?
  public var exchangeTurnover: ExactDecimal?
  public var minuteVolume: ExactDecimal
  public var minuteTurnover: ExactDecimal
  public var gapVolume: ExactDecimal
  public var gapTurnover: ExactDecimal
  public var afterHours: AfterHours
  /// Of the day's minutes.
  public var minutesTraded: Int16
  public var minutesUntraded: Int16
  public var minutesMissing: Int16
  /// The day's last totals came from a source that rounds them: they are lower bounds until a bar
  /// of the day or an exact total settles them.
  public var isCoarse: Bool
  /// nil where no row of the day was seen.
  public var reference: DayReference?
  /// Of the series.
  public var source: Source

  public init(
    symbol: Symbol, tradingDay: TradingDay, exchangeVolume: ExactDecimal?,
    exchangeTurnover: ExactDecimal?, minuteVolume: ExactDecimal, minuteTurnover: ExactDecimal,
    gapVolume: ExactDecimal, gapTurnover: ExactDecimal, afterHoursVolume: ExactDecimal,
    afterHoursTurnover: ExactDecimal, minutesTraded: Int16, minutesUntraded: Int16,
    minutesMissing: Int16, isCoarse: Bool = false, reference: DayReference? = nil,
    source: Source = .live
  ) {
    self.symbol = symbol
    self.tradingDay = tradingDay
    self.exchangeVolume = exchangeVolume
    self.exchangeTurnover = exchangeTurnover
    self.minuteVolume = minuteVolume
    self.minuteTurnover = minuteTurnover
    self.gapVolume = gapVolume
    self.gapTurnover = gapTurnover
    afterHours = AfterHours(volume: afterHoursVolume, turnover: afterHoursTurnover)
    self.minutesTraded = minutesTraded
    self.minutesUntraded = minutesUntraded
    self.minutesMissing = minutesMissing
    self.isCoarse = isCoarse
    self.reference = reference
    self.source = source
  }

  public var afterHoursVolume: ExactDecimal { afterHours.volume }
  public var afterHoursTurnover: ExactDecimal { afterHours.turnover }

  /// Exchange volume less minutes less gaps: zero, or candled has a bug. nil without a day's end.
  public var residualVolume: ExactDecimal? {
    exchangeVolume.flatMap { try? $0 - minuteVolume - gapVolume }
  }

  /// The same for money.
  public var residualTurnover: ExactDecimal? {
    exchangeTurnover.flatMap { try? $0 - minuteTurnover - gapTurnover }
  }

  /// Both residuals are known and zero.
  public var isBalanced: Bool { residualVolume?.isZero == true && residualTurnover?.isZero == true }
}

/// What the exchange says of a day before anything trades: it proves each adjustment factor, or
/// replaces it, when no file has it any more.
public struct DayReference: Sendable, Hashable {
  /// Adjusted on an ex-day.
  public var previousClose: ExactDecimal
  /// As the source stated them.
  public var limits: StatedLimits
  /// Whose row it is.
  public var source: Source

  public init(previousClose: ExactDecimal, limits: StatedLimits, source: Source) {
    self.previousClose = previousClose
    self.limits = limits
    self.source = source
  }
}

/// A row of a response that was refused; its neighbours were kept.
public struct Rejection: Sendable, Hashable {
  public var source: Source
  public var receivedAt: Timestamp
  /// As far as it could be read.
  public var symbol: Symbol?
  public var reason: RejectionReason
  /// The field and what was expected, for people: `high 9.10 below low 9.20`.
  public var detail: String
  /// The row as it came, cut at `payloadBytesMax`.
  public var payload: [UInt8]

  public static let payloadBytesMax = 1024

  public init(
    source: Source, receivedAt: Timestamp, symbol: Symbol?, reason: RejectionReason,
    detail: String, payload: [UInt8]
  ) {
    self.source = source
    self.receivedAt = receivedAt
    self.symbol = symbol
    self.reason = reason
    self.detail = detail
    self.payload = Array(payload.prefix(Rejection.payloadBytesMax))
  }
}

/// The classes of bad rows. The name is the metric label and the column value.
public enum RejectionReason: String, Sendable, CaseIterable {
  /// Not a line of the format, or cut off inside.
  case malformed
  /// A field that is no number where one belongs, NaN and overflow included.
  case notANumber = "not_a_number"
  case negative
  /// high < low, last outside [low, high], turnover that no price explains.
  case inconsistent
  /// A price or volume that jumped beyond what the market allows.
  case implausible
  /// Stamped later than it was received.
  case futureStamp = "future_stamp"
  /// Older than what is known: a node of the source that lags. Routine, no evidence of anything.
  case lagging
  /// Newer than what is known, but with less volume or turnover, a lower high or a higher low.
  case backwardStamp = "backward_stamp"
  /// A price outside the day's legal band.
  case outsideBand = "outside_band"
  /// A date on which the exchange does not trade.
  case notATradingDay = "not_a_trading_day"
  /// Asked for, and the source does not know it.
  case unknownSymbol = "unknown_symbol"
  /// Never asked for.
  case unrequested
  /// A second line for the same symbol in one response.
  case duplicate
  /// The database would not have it; everything else of its commit is stored.
  case refusedByStore = "refused_by_store"
}
