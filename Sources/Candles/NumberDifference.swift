/// A state as its difference to another one, number by number.
///
/// Every byte string that `StateWriter` makes is a row of variable-length numbers, flags and scales
/// included. Where two have as many numbers, the difference is the places that differ, each with
/// how far its number moved; else it is the whole string.
enum NumberDifference {
  private static let isWhole: UInt8 = 0
  private static let isDifference: UInt8 = 1

  static func encode(_ bytes: [UInt8], against base: [UInt8]) -> [UInt8] {
    var difference = [isDifference]
    difference.reserveCapacity(64)
    let isComparable = bytes.withUnsafeBufferPointer { bytes in
      base.withUnsafeBufferPointer { base in
        var (own, other) = (Numbers(bytes), Numbers(base))
        var equal: UInt64 = 0
        while let number = own.next() {
          guard let known = other.next() else { return false }
          if number == known {
            equal += 1
            continue
          }
          append(equal, to: &difference)
          append(fold(Int64(bitPattern: number &- known)), to: &difference)
          equal = 0
        }
        return other.isAtEnd
      }
    }
    return isComparable ? difference : [isWhole] + bytes
  }

  /// nil for bytes that `encode` never wrote.
  static func decode(_ difference: [UInt8], against base: [UInt8]) -> [UInt8]? {
    guard let kind = difference.first, kind <= isDifference else { return nil }
    if kind == isWhole { return Array(difference.dropFirst()) }
    return difference.dropFirst().withUnsafeBufferPointer { changes in
      base.withUnsafeBufferPointer { base in
        apply(Numbers(changes), to: Numbers(base))
      }
    }
  }

  private static func apply(_ changes: Numbers, to known: Numbers) -> [UInt8]? {
    var (changes, known) = (changes, known)
    var bytes: [UInt8] = []
    while let equal = changes.next() {
      for _ in 0..<equal {
        guard let number = known.next() else { return nil }
        append(number, to: &bytes)
      }
      guard let change = changes.next(), let number = known.next() else { return nil }
      append(number &+ UInt64(bitPattern: unfold(change)), to: &bytes)
    }
    while let number = known.next() { append(number, to: &bytes) }
    return changes.isAtEnd ? bytes : nil
  }

  private static func fold(_ value: Int64) -> UInt64 {
    UInt64(bitPattern: (value << 1) ^ (value >> 63))
  }

  private static func unfold(_ value: UInt64) -> Int64 {
    Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
  }

  private static func append(_ value: UInt64, to bytes: inout [UInt8]) {
    var rest = value
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }

  /// The numbers of a byte string, low seven bits first.
  private struct Numbers {
    private let bytes: UnsafeBufferPointer<UInt8>
    private var index = 0

    init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

    var isAtEnd: Bool { index == bytes.count }

    mutating func next() -> UInt64? {
      var number: UInt64 = 0
      for shift in stride(from: UInt64(0), to: 70, by: 7) {
        guard index < bytes.count else { return nil }
        let byte = bytes[index]
        index += 1
        number |= UInt64(byte & 0x7F) << shift
        if byte < 0x80 { return number }
      }
      return nil
    }
  }
}
