/// Moments as RFC 3339 writes them, `2026-09-03T13:30:00Z`: what Alpaca sends and is asked with.

import Market

extension Timestamp {
  /// The moment in UTC, with as many fraction digits as needed.
  var utcText: String {
    // Shanghai's clock eight hours earlier shows what UTC's shows now.
    String(adding(seconds: -Shanghai.offsetSeconds).description.dropLast(6)) + "Z"
  }

  /// Reads a date, `T`, a time with up to nine fraction digits, and `Z` or an offset. Digits below
  /// the microsecond are dropped. nil for anything else.
  init?(rfc3339 text: UnsafeRawBufferPointer) {
    guard text.count >= 20, text[10] | 0x20 == UInt8(ascii: "t"),
      let day = TradingDay(ascii: text.slice(0, to: 10)),
      let second = Timestamp.secondOfDay(text.slice(11, to: 19)),
      let (fraction, zoneStart) = Timestamp.fraction(text, from: 19),
      let offset = Timestamp.offsetSeconds(text.slice(zoneStart, to: text.count))
    else { return nil }
    let seconds = Int64(day.daysSince1970) * Shanghai.secondsPerDay + second - offset
    self.init(microseconds: seconds * 1_000_000 + fraction)
  }

  /// `13:30:00`.
  private static func secondOfDay(_ text: UnsafeRawBufferPointer) -> Int64? {
    guard text[2] == UInt8(ascii: ":"), text[5] == UInt8(ascii: ":"),
      let hour = text.slice(0, to: 2).wholeNumber, let minute = text.slice(3, to: 5).wholeNumber,
      let second = text.slice(6, to: 8).wholeNumber, hour < 24, minute < 60, second < 60
    else { return nil }
    return Int64(hour * 3600 + minute * 60 + second)
  }

  /// The microseconds behind a point, if there is one, and where the zone begins.
  private static func fraction(
    _ text: UnsafeRawBufferPointer, from start: Int
  ) -> (microseconds: Int64, zoneStart: Int)? {
    guard text[start] == UInt8(ascii: ".") else { return (0, start) }
    var end = start + 1
    var microseconds: Int64 = 0
    while end < text.count, (48...57).contains(text[end]) {
      if end - start <= 6 { microseconds = microseconds * 10 + Int64(text[end] - 48) }
      end += 1
    }
    let digits = end - start - 1
    guard (1...9).contains(digits) else { return nil }
    for _ in digits..<max(digits, 6) { microseconds *= 10 }
    return (microseconds, end)
  }

  /// `Z`, `-04:00`.
  private static func offsetSeconds(_ text: UnsafeRawBufferPointer) -> Int64? {
    if text.count == 1, text[0] | 0x20 == UInt8(ascii: "z") { return 0 }
    guard text.count == 6, text[3] == UInt8(ascii: ":"),
      text[0] == UInt8(ascii: "+")
        || text[0] == UInt8(ascii: "-"), let hours = text.slice(1, to: 3).wholeNumber,
      let minutes = text.slice(4, to: 6).wholeNumber, hours < 24, minutes < 60
    else { return nil }
    let seconds = Int64(hours * 3600 + minutes * 60)
    return text[0] == UInt8(ascii: "-") ? -seconds : seconds
  }
}

extension TradingDay {
  /// Reads exactly `YYYY-MM-DD`.
  init?(ascii text: UnsafeRawBufferPointer) {
    guard text.count == 10, text[4] == UInt8(ascii: "-"), text[7] == UInt8(ascii: "-"),
      let year = text.slice(0, to: 4).wholeNumber, let month = text.slice(5, to: 7).wholeNumber,
      let day = text.slice(8, to: 10).wholeNumber
    else { return nil }
    self.init(year: year, month: month, day: day)
  }
}

extension UnsafeRawBufferPointer {
  /// The number that digits and nothing else make; nil beyond nine of them.
  var wholeNumber: Int? {
    guard (1...9).contains(count) else { return nil }
    var number = 0
    for byte in self {
      guard (48...57).contains(byte) else { return nil }
      number = number * 10 + Int(byte - 48)
    }
    return number
  }
}
