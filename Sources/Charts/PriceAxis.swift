/// Prices to pixels, and the prices that are written beside the plot.

import Market

struct PriceAxis {
  let scale: CommonScale
  /// At the lower and the upper edge of the plot.
  let low: Int64
  let high: Int64
  /// The upper edge, in pixels.
  let top: Int
  let height: Int
  /// Multiples of 1, 2 or 5 and a power of ten.
  let ticks: [Int64]
  private let labelPlaces: UInt8

  /// Of the range, above and below.
  private static let marginDivisor: UInt64 = 16
  private static let pixelsPerTick = 44

  /// - Parameters:
  ///   - values: that are seen.
  ///   - tick: the smallest step of prices; nil where it is not known.
  init(_ scale: CommonScale, values: [Int64], tick: ExactDecimal?, top: Int, height: Int) {
    self.scale = scale
    self.top = top
    self.height = height
    let (lowest, highest) = (values.min() ?? 0, values.max() ?? 0)
    // Where nothing moves, one percent.
    let margin =
      lowest == highest
      ? max(highest.magnitude / 100, 1) : max((highest - lowest).magnitude / Self.marginDivisor, 1)
    low = lowest - Int64(margin)
    high = highest + Int64(margin)
    labelPlaces = min(tick?.scale ?? scale.places, scale.places)
    let smallest = Self.power(scale.places - labelPlaces)
    let wanted = max((high - low) / Int64(max(height / Self.pixelsPerTick, 2)), smallest)
    var step = Self.power(0)
    while step * 10 <= wanted { step *= 10 }
    if let factor = [1, 2, 5].first(where: { step * $0 >= wanted }) {
      step *= factor
    } else {
      step *= 10
    }
    var tick = low.quotient(roundedUpBy: step) * step
    var ticks: [Int64] = []
    while tick <= high {
      ticks.append(tick)
      tick += step
    }
    self.ticks = ticks
  }

  private static func power(_ exponent: UInt8) -> Int64 {
    (0..<exponent).reduce(1) { power, _ in power * 10 }
  }

  func contains(_ units: Int64) -> Bool { low <= units && units <= high }

  func y(_ units: Int64) -> Int {
    let range = high - low
    let distance = min(max(high - units, 0), range)
    return top + Int((2 * distance * Int64(height) + range) / (2 * range))
  }

  func label(_ units: Int64) -> String {
    scale.value(units).rounded(places: labelPlaces).description
  }
}

extension Int64 {
  fileprivate func quotient(roundedUpBy divisor: Int64) -> Int64 {
    let quotient = self / divisor
    return quotient * divisor < self ? quotient + 1 : quotient
  }
}
