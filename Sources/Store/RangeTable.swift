import Market
import Postgres

/// What pages ask of a year of days, kept in the transaction that changes a day candle. A new
/// candle is added to what is kept; after a revision, with many days at once or with other factors,
/// an instrument's year is read again, once a commit.
struct RangeTable: TableGroup {
  let session: WriterSession

  private static let keep = Statement(
    name: "keep_ranges", sql: "select keep_ranges($1::int[], $2::timestamptz[])")

  /// To be called after the last candle of the transaction is written.
  func write(in context: borrowing CommitContext) throws(StoreError) {
    // nil where the year is read again.
    var added: [Int32: Timestamp?] = [:]
    for key in context.keys.candles where key.isDay {
      let isFirst = added[key.instrument] == nil
      added.updateValue(isFirst ? key.openedAt : nil, forKey: key.instrument)
    }
    for key in context.keys.revisions where key.isDay {
      added.updateValue(nil, forKey: key.instrument)
    }
    for instrument in context.keys.factors { added.updateValue(nil, forKey: instrument) }
    if added.isEmpty { return }
    let rows = added.sorted { $0.key < $1.key }
    let parameters = WireParameters(
      .int32s(rows.map(\.key)),
      .array(rows.map(\.value), type: .timestamptz) { $0.optionalTimestamp($1) })
    try run(Self.keep, with: parameters)
  }
}

extension CandleKey {
  fileprivate var isDay: Bool { timeframe == Timeframe.day1.rawValue }
}
