/// An exact decimal number: `units / 10^scale`.
///
/// Every price, volume and amount in candled is one of these, from the byte the source sent to the
/// `numeric` PostgreSQL stores. The scale the source sent is kept (`1769.040` prints as
/// `1769.040`), comparison and hashing are numeric (`1.20 == 1.2`). No operation loses a digit in
/// silence: what does not fit throws.
///
/// It takes twelve bytes instead of sixteen: a quote has thirty of them and a day as many, and a
/// sweep waits for memory more than for anything else.
public struct ExactDecimal: Sendable {
  @usableFromInline let low: UInt32
  @usableFromInline let high: UInt32
  /// Digits behind the point, 0…18.
  public let scale: UInt8

  @inlinable public static var scaleMax: UInt8 { 18 }
  @inlinable public static var zero: ExactDecimal { ExactDecimal(units: 0, scale: 0) }

  /// The caller vouches for the scale: it is a constant or was checked at the boundary.
  @inlinable
  public init(units: Int64, scale: UInt8) {
    precondition(scale <= ExactDecimal.scaleMax, "a scale beyond 18 is a bug of the caller")
    low = UInt32(truncatingIfNeeded: units)
    high = UInt32(truncatingIfNeeded: units >> 32)
    self.scale = scale
  }

  /// The significand, sign included.
  @inlinable public var units: Int64 {
    Int64(bitPattern: UInt64(high) << 32 | UInt64(low))
  }

  /// A whole number.
  @inlinable
  public init(_ whole: Int64) {
    self.init(units: whole, scale: 0)
  }

  @inlinable public var isZero: Bool { units == 0 }
  @inlinable public var isNegative: Bool { units < 0 }
  @inlinable public var isPositive: Bool { units > 0 }
}

/// Why a decimal could not be made.
public enum ExactDecimalError: Error, Equatable, Sendable {
  /// The text is not a plain decimal number.
  case malformed
  /// The result has more digits than 64 bits and 18 places hold.
  case overflow
  case divisionByZero
}

@usableFromInline
package enum PowersOfTen {
  @usableFromInline
  static let table: InlineArray<19, Int64> = [
    1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000,
    10_000_000_000, 100_000_000_000, 1_000_000_000_000, 10_000_000_000_000, 100_000_000_000_000,
    1_000_000_000_000_000, 10_000_000_000_000_000, 100_000_000_000_000_000,
    1_000_000_000_000_000_000,
  ]

  @inlinable
  package static func value(_ exponent: UInt8) -> Int64 { table[Int(exponent)] }
}

extension ExactDecimal: Comparable, Hashable {
  @inlinable
  public static func == (left: ExactDecimal, right: ExactDecimal) -> Bool {
    if left.scale == right.scale { return left.units == right.units }
    return left.wideUnits(scale: right.scale) == right.wideUnits(scale: left.scale)
  }

  @inlinable
  public static func < (left: ExactDecimal, right: ExactDecimal) -> Bool {
    if left.scale == right.scale { return left.units < right.units }
    return left.wideUnits(scale: right.scale) < right.wideUnits(scale: left.scale)
  }

  public func hash(into hasher: inout Hasher) {
    let plain = normalized
    hasher.combine(plain.units)
    hasher.combine(plain.scale)
  }

  /// The units this value has once both sides of a comparison carry the larger scale; 128 bits
  /// because 19 digits times 10^18 need 123.
  @inlinable
  func wideUnits(scale other: UInt8) -> Int128 {
    other > scale
      ? Int128(units) * Int128(PowersOfTen.value(other - scale)) : Int128(units)
  }

  /// The same number with no trailing zeros behind the point.
  public var normalized: ExactDecimal {
    var units = units
    var scale = scale
    while scale > 0, units % 10 == 0 {
      units /= 10
      scale -= 1
    }
    return ExactDecimal(units: units, scale: scale)
  }
}

extension ExactDecimal {
  /// The sum, with the larger of the two scales.
  /// - Throws: `overflow`.
  @inlinable
  public static func + (left: ExactDecimal, right: ExactDecimal) throws(ExactDecimalError)
    -> ExactDecimal
  {
    if left.scale == right.scale {
      let (sum, overflow) = left.units.addingReportingOverflow(right.units)
      if overflow { throw .overflow }
      return ExactDecimal(units: sum, scale: left.scale)
    }
    return try narrowed(
      left.wideUnits(scale: right.scale) + right.wideUnits(scale: left.scale),
      scale: max(left.scale, right.scale))
  }

  /// The difference, with the larger of the two scales.
  /// - Throws: `overflow`.
  @inlinable
  public static func - (left: ExactDecimal, right: ExactDecimal) throws(ExactDecimalError)
    -> ExactDecimal
  {
    if left.scale == right.scale {
      let (difference, overflow) = left.units.subtractingReportingOverflow(right.units)
      if overflow { throw .overflow }
      return ExactDecimal(units: difference, scale: left.scale)
    }
    return try narrowed(
      left.wideUnits(scale: right.scale) - right.wideUnits(scale: left.scale),
      scale: max(left.scale, right.scale))
  }

  /// The product, exact: the scales add up and trailing zeros go only where they must to fit.
  /// - Throws: `overflow`.
  public static func * (left: ExactDecimal, right: ExactDecimal) throws(ExactDecimalError)
    -> ExactDecimal
  {
    var scale = left.scale + right.scale
    let (product, overflow) = left.units.multipliedReportingOverflow(by: right.units)
    if !overflow, scale <= scaleMax { return ExactDecimal(units: product, scale: scale) }
    var wide = Int128(left.units) * Int128(right.units)
    while scale > 0, scale > scaleMax || Int64(exactly: wide) == nil, wide % 10 == 0 {
      wide /= 10
      scale -= 1
    }
    return try narrowed(wide, scale: scale)
  }

  /// The product rounded half away from zero to `scale` places, where it has more.
  /// - Throws: `overflow`.
  package func multiplied(
    by factor: ExactDecimal, scale places: UInt8
  ) throws(ExactDecimalError) -> ExactDecimal {
    let excess = Int(scale) + Int(factor.scale) - Int(places)
    if excess <= 0 { return try self * factor }
    let divisor = (0..<excess).reduce(Int128(1)) { power, _ in power * 10 }
    let wide = Int128(units) * Int128(factor.units)
    return try ExactDecimal.narrowed(
      ExactDecimal.halfAwayFromZero(wide, over: divisor), scale: places)
  }

  /// The quotient rounded half away from zero to `scale` places.
  /// - Throws: `divisionByZero`, `overflow`.
  public func divided(by divisor: ExactDecimal, scale places: UInt8) throws(ExactDecimalError)
    -> ExactDecimal
  {
    if divisor.isZero { throw .divisionByZero }
    // units/10^s ÷ d/10^t at p places = units·10^(p+t) ÷ (d·10^s)
    var numerator = Int128(units)
    var denominator = Int128(divisor.units)
    let shift = Int(places) + Int(divisor.scale) - Int(scale)
    for _ in 0..<abs(shift) {
      let (grown, overflow) =
        shift > 0
        ? numerator.multipliedReportingOverflow(by: 10)
        : denominator.multipliedReportingOverflow(by: 10)
      if overflow { throw .overflow }
      if shift > 0 { numerator = grown } else { denominator = grown }
    }
    return try ExactDecimal.narrowed(
      ExactDecimal.halfAwayFromZero(numerator, over: denominator), scale: places)
  }

  /// The change in per cent of `previous`, with two places; nil where that is zero.
  package func percentChange(from previous: ExactDecimal) -> ExactDecimal? {
    try? ((self - previous) * ExactDecimal(100)).divided(by: previous, scale: 2)
  }

  /// Rounded half away from zero to at most `places` behind the point.
  public func rounded(places: UInt8) -> ExactDecimal {
    if places >= scale { return self }
    let divisor = Int128(PowersOfTen.value(scale - places))
    let rounded = ExactDecimal.halfAwayFromZero(Int128(units), over: divisor)
    // A quotient of an Int64 by ten or more always fits.
    return ExactDecimal(units: Int64(rounded), scale: places)
  }

  /// Whether it is a whole number of steps.
  /// - Precondition: `step` is positive.
  package func isMultiple(of step: ExactDecimal) -> Bool {
    if scale >= step.scale {
      let (wide, overflow) = step.units.multipliedReportingOverflow(
        by: PowersOfTen.value(scale - step.scale))
      if !overflow { return units % wide == 0 }
    }
    let places = max(step.scale, scale)
    return wideUnits(scale: places) % step.wideUnits(scale: places) == 0
  }

  /// The same number carrying exactly `places` digits, rounded half away from zero if it had more.
  /// - Throws: `overflow`.
  public func rescaled(places: UInt8) throws(ExactDecimalError) -> ExactDecimal {
    if places <= scale { return rounded(places: places) }
    return try ExactDecimal.narrowed(wideUnits(scale: places), scale: places)
  }

  @usableFromInline
  static func narrowed(_ wide: Int128, scale: UInt8) throws(ExactDecimalError) -> ExactDecimal {
    guard let units = Int64(exactly: wide), scale <= scaleMax else { throw .overflow }
    return ExactDecimal(units: units, scale: scale)
  }

  private static func halfAwayFromZero(_ numerator: Int128, over denominator: Int128) -> Int128 {
    let (quotient, remainder) = numerator.quotientAndRemainder(dividingBy: denominator)
    if remainder.magnitude < denominator.magnitude - remainder.magnitude { return quotient }
    return (numerator < 0) == (denominator < 0) ? quotient + 1 : quotient - 1
  }
}
