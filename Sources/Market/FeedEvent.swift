/// Control events that travel in the change feed with the data they are about.
public enum FeedEvent: Sendable, Hashable {
  /// Every instrument has passed this minute. Expected = traded + untraded + missing.
  case minuteComplete(MinuteComplete)
  /// The source stopped proving itself alive, or does so again.
  case feedStalled(source: Source, since: Timestamp)
  case feedRecovered(source: Source, at: Timestamp)
  /// The certificates of a day were written.
  case dayComplete(day: TradingDay, instruments: Int, residuals: Int)
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
