/// Moments as this machine's clock has them, and as clients name them.

import Market
import Platform

extension Timestamp {
  /// By this machine's clock.
  package static var now: Timestamp { Timestamp(microseconds: SystemClock.realMicroseconds()) }

  /// What clients may name, in seconds: the years 2 to 9998, so that a day or an offset more is
  /// still in the calendar.
  static let namedSeconds: ClosedRange<Int64> = -62_104_060_800...253_370_764_799

  /// Reads RFC 3339 with an offset, or a date alone, which begins in `zone`; nil for anything else,
  /// and outside `namedSeconds`.
  init?(rfc3339 text: String, zone: MarketZone) {
    if let day = TradingDay(text) {
      self = zone.moment(on: day, secondOfDay: 0)
    } else {
      var text = Array(text.utf8)
      guard text.count > Self.offsetBytes + Self.dateBytes else { return nil }
      // A plus sign that was not encoded in a query arrives as a space.
      let offset = text.count - Self.offsetBytes
      if text[offset] == UInt8(ascii: " ") { text[offset] = UInt8(ascii: "+") }
      if text[Self.dateBytes] == UInt8(ascii: " ") { text[Self.dateBytes] = UInt8(ascii: "T") }
      // What is below a microsecond has as many digits as a client likes.
      if let point = text.firstIndex(of: UInt8(ascii: ".")) {
        let digits = text[point...].dropFirst().prefix { (48...57).contains($0) }
        text.removeSubrange(digits.dropFirst(Self.digitsMax).indices)
      }
      guard let moment = text.withUnsafeBytes({ Timestamp(rfc3339: $0) }) else { return nil }
      self = moment
    }
    guard Self.namedSeconds.contains(seconds) else { return nil }
  }

  private static let dateBytes = 10
  private static let offsetBytes = 6
  private static let digitsMax = 6
}
