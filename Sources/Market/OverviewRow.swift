/// One world index of the market overview.
public struct OverviewRow: Sendable, Hashable {
  public var symbol: String
  public var name: String?
  public var last: ExactDecimal
  public var change: ExactDecimal
  /// In per cent.
  public var percentChange: ExactDecimal
  public var at: Timestamp

  public init(
    symbol: String, name: String?, last: ExactDecimal, change: ExactDecimal,
    percentChange: ExactDecimal, at: Timestamp
  ) {
    self.symbol = symbol
    self.name = name
    self.last = last
    self.change = change
    self.percentChange = percentChange
    self.at = at
  }
}
