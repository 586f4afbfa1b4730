/// Dates and moments as RFC 3339 writes them, `2026-09-03T13:30:00Z`, read from bytes and texts.

extension Timestamp {
  /// Reads a date, `T`, a time with up to nine fraction digits, and `Z` or an offset. Digits below
  /// the microsecond are dropped. nil for anything else.
  package init?(rfc3339 text: UnsafeRawBufferPointer) {
    guard text.count >= 20, text[10] | 0x20 == UInt8(ascii: "t"),
      let day = TradingDay(ascii: UnsafeRawBufferPointer(rebasing: text[..<10])),
      text[13] == UInt8(ascii: ":"), text[16] == UInt8(ascii: ":"),
      let hour = text.number(from: 11, to: 13), let minute = text.number(from: 14, to: 16),
      let second = text.number(from: 17, to: 19), hour < 24, minute < 60, second < 60,
      let (fraction, zoneStart) = Timestamp.fraction(text, from: 19),
      let offset = Timestamp.offsetSeconds(UnsafeRawBufferPointer(rebasing: text[zoneStart...]))
    else { return nil }
    let seconds = Int64(day.daysSince1970) * 86_400 + Int64(hour * 3600 + minute * 60 + second)
    self.init(microseconds: (seconds - offset) * 1_000_000 + fraction)
  }

  /// Reads the whole of `text`, as `init(rfc3339:)` does its bytes.
  package init?(rfc3339 text: some StringProtocol) {
    var copy = String(text)
    // What people write is taken exactly or not at all.
    if let point = copy.utf8.firstIndex(of: UInt8(ascii: ".")),
      copy.utf8[point...].dropFirst().prefix(while: { (48...57).contains($0) }).count > 6
    {
      return nil
    }
    guard let moment = copy.withUTF8({ Timestamp(rfc3339: UnsafeRawBufferPointer($0)) }) else {
      return nil
    }
    self = moment
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
      text[0] == UInt8(ascii: "+") || text[0] == UInt8(ascii: "-"),
      let hours = text.number(from: 1, to: 3), let minutes = text.number(from: 4, to: 6),
      hours < 24, minutes < 60
    else { return nil }
    let seconds = Int64(hours * 3600 + minutes * 60)
    return text[0] == UInt8(ascii: "-") ? -seconds : seconds
  }
}

extension TradingDay {
  /// Reads exactly `YYYY-MM-DD`, with whatever separator.
  package init?(ascii text: UnsafeRawBufferPointer, separator: UInt8 = UInt8(ascii: "-")) {
    guard text.count == 10, text[4] == separator, text[7] == separator,
      let year = text.number(from: 0, to: 4), let month = text.number(from: 5, to: 7),
      let day = text.number(from: 8, to: 10)
    else { return nil }
    self.init(year: year, month: month, day: day)
  }
}

extension UnsafeRawBufferPointer {
  /// The number that the bytes of these offsets make; nil unless they are one to nine digits.
  package func number(from start: Int, to end: Int) -> Int? {
    guard end <= count, (1...9).contains(end - start) else { return nil }
    var number = 0
    for offset in start..<end {
      guard (48...57).contains(self[offset]) else { return nil }
      number = number * 10 + Int(self[offset] - 48)
    }
    return number
  }
}
