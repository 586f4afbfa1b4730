import Market

/// The fees that are not the broker's, by date, in millionths of the money moved. Shares alone pay
/// them: funds and bonds do not. The exchanges' handling fee (0.00341 % in Shanghai and Shenzhen,
/// 0.0125 % in Beijing) is part of the commission and not charged beside it.
struct FeeTable: Sendable {
  let rows: [DatedRow<Int64>]
  /// nil: both.
  let side: Side?

  static let stampDuty = FeeTable(
    rows: [
      // [RULE] Ministry of Finance and State Taxation Administration 2023 No. 39.
      DatedRow(from: .ruleBegin(2023, 8, 28), kind: .stock, 500),
      // [PAGE] Sellers alone pay since then.
      DatedRow(from: .ruleBegin(2008, 9, 19), kind: .stock, 1_000),
    ], side: .sell)

  static let transferFee = FeeTable(
    rows: [
      // [PAGE] ChinaClear's tables.
      DatedRow(from: .ruleBegin(2022, 4, 29), kind: .stock, 10),
      DatedRow(from: .ruleBegin(2015, 8, 1), exchange: .beijing, kind: .stock, 25),
      DatedRow(from: .ruleBegin(2015, 8, 1), kind: .stock, 20),
    ], side: nil)

  /// Rounded half up to the cent.
  func fee(of amount: ExactDecimal, terms: FeeTerms) throws(ExactDecimalError) -> ExactDecimal {
    guard side == nil || side == terms.side,
      let millionths = rows.value(for: terms.instrument, on: terms.day)
    else { return .zero }
    return try (amount * ExactDecimal(units: millionths, scale: 6)).rounded(places: 2)
  }
}
