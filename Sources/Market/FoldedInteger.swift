/// Integers in as many bytes as they need: what is stored with every change of a day or an order.

extension Int64 {
  /// The sign in the lowest bit.
  @inlinable @inline(__always)
  package var folded: UInt64 { UInt64(bitPattern: (self << 1) ^ (self >> 63)) }

  @inlinable @inline(__always)
  package init(folded: UInt64) {
    self = Int64(bitPattern: folded >> 1) ^ -Int64(bitPattern: folded & 1)
  }
}

/// The number as bytes: low seven bits first, and the highest bit says that more follow.
extension UInt64 {
  /// Eight bytes are written whatever it takes, ten of the largest numbers.
  /// - Returns: where the byte after its last goes.
  @inlinable @inline(__always)
  package func encode(at place: UnsafeMutablePointer<UInt8>) -> UnsafeMutablePointer<UInt8> {
    if self >> 56 != 0 { return encodeLargest(at: place) }
    // Each seven bits get a byte: those of the upper half move by four, of each quarter by two …
    var bytes = self & 0x0FFF_FFFF | (self & 0x00FF_FFFF_F000_0000) << 4
    bytes = bytes & 0x0000_3FFF_0000_3FFF | (bytes & 0x0FFF_C000_0FFF_C000) << 2
    bytes = bytes & 0x007F_007F_007F_007F | (bytes & 0x3F80_3F80_3F80_3F80) << 1
    let count = 8 - (bytes | 1).leadingZeroBitCount / 8
    bytes |= 0x0080_8080_8080_8080 & ((1 << (8 * UInt64(count - 1))) - 1)
    UnsafeMutableRawPointer(place).storeBytes(of: bytes.littleEndian, as: UInt64.self)
    return place + count
  }

  @inlinable @inline(never)
  func encodeLargest(at place: UnsafeMutablePointer<UInt8>) -> UnsafeMutablePointer<UInt8> {
    var (rest, place) = (self, place)
    while rest >= 0x80 {
      place.pointee = UInt8(truncatingIfNeeded: rest) | 0x80
      rest >>= 7
      place += 1
    }
    place.pointee = UInt8(rest)
    return place + 1
  }

  /// nil where the bytes end too early, or do not end.
  @inlinable @inline(__always)
  package init?(decoding next: () -> UInt8?) {
    self = 0
    for shift in stride(from: UInt64(0), to: 70, by: 7) {
      guard let byte = next() else { return nil }
      self |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { return }
    }
    return nil
  }
}
