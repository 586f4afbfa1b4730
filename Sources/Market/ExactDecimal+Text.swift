/// Decimals to and from text: strict on the way in, the source's own digits on the way out.

extension ExactDecimal {
  /// Parses the whole of `bytes`: an optional minus, digits, and optionally a point with digits
  /// behind it. No exponent, no spaces, no plus, never a prefix of something longer.
  /// - Throws: `malformed`, or `overflow` beyond 64 bits or 18 places.
  public init(parsing bytes: UnsafeRawBufferPointer) throws(ExactDecimalError) {
    var units: Int64 = 0
    var index = 0
    let negative = bytes.count > 0 && bytes[0] == UInt8(ascii: "-")
    if negative { index = 1 }
    var digits = 0
    var scale = -1
    while index < bytes.count {
      let byte = bytes[index]
      let digit = byte &- UInt8(ascii: "0")
      if digit <= 9 {
        let (tens, overTens) = units.multipliedReportingOverflow(by: 10)
        let (sum, overSum) = tens.subtractingReportingOverflow(Int64(digit))
        if overTens || overSum { throw .overflow }
        units = sum  // kept negative: the negative range is the larger one
        digits += 1
        if scale >= 0 { scale += 1 }
      } else if byte == UInt8(ascii: "."), scale < 0, digits > 0 {
        scale = 0
      } else {
        throw .malformed
      }
      index += 1
    }
    if digits == 0 || scale == 0 { throw .malformed }
    if scale > Int(ExactDecimal.scaleMax) { throw .overflow }
    if !negative {
      if units == Int64.min { throw .overflow }
      units = -units
    }
    self.init(units: units, scale: UInt8(max(scale, 0)))
  }

  /// Parses the whole of `text`, as `init(parsing:)` does its bytes.
  public init(_ text: String) throws(ExactDecimalError) {
    var text = text
    let parsed = text.withUTF8 { bytes in
      Result { () throws(ExactDecimalError) in
        try ExactDecimal(parsing: UnsafeRawBufferPointer(bytes))
      }
    }
    self = try parsed.get()
  }

  /// Writes the text into `buffer` and returns the bytes written; 21 always suffice.
  @discardableResult
  public func write(to buffer: UnsafeMutableRawBufferPointer) -> Int {
    let places = Int(scale)
    var rest = units.magnitude
    let digits = max(Self.digits(of: rest), places + 1)
    let count = digits + (places > 0 ? 1 : 0) + (units < 0 ? 1 : 0)
    var position = count
    for place in 0..<digits {
      position -= 1
      if place == places, places > 0 {
        buffer[position] = UInt8(ascii: ".")
        position -= 1
      }
      let quotient = rest / 10
      buffer[position] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest &- quotient &* 10)
      rest = quotient
    }
    if units < 0 { buffer[0] = UInt8(ascii: "-") }
    return count
  }

  private static func digits(of number: UInt64) -> Int {
    var (digits, bound) = (1, UInt64(10))
    while number >= bound, digits < 20 {
      digits += 1
      bound = digits < 20 ? bound * 10 : bound
    }
    return digits
  }
}

extension ExactDecimal: CustomStringConvertible {
  public var description: String {
    String(unsafeUninitializedCapacity: 24) { buffer in
      write(to: UnsafeMutableRawBufferPointer(buffer))
    }
  }
}
