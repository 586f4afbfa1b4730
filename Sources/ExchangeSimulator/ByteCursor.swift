/// Writes the text of a quote line into room that was measured before: digits straight from
/// integers, no strings in between.
///
/// It must never write past its room: that is a bug of the caller's bound, and it traps.
package struct ByteCursor: ~Copyable {
  private let base: UnsafeMutablePointer<UInt8>
  private let room: Int
  package private(set) var written = 0

  let comma = UInt8(ascii: ",")

  package init(_ buffer: UnsafeMutableRawBufferPointer, start: Int, limit: Int) {
    precondition(start >= 0 && limit <= buffer.count && start < limit, "no room for a line")
    room = limit - start
    guard let address = buffer.assumingMemoryBound(to: UInt8.self).baseAddress else {
      preconditionFailure("a buffer with room has an address")
    }
    base = address + start
  }

  @inline(__always)
  package mutating func write(_ byte: UInt8) {
    precondition(written < room, "a line outgrew its room")
    base[written] = byte
    written += 1
  }

  package mutating func write(_ bytes: [UInt8]) {
    for byte in bytes { write(byte) }
  }

  package mutating func write(_ text: StaticString) {
    for place in 0..<text.utf8CodeUnitCount { write(text.utf8Start[place]) }
  }

  @inline(__always)
  package mutating func write(whole: Int64) {
    precondition(whole >= 0 && written + 20 <= room, "a line outgrew its room")
    var rest = UInt64(whole)
    var end = written + ByteCursor.digits(rest)
    written = end
    repeat {
      end -= 1
      base[end] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
      rest /= 10
    } while rest > 0
  }

  @inline(__always)
  private static func digits(_ number: UInt64) -> Int {
    var bound: UInt64 = 10
    var count = 1
    while count < 19, number >= bound {
      bound *= 10
      count += 1
    }
    return count
  }

  @inline(__always)
  package mutating func write(fraction: Int64, digits: Int) {
    precondition(written + digits < room, "a line outgrew its room")
    write(UInt8(ascii: "."))
    var rest = fraction
    for place in stride(from: digits - 1, through: 0, by: -1) {
      base[written + place] = UInt8(ascii: "0") + UInt8(rest % 10)
      rest /= 10
    }
    written += digits
  }

  /// Thousandths, as prices of all but Shanghai's indexes are.
  @inline(__always)
  mutating func write(price: Int64) {
    write(whole: price / 1000)
    write(fraction: price % 1000, digits: 3)
  }

  mutating func write(cents: Int64) {
    write(whole: cents / 100)
    write(fraction: cents % 100, digits: 2)
  }

  /// `HH:MM:SS`.
  mutating func write(clock second: Int) {
    write(pair: second / 3600)
    write(UInt8(ascii: ":"))
    write(pair: second / 60 % 60)
    write(UInt8(ascii: ":"))
    write(pair: second % 60)
  }

  package mutating func write(pair: Int) {
    write(UInt8(ascii: "0") + UInt8(pair / 10))
    write(UInt8(ascii: "0") + UInt8(pair % 10))
  }
}

/// Fields: a comma and the value.
extension ByteCursor {
  @inline(__always)
  mutating func writeField(whole: Int64) {
    write(comma)
    write(whole: whole)
  }

  @inline(__always)
  mutating func writeField(price: Int64) {
    write(comma)
    write(price: price)
  }

  mutating func writeField(tenThousandths: Int64) {
    write(comma)
    write(whole: tenThousandths / 10_000)
    write(fraction: tenThousandths % 10_000, digits: 4)
  }

  /// A book level: volume first, then price.
  @inline(__always)
  mutating func writeLevel(_ volume: Int64, price: Int64) {
    writeField(whole: volume)
    writeField(price: price)
  }
}
