/// A moment, in microseconds since 1970-01-01 UTC: the resolution PostgreSQL keeps.
public struct Timestamp: Sendable, Hashable, Comparable {
  public let microseconds: Int64

  @inlinable
  public init(microseconds: Int64) { self.microseconds = microseconds }

  @inlinable
  public init(seconds: Int64) { self.init(microseconds: seconds * 1_000_000) }

  /// Whole seconds since 1970, rounded down.
  @inlinable
  public var seconds: Int64 { microseconds.flooredQuotient(1_000_000) }

  public static func < (left: Timestamp, right: Timestamp) -> Bool {
    left.microseconds < right.microseconds
  }

  public func adding(seconds: Int64) -> Timestamp {
    Timestamp(microseconds: microseconds + seconds * 1_000_000)
  }

  public func adding(milliseconds: Int64) -> Timestamp {
    Timestamp(microseconds: microseconds + milliseconds * 1_000)
  }

  /// Microseconds from `other` to this moment.
  public func microseconds(since other: Timestamp) -> Int64 {
    microseconds - other.microseconds
  }
}

/// Shanghai keeps UTC+8 all year: its last daylight saving ended in September 1991.
extension Timestamp {
  /// The moment a Shanghai wall clock showed `secondOfDay` on `day`.
  public init(day: TradingDay, secondOfDay: Int) {
    self = LocalClock.mainlandChina.moment(on: day, secondOfDay: secondOfDay)
  }

  /// The calendar day on a Shanghai wall clock.
  public var shanghaiDay: TradingDay { LocalClock.mainlandChina.day(at: self) }

  /// Seconds since Shanghai midnight, 0…86399.
  public var shanghaiSecondOfDay: Int { LocalClock.mainlandChina.secondOfDay(at: self) }
}

extension Timestamp: CustomStringConvertible {
  /// RFC 3339 in Shanghai time, with as many fraction digits as needed:
  /// `2026-07-06T09:31:00+08:00`.
  public var description: String { MarketZone.shanghai.text(of: self) }
}

/// Seconds since midnight as a wall clock shows them.
package enum ClockText {
  /// `09:31`
  package static func minute(_ secondOfDay: Int) -> String {
    twoDigits(secondOfDay / 3600) + ":" + twoDigits(secondOfDay / 60 % 60)
  }

  /// `09:31:05`
  package static func second(_ secondOfDay: Int) -> String {
    minute(secondOfDay) + ":" + twoDigits(secondOfDay % 60)
  }
}

func twoDigits(_ number: Int) -> String { number < 10 ? "0\(number)" : String(number) }

extension Int64 {
  /// Division that rounds towards minus infinity, so that times before 1970 keep their day.
  @inlinable
  package func flooredQuotient(_ divisor: Int64) -> Int64 {
    let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? quotient - 1 : quotient
  }
}
