/// Control events that travel in the change feed with the data they are about.
public enum FeedEvent: Sendable, Hashable {
  /// Every instrument has passed this minute. Expected = traded + untraded + missing.
  case minuteComplete(MinuteComplete)
  /// The source, by its name, stopped proving itself alive, or does so again.
  case feedStalled(source: String, since: Timestamp)
  case feedRecovered(source: String, at: Timestamp)
  /// The certificates of a day were written.
  case dayComplete(day: TradingDay, instruments: Int, residuals: Int)
  /// So many instruments have another code from that day on; `instrument_link` has which.
  case codesChanged(day: TradingDay, count: Int)
  /// Rows of one instrument contradicted each other.
  case dispute(DisputeEvent)
}

/// What came of rows of one instrument that contradicted each other: rule 2a of
/// docs/candle-rules.md.
public struct DisputeEvent: Sendable, Hashable {
  /// The raw value is the event's name in the change feed.
  public enum Kind: String, Sendable, CaseIterable {
    /// A booked row was false, or the exchange took volume back: what it booked was taken out.
    case corrected = "rows_corrected"
    /// The readings a correction had replaced came back: it was undone.
    case undone = "correction_undone"
    /// Two readings are served in turn: neither is booked until one of them ends.
    case disputed
    /// One of them ended.
    case settled = "dispute_settled"
    /// Prices outside the legal band were confirmed, so the band is not known for this day.
    case bandUnknown = "band_unknown"

    /// For the log.
    public var sentence: String {
      switch self {
      case .corrected:
        "a false row, or volume taken back by the exchange: what was booked is corrected"
      case .undone: "the corrected readings returned: the correction is undone"
      case .disputed: "the source sends two contradicting readings in turn: neither is booked"
      case .settled: "one of two contradicting readings ended: the other is booked"
      case .bandUnknown: "prices outside the legal band were confirmed by trading"
      }
    }
  }

  public var kind: Kind
  public var symbol: Symbol
  public var tradingDay: TradingDay
  /// The stamp of the row that decided it.
  public var at: Timestamp

  public init(kind: Kind, symbol: Symbol, tradingDay: TradingDay, at: Timestamp) {
    self.kind = kind
    self.symbol = symbol
    self.tradingDay = tradingDay
    self.at = at
  }
}

public struct MinuteComplete: Sendable, Hashable {
  public var tradingDay: TradingDay
  public var openedAt: Timestamp
  public var expected: Int
  public var traded: Int
  public var untraded: Int
  public var missing: Int

  public init(
    tradingDay: TradingDay, openedAt: Timestamp, expected: Int, traded: Int, untraded: Int,
    missing: Int
  ) {
    self.tradingDay = tradingDay
    self.openedAt = openedAt
    self.expected = expected
    self.traded = traded
    self.untraded = untraded
    self.missing = missing
  }
}

/// A place in the journal: the number of an entry, counted from 1 over the journal's whole life.
/// 0 is before the first.
public struct JournalPosition: Sendable, Hashable, Comparable {
  public let sequence: Int64

  public init(_ sequence: Int64) { self.sequence = sequence }

  public static let start = JournalPosition(0)

  public static func < (left: JournalPosition, right: JournalPosition) -> Bool {
    left.sequence < right.sequence
  }
}
