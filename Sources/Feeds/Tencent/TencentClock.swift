/// The stamp of a line, `YYYYMMDDhhmmss` in Shanghai: when it was refreshed, not when anything
/// traded (docs/sources/tencent.md#states). An answer carries one or two dates, so the last one is
/// remembered.

import Market

struct TencentClock {
  private var dateBytes: UInt64?
  private var day = TradingDay(daysSince1970: 0)

  private static let stampBytes = 14

  /// nil unless `text` is a stamp of a day that exists.
  mutating func moment(_ text: UnsafeRawBufferPointer) -> (day: TradingDay, second: Int32)? {
    guard text.count == TencentClock.stampBytes, let base = text.baseAddress,
      let hour = text.slice(8, to: 10).wholeNumber, let minute = text.slice(10, to: 12).wholeNumber,
      let second = text.slice(12, to: 14).wholeNumber, hour < 24, minute < 60, second < 60
    else { return nil }
    let bytes = Swar.load(base)
    if bytes != dateBytes {
      guard let year = text.slice(0, to: 4).wholeNumber,
        let month = text.slice(4, to: 6).wholeNumber, let day = text.slice(6, to: 8).wholeNumber,
        let parsed = TradingDay(year: year, month: month, day: day)
      else { return nil }
      (dateBytes, self.day) = (bytes, parsed)
    }
    return (day, Int32(hour * 3600 + minute * 60 + second))
  }
}
