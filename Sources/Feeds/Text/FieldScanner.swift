/// Walks the fields of one line and turns the plain ones into decimals without a branch on their
/// digits.
///
/// Plain means 1…16 characters, digits with at most one point between them. Anything else (a
/// minus, an exponent, an empty or longer field) leaves a mark in `faults`, and the line goes to
/// the careful decoder, which alone decides what is wrong or merely unusual. The scanner never
/// reports a wrong number: a line whose `isPlain` is false must be thrown away whole.
///
/// It reads up to 8 bytes behind a field and moves at most `advanceBytesMax` a field, faulty or
/// not; the caller vouches that so much memory follows.

import Market

struct FieldScanner {
  var position: UnsafeRawPointer
  private var faults: UInt64 = 0

  static let fieldBytesMax = 16
  /// The longest field and its separator.
  static let advanceBytesMax = fieldBytesMax + 1

  static let comma = Swar.repeated(UInt8(ascii: ","))
  static let bar = Swar.repeated(UInt8(ascii: "|"))
  static let quote = Swar.repeated(UInt8(ascii: "\""))
  private static let point = Swar.repeated(UInt8(ascii: "."))

  init(position: UnsafeRawPointer) { self.position = position }

  /// Whether every field so far was plain.
  @inline(__always)
  var isPlain: Bool { faults & Swar.tops == 0 }

  @inline(__always)
  mutating func fail() { faults = .max }

  /// A whole number, and the separator behind it.
  @inline(__always)
  mutating func count(until separator: UInt64 = comma) -> ExactDecimal {
    let word = Swar.load(position)
    let marks = Swar.marks(of: separator, in: word)
    if marks == 0 {
      let long = longDecimal(until: separator)
      if long.scale != 0 { fail() }
      return long
    }
    let bits = advance(pastMark: marks)
    return whole(word, bits: bits)
  }

  /// A number with or without a point, and the separator behind it.
  @inline(__always)
  mutating func decimal(until separator: UInt64 = comma) -> ExactDecimal {
    let word = Swar.load(position)
    let marks = Swar.marks(of: separator, in: word)
    if marks == 0 { return longDecimal(until: separator) }
    let bits = advance(pastMark: marks)
    let text = word &<< (64 &- bits)
    let points = Swar.marks(of: FieldScanner.point, in: text)
    if points == 0 { return whole(word, bits: bits) }
    let mark = points.trailingZeroBitCount
    let digits =
      Swar.removingPoint(at: mark, from: text) ^ (Swar.zeroDigits &<< (72 &- bits))
    faults |= Swar.faults(inDigits: digits) | FieldScanner.leadingPoint(word)
    return ExactDecimal(
      units: Int64(truncatingIfNeeded: Swar.number(ofDigits: digits)),
      scale: UInt8(truncatingIfNeeded: (63 &- mark) &>> 3))
  }

  /// Moves behind the separator and returns eight times the length of the field before it.
  @inline(__always)
  private mutating func advance(pastMark marks: UInt64) -> UInt64 {
    let bits = marks.trailingZeroBitCount &- 7
    position += bits &>> 3 &+ 1
    return UInt64(truncatingIfNeeded: bits)
  }

  /// An empty field shifts by nothing: its separator stays in the word and fails the check.
  @inline(__always)
  private mutating func whole(_ word: UInt64, bits: UInt64) -> ExactDecimal {
    let digits = (word ^ Swar.zeroDigits) &<< (64 &- bits)
    faults |= Swar.faults(inDigits: digits)
    return ExactDecimal(units: Int64(truncatingIfNeeded: Swar.number(ofDigits: digits)), scale: 0)
  }

  /// Top bits are set if the word begins with a point, for `.5` is not a plain decimal.
  @inline(__always)
  private static func leadingPoint(_ word: UInt64) -> UInt64 {
    ((word ^ UInt64(UInt8(ascii: "."))) & 0xFF) &- 1
  }

  /// A field of 8…16 characters: its last eight, and what stands before them.
  @inline(never)
  private mutating func longDecimal(until separator: UInt64) -> ExactDecimal {
    let marks = Swar.marks(of: separator, in: Swar.load(position + 8))
    if marks == 0, Swar.load(position + 8 + 8) & 0xFF != separator & 0xFF {
      fail()
      return .zero
    }
    let length = 8 + marks.trailingZeroBitCount >> 3
    let first = Swar.load(position)
    let tail = Swar.load(position + (length - 8))
    position += length + 1

    let headShift = UInt64(8 * (16 - length))  // 64 for a field of eight: no head at all
    let head = (first ^ Swar.zeroDigits) << headShift
    let points = Swar.marks(of: FieldScanner.point, in: tail)
    let mark = points.trailingZeroBitCount
    let digits =
      points == 0
      ? tail ^ Swar.zeroDigits
      : Swar.removingPoint(at: mark, from: tail) ^ (Swar.zeroDigits &<< 8)
    faults |= Swar.faults(inDigits: head) | Swar.faults(inDigits: digits)
    faults |= FieldScanner.leadingPoint(first)
    let weight: UInt64 = points == 0 ? 100_000_000 : 10_000_000
    let units = Swar.number(ofDigits: head) &* weight &+ Swar.number(ofDigits: digits)
    return ExactDecimal(
      units: Int64(truncatingIfNeeded: units),
      scale: points == 0 ? 0 : UInt8(truncatingIfNeeded: (63 &- mark) &>> 3))
  }
}
