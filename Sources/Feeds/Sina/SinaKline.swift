/// Sina's K-line: the newest bars of one instrument, unadjusted.
///
/// Asked in the form `jsonp_v2` with an empty callback: only that one knows bars of a minute, gives
/// up to 1970 bars, and has the turnover (docs/sources/sina.md#k-lines).
///
/// Volumes are shares or units as sent; of Shanghai's indexes the unit is not known for certain,
/// and nothing is multiplied.

import Market

package enum SinaKline {
  /// Bars in one answer: the most that is given; 9900 is answered with `null` (akshare #4094).
  package static let barsMax = 1970
  /// The raw value of each is the `scale` of a request.
  package static let timeframes = Set(Timeframe.allCases.filter { $0 != .afterHours })

  /// Asks for the newest `bars` bars of `symbol`, the forming one included.
  /// - Precondition: `symbol` is `sh`, `sz` or `bj` and six digits; one of `timeframes`;
  ///   1…`barsMax` bars.
  static func endpoint(symbol: Symbol, timeframe: Timeframe, bars: Int) -> Endpoint {
    precondition(SinaHistory.isRequestable(symbol), "only sh, sz and bj have K-lines")
    precondition(timeframes.contains(timeframe), "Sina has no bars of \(timeframe.name)")
    precondition((1...barsMax).contains(bars), "a response holds 1…1970 bars")
    let method = "/cn/api/jsonp_v2.php/=/CN_MarketDataService.getKLineData"
    return Endpoint(
      route: "\(method)?scale=\(timeframe.rawValue)",
      path: "\(method)?symbol=\(symbol)&scale=\(timeframe.rawValue)&ma=no&datalen=\(bars)",
      headers: SinaHistory.headers)
  }

  /// Reads one answer to a request for `symbol` and `timeframe`.
  ///
  /// The bars come ascending, no two of one interval. The last one may still be forming: whoever
  /// knows when the answer came leaves out what closes later.
  static func decode(
    _ body: UnsafeRawBufferPointer, status: Int, symbol: Symbol, timeframe: Timeframe,
    calendar: TradingCalendar = .shanghai
  ) throws(FeedRefusal) -> CandlePage {
    if let refusal = SinaRefusal.classify(body, status: status) { throw refusal }
    var rows = SinaKlineRows(symbol: symbol, timeframe: timeframe, calendar: calendar)
    try SinaRows.read(body) { (reader: inout JSONReader, place) throws(JSONFault) in
      try rows.read(&reader, at: place)
    }
    return try rows.page()
  }
}

/// The rows of one answer while it is read.
private struct SinaKlineRows {
  let symbol: Symbol
  let timeframe: Timeframe
  let calendar: TradingCalendar
  var bars: [(place: Int, candle: Candle, text: UnsafeRawBufferPointer)] = []
  var refused: [RefusedRow] = []
  var dropped: [DroppedMember] = []

  mutating func read(_ reader: inout JSONReader, at place: Int) throws(JSONFault) {
    let start = reader.offset
    var row = try SinaKlineRow(&reader)
    do throws(RowFault) {
      let candle = try row.candle(of: symbol, timeframe: timeframe, calendar: calendar)
      dropped += row.dropped
      bars.append((place, candle, reader.text(from: start)))
    } catch {
      refuse(place, because: error, text: reader.text(from: start))
    }
  }

  /// - Throws: `noData` for no rows; `malformed` where no row is a bar.
  mutating func page() throws(FeedRefusal) -> CandlePage {
    if bars.isEmpty {
      guard let first = refused.first else {
        throw FeedRefusal(.noData, "the response holds no bars")
      }
      throw FeedRefusal(.malformed, "no row is a valid bar: \(first.detail)")
    }
    let (kept, faults) = SinaKlineOrder.check(bars.map(\.candle))
    for (index, fault) in faults {
      refuse(bars[index].place, because: fault, text: bars[index].text)
    }
    return CandlePage(
      candles: kept.map { bars[$0].candle }, refused: refused.sorted { $0.index < $1.index },
      dropped: dropped)
  }

  private mutating func refuse(_ place: Int, because fault: RowFault, text: UnsafeRawBufferPointer)
  {
    refused.append(RefusedRow(place, of: symbol, because: fault, payload: text))
  }
}
