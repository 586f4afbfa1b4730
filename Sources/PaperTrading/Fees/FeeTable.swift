import Market

/// The fees that are not the broker's, by date. The exchanges' handling fee (0.00341 % in Shanghai
/// and Shenzhen, 0.0125 % in Beijing) is part of the commission and not charged beside it.
struct FeeTable: Sendable {
  struct Row: Sendable {
    let from: TradingDay
    /// In millionths of the amount.
    let millionths: Int64
    var exchange: Exchange?
  }

  /// The newest first; of the rows of one day, that of an exchange before that of all.
  let rows: [Row]
  /// nil: both.
  let side: Side?

  /// Shares alone: funds and bonds pay none.
  static let stampDuty = FeeTable(
    rows: [
      // [RULE] Ministry of Finance and State Taxation Administration 2023 No. 39.
      Row(from: day(2023, 8, 28), millionths: 500),
      // [PAGE] Sellers alone pay since then.
      Row(from: day(2008, 9, 19), millionths: 1_000),
    ], side: .sell)

  static let transferFee = FeeTable(
    rows: [
      // [PAGE] ChinaClear's tables.
      Row(from: day(2022, 4, 29), millionths: 10),
      Row(from: day(2015, 8, 1), millionths: 25, exchange: .beijing),
      Row(from: day(2015, 8, 1), millionths: 20),
    ], side: nil)

  /// Rounded half up to the cent.
  func fee(of amount: ExactDecimal, terms: FeeTerms) throws(ExactDecimalError) -> ExactDecimal {
    let instrument = terms.instrument
    guard instrument.kind == .stock, instrument.exchange != .unitedStates,
      side == nil || side == terms.side,
      let row = rows.first(where: {
        $0.from <= terms.day && ($0.exchange == nil || $0.exchange == instrument.exchange)
      })
    else { return .zero }
    return try (amount * ExactDecimal(units: row.millionths, scale: 6)).rounded(places: 2)
  }

  private static func day(_ year: Int, _ month: Int, _ day: Int) -> TradingDay {
    .ruleBegin(year, month, day)
  }
}
