import PaperTrading

extension InstrumentTrading {
  /// A row of a day without limits.
  mutating func accept(_ row: Snapshot) -> [FillEvent] { accept(MarketRow(row, band: nil)) }

  func isActive(_ id: Int64) -> Bool {
    orders.first { $0.order.id == id }.map { isActive($0.order) } ?? false
  }
}
