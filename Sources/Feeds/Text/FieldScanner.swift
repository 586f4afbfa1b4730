/// Walks the fields of one line and turns the plain ones into decimals without a branch on their
/// digits.
///
/// Plain means 1…16 characters, digits with at most one point between them. Anything else (a
/// minus, an exponent, an empty or longer field) leaves a mark in `faults`, and the line goes to
/// the careful decoder, which alone decides what is wrong or merely unusual. The scanner never
/// reports a wrong number: a line whose `isPlain` is false must be thrown away whole.
///
/// Prices of one line are nearly always of one length and have three decimals, so each is first
/// taken for as long as the last one; only where the comma or the point is elsewhere the general
/// way is gone. That halves the work of a line.
///
/// It reads up to 8 bytes behind a field and moves at most `advanceBytesMax` a field, faulty or
/// not; the caller guarantees that so much memory follows. Keep it in a local variable: its words
/// live in registers only as long as nobody takes its address.

import Market

struct FieldScanner {
  var position: UnsafeRawPointer
  private var faults: UInt64 = 0
  /// The length of the last price with three decimals.
  private var priceBytes = 6

  static let fieldBytesMax = 16
  /// The longest field and its separator.
  static let advanceBytesMax = fieldBytesMax + 1

  static let comma = Swar.repeated(UInt8(ascii: ","))
  static let bar = Swar.repeated(UInt8(ascii: "|"))
  static let quote = Swar.repeated(UInt8(ascii: "\""))
  /// A point once the digits have been made numbers: "." ^ "0".
  private static let point = Swar.repeated(0x1E)

  init(position: UnsafeRawPointer) { self.position = position }

  /// Whether every field so far was plain.
  @inline(__always)
  var isPlain: Bool { faults & Swar.tops == 0 }

  /// A whole number, and the separator behind it.
  @inline(__always)
  mutating func count(until separator: UInt64 = comma) -> ExactDecimal {
    let word = Swar.load(position)
    let marks = Swar.marks(of: separator, in: word)
    if marks == 0 {
      let long = decimal(until: separator)
      if long.scale != 0 { faults = .max }
      return long
    }
    let mark = marks.trailingZeroBitCount
    position += mark &>> 3 &+ 1
    let digits = FieldScanner.rightAligned(word, mark: mark)
    faults |= Swar.faults(inDigits: digits)
    return ExactDecimal(units: Int64(truncatingIfNeeded: Swar.number(ofDigits: digits)), scale: 0)
  }

  /// A number with or without a point, and the separator behind it.
  @inline(__always)
  mutating func decimal(until separator: UInt64 = comma) -> ExactDecimal {
    let field = FieldScanner.general(at: position, until: separator)
    position += field.length &+ 1
    faults |= field.faults
    return ExactDecimal(units: Int64(truncatingIfNeeded: field.units), scale: field.scale)
  }

  /// A price, and the comma behind it.
  @inline(__always)
  mutating func price() -> ExactDecimal {
    // Brings `iii.fff,` to fixed places, first character lowest, zeros where digits are missing.
    let text =
      (Swar.load(position) ^ Swar.zeroDigits) &<< UInt64(truncatingIfNeeded: 56 &- 8 &* priceBytes)
    guard text & 0xFF00_0000_FF00_0000 == 0x1C00_0000_1E00_0000 else { return unlikePrice() }
    position += priceBytes &+ 1
    let digits = text & 0x00FF_FFFF_00FF_FFFF
    faults |= Swar.faults(inDigits: digits)
    return ExactDecimal(
      units: Int64(truncatingIfNeeded: Swar.thousandths(ofDigits: digits)), scale: 3)
  }

  /// A price unlike the last one.
  @inline(__always)
  mutating func unlikePrice() -> ExactDecimal {
    let start = position
    let price = decimal()
    let length = position - start - 1
    if price.scale == 3, length == 5 || length == 6 || length == 7 { priceBytes = length }
    return price
  }
}

extension FieldScanner {
  /// A field of up to 16 characters.
  @inline(never)
  private static func general(
    at start: UnsafeRawPointer, until separator: UInt64
  ) -> (units: UInt64, scale: UInt8, length: Int, faults: UInt64) {
    let word = Swar.load(start)
    let marks = Swar.marks(of: separator, in: word)
    if marks == 0 { return long(word, at: start, until: separator) }
    let mark = marks.trailingZeroBitCount
    let digits = rightAligned(word, mark: mark)
    let points = Swar.marks(of: point, in: digits)
    if points == 0 {
      return (Swar.number(ofDigits: digits), 0, mark &>> 3, Swar.faults(inDigits: digits))
    }
    let parts = split(digits, at: points)
    return (
      Swar.number(ofDigits: parts.digits), parts.scale, mark &>> 3,
      parts.faults | leadingPoint(word)
    )
  }

  /// A field of 8…16 characters: its last eight, and what stands before them.
  @inline(__always)
  private static func long(
    _ first: UInt64, at start: UnsafeRawPointer, until separator: UInt64
  ) -> (units: UInt64, scale: UInt8, length: Int, faults: UInt64) {
    let marks = Swar.marks(of: separator, in: Swar.load(start + 8))
    if marks == 0, Swar.load(start + 16) & 0xFF != separator & 0xFF { return (0, 0, 0, .max) }
    let length = 8 + marks.trailingZeroBitCount >> 3  // 16 where there is no mark
    // A field of eight has no head: the shift by 64 leaves zero.
    let head = (first ^ Swar.zeroDigits) << UInt64(8 * (16 - length))
    let tail = Swar.load(start + (length - 8)) ^ Swar.zeroDigits
    let faults = Swar.faults(inDigits: head) | leadingPoint(first)
    let points = Swar.marks(of: point, in: tail)
    if points == 0 {
      let units = Swar.number(ofDigits: head) &* 100_000_000 &+ Swar.number(ofDigits: tail)
      return (units, 0, length, faults | Swar.faults(inDigits: tail))
    }
    let parts = split(tail, at: points)
    let units = Swar.number(ofDigits: head) &* 10_000_000 &+ Swar.number(ofDigits: parts.digits)
    return (units, parts.scale, length, faults | parts.faults)
  }

  /// The field's digits as numbers, the last one highest, zeros below the first. An empty field
  /// shifts by nothing: its separator stays in the word and fails the check.
  /// - Parameter mark: the bit that marks the separator, 8 × the field's length + 7.
  @inline(__always)
  private static func rightAligned(_ word: UInt64, mark: Int) -> UInt64 {
    (word ^ Swar.zeroDigits) &<< UInt64(truncatingIfNeeded: 71 &- mark)
  }

  /// Takes the point out of right-aligned digits: what stands below it moves up by one byte. A
  /// point at the very end is a fault.
  @inline(__always)
  private static func split(
    _ digits: UInt64, at points: UInt64
  ) -> (digits: UInt64, scale: UInt8, faults: UInt64) {
    let below = points ^ (points &- 1)  // every bit up to the point's mark
    let closed = (digits & ~below) | ((digits &<< 8) & below)
    let scale = UInt8(truncatingIfNeeded: (63 &- points.trailingZeroBitCount) &>> 3)
    return (closed, scale, Swar.faults(inDigits: closed) | (below & 0x8000_0000_0000_0000))
  }

  /// Top bits are set if the word begins with a point, for `.5` is not a plain decimal.
  @inline(__always)
  private static func leadingPoint(_ word: UInt64) -> UInt64 {
    ((word ^ UInt64(UInt8(ascii: "."))) & 0xFF) &- 1
  }
}
