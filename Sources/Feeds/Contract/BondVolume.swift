/// The unit of a convertible bond's volume, by the money beside it: an exchange counts pieces, some
/// sources lots of ten. Taken for pieces, lots would show an average price ten times too high.

import Market

enum BondVolume {
  /// What the volume is to be multiplied with.
  /// - Returns: nil where neither pieces nor lots explain the money.
  static func multiplier(
    volume: ExactDecimal, turnover: ExactDecimal, low: ExactDecimal, high: ExactDecimal
  ) -> Int64? {
    if volume.isZero || turnover.isZero || high.isZero { return 1 }
    return [1, QuotedSecurity.bondLot].first { multiplier in
      // Money that is rounded, and that of K-lines in single precision, may miss by a little.
      guard let pieces = try? volume * ExactDecimal(multiplier),
        let least = try? low * pieces * ExactDecimal(units: 99, scale: 2),
        let most = try? high * pieces * ExactDecimal(units: 101, scale: 2)
      else { return false }
      return least <= turnover && turnover <= most
    }
  }

  /// Lots hide up to half a lot, and money is whole yuan.
  static let roundingOfLots = Rounding(volume: Int32(QuotedSecurity.bondLot / 2), turnover: 1)
}

extension Quote {
  /// Makes lots pieces. What neither explains is left for `QuoteInconsistency` to refuse.
  mutating func countPiecesOfBonds() {
    let multiplier = BondVolume.multiplier(
      volume: volume, turnover: turnover, low: low, high: high)
    guard let multiplier, multiplier > 1, let pieces = try? volume * ExactDecimal(multiplier)
    else { return }
    volume = pieces
    rounding = BondVolume.roundingOfLots
  }
}
