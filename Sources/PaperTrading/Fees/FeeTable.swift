import Market

/// The fees that are not the broker's, in millionths of the money moved. Shares alone pay them:
/// funds and bonds do not. The exchanges' handling fee (0.00341 % in Shanghai and Shenzhen,
/// 0.0125 % in Beijing) is part of the commission and not charged beside it.
struct FeeTable: Sendable {
  let rows: [DatedRow<Int64>]
  /// nil: both.
  let side: Side?

  /// [RULE] Sellers alone pay: Ministry of Finance and State Taxation Administration 2023 No. 39.
  static let stampDuty = FeeTable(rows: [DatedRow(kind: .stock, value: 500)], side: .sell)

  /// [PAGE] ChinaClear's tables.
  static let transferFee = FeeTable(rows: [DatedRow(kind: .stock, value: 10)], side: nil)

  /// Rounded half up to the cent.
  func fee(of amount: ExactDecimal, terms: FeeTerms) throws(ExactDecimalError) -> ExactDecimal {
    guard side == nil || side == terms.side,
      let millionths = rows.value(for: terms.instrument, on: terms.day)
    else { return .zero }
    return try (amount * ExactDecimal(units: millionths, scale: 6)).rounded(places: 2)
  }
}
