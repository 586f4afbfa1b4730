import Market

/// A decimal in twelve bytes instead of sixteen. Each sweep reads a day of every instrument, which
/// has dozens of them, and waits for memory more than for anything else.
@propertyWrapper
struct PackedDecimal: Sendable, Hashable {
  private let low: UInt32
  private let high: UInt32
  private let scale: UInt8

  @inline(__always)
  init(wrappedValue: ExactDecimal) {
    let units = UInt64(bitPattern: wrappedValue.units)
    (low, high) = (UInt32(truncatingIfNeeded: units), UInt32(truncatingIfNeeded: units >> 32))
    scale = wrappedValue.scale
  }

  var wrappedValue: ExactDecimal {
    @inline(__always)
    get {
      ExactDecimal(units: Int64(bitPattern: UInt64(high) << 32 | UInt64(low)), scale: scale)
    }
    @inline(__always)
    set { self = PackedDecimal(wrappedValue: newValue) }
  }

  @inline(__always)
  static func == (left: PackedDecimal, right: PackedDecimal) -> Bool {
    left.wrappedValue == right.wrappedValue
  }

  func hash(into hasher: inout Hasher) { hasher.combine(wrappedValue) }
}
