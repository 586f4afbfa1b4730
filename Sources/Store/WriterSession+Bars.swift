import Market

/// Ready-made bars that are taken as delivered. History's go by COPY straight into `candle`, and
/// through the staging table only once they clash with stored keys; the daemon's, mostly read
/// again minutes, are staged at once, so that a clash never costs its sweep.
extension WriterSession {
  /// A bar where it lies: a candle is 200 bytes, too much to sort a hundred thousand of.
  private struct BarPlace {
    var key: CandleKey
    var batch: Int
    var index: Int
  }

  func writeBars(
    _ commit: SortedCommit, stages: Bool, _ draft: inout Draft
  ) throws(StoreError) {
    let batches = commit.base.bars.filter { $0.role == .deliver }
    if batches.isEmpty { return }
    let places = places(of: batches)
    if commit.history != nil, !stages { return try copy(places, of: batches, &draft) }
    let rows = places.map { place in
      StagedCandle(
        key: place.key, candle: batches[place.batch].candles[place.index],
        cause: RevisionCause.sourceCorrected.rawValue, knownAt: batches[place.batch].receivedAt)
    }
    try stage(rows, &draft)
  }

  /// In key order, of equal keys the last.
  private func places(of batches: [BarBatch]) -> [BarPlace] {
    var places: [BarPlace] = []
    places.reserveCapacity(batches.reduce(0) { $0 + $1.candles.count })
    for (batch, rows) in batches.enumerated() {
      let id = id(of: rows.symbol, rows.source)
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
    _ places: [BarPlace], of batches: [BarBatch], _ draft: inout Draft
  ) throws(StoreError) {
    try connection.beginCopy(Self.copyCandles, context: Context.candles)
    buffer.beginCopy()
    for place in places {
      buffer.candleRow(
        batches[place.batch].candles[place.index], key: place.key,
        knownAt: batches[place.batch].receivedAt, cause: nil)
      try connection.sendWhenLarge(&buffer, context: Context.candles)
    }
    buffer.endCopy()
    draft.receipt.candles += try connection.endCopy(&buffer, context: Context.candles)
    draft.candles += places.map(\.key)
  }
}
