import Feeds
import Market
import Reader

/// The tables that a replay is compared with: those of a database, or of a test.
package protocol ReplayedTables {
  func instruments(of source: Source) throws(StoreError) -> [Symbol]
  /// Days that have rows.
  func days(from first: TradingDay) throws(StoreError) -> [TradingDay]
  /// - Parameter moment: as they were known before then; nil as they are.
  func candles(
    of symbol: Symbol, day: TradingDay, before moment: Timestamp?
  ) throws(StoreError) -> [StoredCandle]
  func gaps(day: TradingDay) throws(StoreError) -> [GapRecord]
  func certificates(day: TradingDay) throws(StoreError) -> [CertificateRecord]
  func rejections(day: TradingDay) throws(StoreError) -> [RejectionRecord]
  func quotes() throws(StoreError) -> [LatestQuote]
  /// Who served each series from when on, in order of time.
  func serving() throws(StoreError) -> [ServingRow]
}

extension StoreReader: ReplayedTables {
  package func instruments(of source: Source) throws(StoreError) -> [Symbol] {
    try instruments().filter { $0.source == source.name }.map(\.symbol)
  }

  package func gaps(day: TradingDay) throws(StoreError) -> [GapRecord] {
    try gapRecords(day: day)
  }

  package func certificates(day: TradingDay) throws(StoreError) -> [CertificateRecord] {
    try certificates(day: day, symbol: nil)
  }

  package func quotes() throws(StoreError) -> [LatestQuote] { try latest() }
}
