/// Moments and dates as bytes: RFC 3339, as the clock of a zone shows them.

extension MarketZone {
  /// `2026-07-06T09:31:00+08:00`, with as many places of a second as needed.
  package func text(of moment: Timestamp) -> String {
    String(unsafeUninitializedCapacity: Self.momentBytesMax) { buffer in
      write(moment, to: UnsafeMutableRawBufferPointer(buffer))
    }
  }

  /// The longest decimal is shorter; the year of the last day that there is has seven digits.
  package static let momentBytesMax = 48

  /// Writes `text(of:)` and returns how many bytes it is; `momentBytesMax` always suffice.
  package func write(_ moment: Timestamp, to buffer: UnsafeMutableRawBufferPointer) -> Int {
    let (day, second) = wallClock(at: moment)
    let local = Int64(day.daysSince1970) * 86_400 + Int64(second)
    let offsetMinutes = Int((local - moment.seconds) / 60)
    var text = MomentText(buffer)
    text.append(day)
    text.append("T")
    text.append(second / 3600, digits: 2)
    text.append(":")
    text.append(second / 60 % 60, digits: 2)
    text.append(":")
    text.append(second % 60, digits: 2)
    text.append(fraction: Int((moment.microseconds % 1_000_000 + 1_000_000) % 1_000_000))
    text.append(offsetMinutes < 0 ? "-" : "+")
    text.append(abs(offsetMinutes) / 60, digits: 2)
    text.append(":")
    text.append(abs(offsetMinutes) % 60, digits: 2)
    return text.count
  }
}

extension TradingDay {
  /// Writes `2026-07-06` and returns how many bytes it is; `momentBytesMax` always suffice.
  package func write(to buffer: UnsafeMutableRawBufferPointer) -> Int {
    var text = MomentText(buffer)
    text.append(self)
    return text.count
  }
}

/// Digits and what stands between them, in memory that is there already.
private struct MomentText {
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
