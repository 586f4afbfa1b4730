/// Writes the text of a quote line: digits straight from integers, no strings in between.
package struct LineWriter {
  package private(set) var bytes: [UInt8] = []

  var comma: UInt8 { UInt8(ascii: ",") }

  package init(bytesTypical: Int) { bytes.reserveCapacity(bytesTypical) }

  @inline(__always)
  package mutating func write(_ byte: UInt8) { bytes.append(byte) }

  package mutating func write(_ text: [UInt8]) { bytes.append(contentsOf: text) }

  package mutating func write(_ text: StaticString) {
    text.withUTF8Buffer { bytes.append(contentsOf: $0) }
  }

  @inline(__always)
  package mutating func write(whole: Int64) {
    precondition(whole >= 0, "a line has no such negative number")
    write(whole, digits: LineWriter.digits(UInt64(whole)))
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
    write(UInt8(ascii: "."))
    write(fraction, digits: digits)
  }

  /// The last `digits` of a number.
  @inline(__always)
  private mutating func write(_ number: Int64, digits: Int) {
    for _ in 0..<digits { bytes.append(0) }
    var rest = UInt64(number)
    for place in 1...digits {
      bytes[bytes.count - place] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
      rest /= 10
    }
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
extension LineWriter {
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
