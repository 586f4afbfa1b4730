/// Dates and times of a full line, read as words.
///
/// A sweep carries one or two dates, so a date is parsed once and recognised from then on.

import Market

struct SinaDateCache {
  private var firstBytes: UInt64 = 0
  private var lastBytes: UInt16 = 0
  private var day = TradingDay(daysSince1970: 0)

  static let dateBytes = 10  // YYYY-MM-DD

  /// The day that the ten bytes at `text` name; nil if they name none.
  @inline(__always)
  mutating func day(at text: UnsafeRawPointer) -> TradingDay? {
    let first = Swar.load(text)
    let last = UInt16(littleEndian: (text + 8).loadUnaligned(as: UInt16.self))
    if first == firstBytes, last == lastBytes { return day }
    return learn(text, first: first, last: last)
  }

  @inline(never)
  private mutating func learn(
    _ text: UnsafeRawPointer, first: UInt64, last: UInt16
  ) -> TradingDay? {
    let bytes = UnsafeRawBufferPointer(start: text, count: SinaDateCache.dateBytes)
    guard let parsed = TradingDay(ascii: bytes) else { return nil }
    (firstBytes, lastBytes, day) = (first, last, parsed)
    return parsed
  }
}

enum SinaClock {
  static let timeBytes = 8  // HH:MM:SS

  /// Seconds since midnight of the eight bytes `HH:MM:SS` in `word`; nil if they are no time.
  @inline(__always)
  static func secondOfDay(_ word: UInt64) -> Int32? {
    let digits = word ^ 0x3030_3A30_303A_3030
    // A digit may be 0…9, what was a colon must be 0.
    let faults = (digits &+ 0x7676_7F76_767F_7676) | digits
    let hour = Int32(truncatingIfNeeded: (digits & 0xF) &* 10 &+ (digits &>> 8 & 0xF))
    let minute = Int32(truncatingIfNeeded: (digits &>> 24 & 0xF) &* 10 &+ (digits &>> 32 & 0xF))
    let second = Int32(truncatingIfNeeded: (digits &>> 48 & 0xF) &* 10 &+ (digits &>> 56))
    guard faults & Swar.tops == 0, hour < 24, minute < 60, second < 60 else { return nil }
    return hour &* 3600 &+ minute &* 60 &+ second
  }

  /// `HH:MM:SS` or `HH:MM`.
  static func secondOfDay(_ text: UnsafeRawBufferPointer) -> Int32? {
    guard text.count == timeBytes || text.count == 5 else { return nil }
    var word: UInt64 = 0x3030_3A00_0000_0000  // ":00" where no seconds are
    withUnsafeMutableBytes(of: &word) { $0.copyMemory(from: text) }
    return secondOfDay(UInt64(littleEndian: word))
  }
}
