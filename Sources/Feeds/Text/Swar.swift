/// Eight bytes at a time in one 64-bit word ("SIMD within a register").
///
/// The quote decoder spends its time on fields of one to eight characters. Handling such a field
/// as one word (find the separator, drop the point, check and convert the digits) costs a tenth
/// of the same work byte by byte and needs neither intrinsics nor C. Words are little-endian: the
/// first character is the lowest byte.

enum Swar {
  static let ones: UInt64 = 0x0101_0101_0101_0101
  static let tops: UInt64 = 0x8080_8080_8080_8080
  static let zeroDigits: UInt64 = 0x3030_3030_3030_3030

  /// A word of eight times the same byte.
  @inline(__always)
  static func repeated(_ byte: UInt8) -> UInt64 { UInt64(byte) &* ones }

  @inline(__always)
  static func load(_ pointer: UnsafeRawPointer) -> UInt64 {
    UInt64(littleEndian: pointer.loadUnaligned(as: UInt64.self))
  }

  /// Marks, by its top bit, the first byte equal to the repeated byte of `pattern`. Marks above
  /// the first may be false: a borrow runs upward. No mark at all is exact.
  @inline(__always)
  static func marks(of pattern: UInt64, in word: UInt64) -> UInt64 {
    let difference = word ^ pattern
    return (difference &- ones) & ~difference & tops
  }

  /// Top bits are set if any byte is above 9; the other bits mean nothing.
  @inline(__always)
  static func faults(inDigits digits: UInt64) -> UInt64 {
    (digits &+ 0x7676_7676_7676_7676) | digits
  }

  /// The number eight digit values make, the first (lowest) byte being the most significant.
  @inline(__always)
  static func number(ofDigits digits: UInt64) -> UInt64 {
    let pairs = digits &* 10 &+ (digits &>> 8)
    let pairMask: UInt64 = 0x0000_00FF_0000_00FF
    let outer = (pairs & pairMask) &* 0x000F_4240_0000_0064
    let inner = ((pairs &>> 16) & pairMask) &* 0x0000_2710_0000_0001
    return (outer &+ inner) &>> 32
  }

  /// The number that digits in the places `iii0fff0` make, in thousandths.
  @inline(__always)
  static func thousandths(ofDigits digits: UInt64) -> UInt64 {
    let lanes: UInt64 = 0x0000_00FF_0000_00FF
    let firstTwo = (digits &* 10 &+ (digits &>> 8)) & lanes
    let threes = firstTwo &* 10 &+ (digits &>> 16 & lanes)  // 0…999 in either half
    return (threes &* 0x0000_03E8_0000_0001) &>> 32  // low half × 1000 + high half
  }
}
