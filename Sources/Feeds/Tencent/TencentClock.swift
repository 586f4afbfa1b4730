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
      let hour = text.number(from: 8, to: 10), let minute = text.number(from: 10, to: 12),
      let second = text.number(from: 12, to: 14), hour < 24, minute < 60, second < 60
    else { return nil }
    let bytes = Swar.load(base)
    if bytes != dateBytes {
      guard let year = text.number(from: 0, to: 4), let month = text.number(from: 4, to: 6),
        let day = text.number(from: 6, to: 8),
        let parsed = TradingDay(year: year, month: month, day: day)
      else { return nil }
      (dateBytes, self.day) = (bytes, parsed)
    }
    return (day, Int32(hour * 3600 + minute * 60 + second))
  }
}
