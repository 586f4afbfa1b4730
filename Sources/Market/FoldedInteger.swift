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
  /// - Returns: where the byte after its last goes.
  @inlinable @inline(never)
  package func encode(at place: UnsafeMutablePointer<UInt8>) -> UnsafeMutablePointer<UInt8> {
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
