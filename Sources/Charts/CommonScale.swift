/// Decimals as whole numbers of one scale: what pixels are computed from. Exact, but where numbers
/// are so large that they leave no room to be multiplied with a height: those are rounded.

import Market

struct CommonScale {
  /// Digits behind the point.
  let places: UInt8

  /// A height of 4,000 pixels, doubled for rounding, takes 13 bits more.
  private static let unitsMax: Int64 = 1 << 46

  init(of values: some Sequence<ExactDecimal>) {
    var places: UInt8 = 0
    for value in values { places = max(places, value.scale) }
    for value in values where !Self.fits(value, places) {
      while places > 0, !Self.fits(value, places) { places -= 1 }
    }
    self.places = places
  }

  private static func fits(_ value: ExactDecimal, _ places: UInt8) -> Bool {
    guard let units = (try? value.rescaled(places: places))?.units else { return false }
    return units.magnitude <= unitsMax
  }

  /// No price and no volume is so large that it is cut here.
  func units(_ value: ExactDecimal) -> Int64 {
    if value.scale == places, value.units.magnitude <= Self.unitsMax { return value.units }
    let units = (try? value.rescaled(places: places))?.units ?? (value.isNegative ? .min : .max)
    return min(max(units, -Self.unitsMax), Self.unitsMax)
  }

  func value(_ units: Int64) -> ExactDecimal { ExactDecimal(units: units, scale: places) }
}
