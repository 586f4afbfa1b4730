import Foundation
import Market

/// The bridge for users who live in Foundation; candled itself never calculates with `Decimal`.
extension ExactDecimal {
  /// The same number as Foundation has it: exact, for 64 bits fit into its 128-bit significand;
  /// only trailing zeros may be lost.
  public var decimal: Decimal {
    Decimal(
      sign: isNegative ? .minus : .plus, exponent: -Int(scale),
      significand: Decimal(units.magnitude))
  }
}
