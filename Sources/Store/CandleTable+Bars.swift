import Commits
import Market
import Postgres

/// Ready-made bars that are taken as delivered. History's go by COPY straight into `candle`, and
/// through the staging table only once they clash with stored keys; the daemon's, mostly read
/// again minutes, are staged at once, so that a clash never costs its sweep.
extension CandleTable {
  /// A bar where it lies: a candle is 200 bytes, too much to sort a hundred thousand of.
  private struct BarPlace {
    var key: CandleKey
    var batch: Int
    var index: Int
  }

  func writeBars(
    _ bars: [BarBatch], in context: inout CommitContext
  ) throws(StoreError) {
    let delivered = bars.filter { $0.role == .deliver }
    let rows =
      context.strategy.isolatesRows ? delivered.flatMap(\.byCandle) : delivered
    try session.write(rows, in: &context, rowDescription: \.rowDescription, by: add)
  }

  private func add(_ batches: [BarBatch], in context: inout CommitContext) throws(StoreError) {
    let places = places(of: batches)
    if context.isHistory, !context.stagesCandles {
      return try copy(places, of: batches, in: &context)
    }
    let rows = places.map { place in
      StagedCandle(
        key: place.key, candle: batches[place.batch].candles[place.index],
        cause: RevisionCause.sourceCorrected.rawValue, knownAt: batches[place.batch].receivedAt)
    }
    try stage(rows, in: &context)
  }

  /// In key order, of equal keys the last.
  private func places(of batches: [BarBatch]) -> [BarPlace] {
    var places: [BarPlace] = []
    places.reserveCapacity(batches.reduce(0) { $0 + $1.candles.count })
    for (batch, rows) in batches.enumerated() {
      let id = id(of: rows.symbol, source: rows.source)
      for index in rows.candles.indices {
        let key = CandleKey(
          instrument: id, timeframe: rows.timeframe.rawValue,
          openedAt: rows.candles[index].openedAt)
        places.append(BarPlace(key: key, batch: batch, index: index))
      }
    }
    if zip(places, places.dropFirst()).allSatisfy({ $0.key < $1.key }) { return places }
    places.sort { ($0.key, $0.batch, $0.index) < ($1.key, $1.batch, $1.index) }
    return places.indices.filter { place in
      place + 1 == places.count || places[place].key != places[place + 1].key
    }
    .map { places[$0] }
  }

  private func copy(
    _ places: [BarPlace], of batches: [BarBatch], in context: inout CommitContext
  ) throws(StoreError) {
    try connection.beginCopy(Self.copyCandles, context: CommitStep.candles)
    session.buffer.beginCopy()
    for place in places {
      session.buffer.candleRow(
        batches[place.batch].candles[place.index], key: place.key,
        knownAt: batches[place.batch].receivedAt, cause: nil)
      try connection.sendWhenLarge(&session.buffer, context: CommitStep.candles)
    }
    session.buffer.endCopy()
    context.receipt.candles += try connection.endCopy(&session.buffer, context: CommitStep.candles)
    context.keys.candles += places.map(\.key)
  }
}

// MARK: - Certified days

extension CandleTable {
  private static let readCertified = Statement(
    name: "read_certified_days",
    sql: """
      select instrument_id, trading_day
      from day_audit
      where instrument_id = any ($1::int[])
        and trading_day between $2::date and $3::date
      """)

  /// With the minutes of certified days taken out of what is to be delivered, and made repairs:
  /// only so does a certificate stay true.
  func divided(_ bars: [BarBatch]) throws(StoreError) -> [BarBatch] {
    let minutes = bars.filter(\.mayTouchCertificates)
    let days = Set(minutes.lazy.flatMap { $0.candles.lazy.map(\.tradingDay) })
    guard let first = days.min(), let last = days.max() else { return bars }
    let instruments = Set(minutes.map { id(of: $0.symbol, source: $0.source) }).sorted()
    let parameters = WireParameters(.int32s(instruments), .day(first), .day(last))
    var certified: [Int32: Set<TradingDay>] = [:]
    for var row in try run(Self.readCertified, with: parameters).rows {
      certified[try row.int32(), default: []].insert(try row.day())
    }
    if certified.isEmpty { return bars }
    return bars.flatMap { batch in
      let days = certified[id(of: batch.symbol, source: batch.source)] ?? []
      return batch.mayTouchCertificates ? batch.divided(repairing: days) : [batch]
    }
  }
}
