/// Moments as an exchange's clock shows them: RFC 3339 with its offset.

import Market
import Platform

extension MarketZone {
  /// `2026-07-06T09:31:00+08:00`, with as many places of a second as needed.
  package func text(of moment: Timestamp) -> String {
    String(unsafeUninitializedCapacity: Self.momentBytesMax) { buffer in
      write(moment, to: UnsafeMutableRawBufferPointer(buffer))
    }
  }

  /// The longest decimal is shorter; the year of the last day that there is has seven digits.
  static let momentBytesMax = 48

  /// Writes `text(of:)` and returns how many bytes it is; `momentBytesMax` always suffice.
  func write(_ moment: Timestamp, to buffer: UnsafeMutableRawBufferPointer) -> Int {
    let (day, second) = wallClock(at: moment)
    let local = Int64(day.daysSince1970) * 86_400 + Int64(second)
    let offsetMinutes = Int((local - moment.seconds) / 60)
    var text = ClockText(buffer)
    text.append(day)
    text.append("T")
    text.append(second / 3600, digits: 2)
    text.append(":")
    text.append(second / 60 % 60, digits: 2)
    text.append(":")
    text.append(second % 60, digits: 2)
    text.append(fraction: Int(moment.microseconds - moment.seconds * 1_000_000))
    text.append(offsetMinutes < 0 ? "-" : "+")
    text.append(abs(offsetMinutes) / 60, digits: 2)
    text.append(":")
    text.append(abs(offsetMinutes) % 60, digits: 2)
    return text.count
  }
}

extension TradingDay {
  /// Writes `2026-07-06` and returns how many bytes it is; `momentBytesMax` always suffice.
  func write(to buffer: UnsafeMutableRawBufferPointer) -> Int {
    var text = ClockText(buffer)
    text.append(self)
    return text.count
  }
}

/// Digits and what stands between them, in memory that is there already.
private struct ClockText {
  private let buffer: UnsafeMutableRawBufferPointer
  private(set) var count = 0

  init(_ buffer: UnsafeMutableRawBufferPointer) { self.buffer = buffer }

  mutating func append(_ character: Unicode.Scalar) {
    buffer[count] = UInt8(ascii: character)
    count += 1
  }

  mutating func append(_ number: Int, digits: Int) {
    var rest = number
    for place in (count..<count + digits).reversed() {
      buffer[place] = UInt8(ascii: "0") + UInt8(rest % 10)
      rest /= 10
    }
    count += digits
  }

  mutating func append(_ day: TradingDay) {
    let (year, month, number) = day.civil
    guard (0...9_999).contains(year) else {
      for byte in day.description.utf8 {
        buffer[count] = byte
        count += 1
      }
      return
    }
    append(year, digits: 4)
    append("-")
    append(month, digits: 2)
    append("-")
    append(number, digits: 2)
  }

  /// Of a second, in microseconds.
  mutating func append(fraction: Int) {
    guard fraction != 0 else { return }
    append(".")
    append(fraction, digits: 6)
    while buffer[count - 1] == UInt8(ascii: "0") { count -= 1 }
  }
}

extension Timestamp {
  /// By this machine's clock.
  package static var now: Timestamp { Timestamp(microseconds: SystemClock.realMicroseconds()) }

  /// What clients may name, in seconds: the years 2 to 9998, so that a day or an offset more is
  /// still in the calendar.
  static let namedSeconds: ClosedRange<Int64> = -62_104_060_800...253_370_764_799

  /// Reads RFC 3339 with an offset, or a date alone, which begins in `zone`; nil for anything else,
  /// and outside `namedSeconds`.
  init?(rfc3339 text: String, zone: MarketZone) {
    guard text.utf8.count <= 40 else { return nil }
    if let day = TradingDay(text) {
      self = zone.moment(on: day, secondOfDay: 0)
      guard Self.namedSeconds.contains(seconds) else { return nil }
      return
    }
    // A plus sign that was not encoded in a query arrives as a space.
    let pattern =
      #/(\d{4}-\d\d-\d\d)[Tt ](\d\d):(\d\d):(\d\d)(?:\.(\d{1,6})\d*)?(Z|z|[+\- ]\d\d:\d\d)/#
    guard let found = try? pattern.wholeMatch(in: text)?.output, let day = TradingDay(found.1),
      let hour = Int64(found.2), let minute = Int64(found.3), let second = Int64(found.4),
      hour < 24, minute < 60, second < 60
    else { return nil }
    var offset: Int64 = 0
    if found.6.count == 6 {
      let parts = found.6.dropFirst().split(separator: ":").compactMap { Int64($0) }
      guard parts.count == 2, parts[0] < 24, parts[1] < 60 else { return nil }
      offset = (parts[0] * 3600 + parts[1] * 60) * (found.6.first == "-" ? -1 : 1)
    }
    let digits = (found.5.map(String.init) ?? "") + "000000"
    let seconds = Int64(day.daysSince1970) * 86_400 + hour * 3600 + minute * 60 + second - offset
    guard Self.namedSeconds.contains(seconds) else { return nil }
    self.init(microseconds: seconds * 1_000_000 + (Int64(digits.prefix(6)) ?? 0))
  }
}
