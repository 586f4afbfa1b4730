/// Everything that can be asked of a source beside its quotes.
///
/// A request is a value: it makes its endpoint, it is kept in the journal as one line of text, and
/// its answer is decoded from that line alone. It never holds a secret; those join it only in
/// `endpoint(credentials:)`.

import Market

package enum FeedRequest: Sendable, Hashable {
  case mairuiList(MairuiBoard)
  /// One page of ready-made bars.
  case alpacaBars(AlpacaBarsQuery)
  /// The sessions of the American exchanges, both days included.
  case alpacaCalendar(from: TradingDay, to: TradingDay)
  case alpacaAssets
  /// The newest bars of `symbol`, at most `SinaKline.barsMax`, the forming one included.
  case sinaKline(Symbol, SinaKlineScale, bars: Int)
  case sinaFactors(Symbol, AdjustmentFactor.Kind)
  /// How many instruments a list holds: pages are asked for until they are all there.
  case sinaNodeCount(SinaNode)
  /// One page of a list, counted from 1, of `SinaNode.pageRows` rows.
  case sinaNodePage(SinaNode, page: Int)
  /// The trading days of Shanghai since its first.
  case sinaCalendar
}

extension FeedRequest {
  /// Whose journal series it is. Alpaca's reference data belong to no feed; they go with the one
  /// every plan has.
  package var source: Source {
    switch self {
    case .mairuiList: .mairui
    case .alpacaBars(let query): query.feed.source
    case .alpacaCalendar, .alpacaAssets: .alpacaIEX
    case .sinaKline, .sinaFactors, .sinaNodeCount, .sinaNodePage, .sinaCalendar: .sina
    }
  }

  /// The name of its journal series, at most 64 bytes: `list/hslt`, `bars/1m`. Answers of one
  /// series resemble each other. The journal remembers an answer of each series, so a night of
  /// K-lines is one series and not one an instrument: neighbours have the same stamps, and nobody
  /// asks for the same instrument again while it is remembered.
  package var journalKey: String {
    switch self {
    case .mairuiList(let board): "list/\(board.rawValue)"
    case .alpacaBars(let query): "bars/\(query.timeframe.name)"
    case .alpacaCalendar: "calendar"
    case .alpacaAssets: "assets"
    case .sinaKline(_, let scale, _): "kline/\(scale.rawValue)"
    case .sinaFactors(_, let kind): "factors/\(kind.name)"
    case .sinaNodeCount(let node): "node-count/\(node.rawValue)"
    case .sinaNodePage(let node, _): "node/\(node.rawValue)"
    case .sinaCalendar: "calendar"
    }
  }

  /// - Precondition: `credentials` are those of the source; Sina knows none. A symbol asked of Sina
  ///   `isRequestable`, and counts are within their limits.
  package func endpoint(credentials: FeedCredentials?) -> Endpoint {
    switch self {
    case .mairuiList(let board): board.endpoint(licence: credentials.licence)
    case .alpacaBars(let query): query.endpoint(headers: credentials.keyHeaders)
    case .alpacaCalendar(let from, let to):
      AlpacaCalendar.endpoint(from: from, to: to, headers: credentials.keyHeaders)
    case .alpacaAssets: AlpacaAssets.endpoint(headers: credentials.keyHeaders)
    case .sinaKline(let symbol, let scale, let bars):
      SinaKline.endpoint(symbol: symbol, scale: scale, bars: bars)
    case .sinaFactors(let symbol, let kind): SinaFactors.endpoint(symbol: symbol, kind: kind)
    case .sinaNodeCount(let node): SinaNodes.countEndpoint(of: node)
    case .sinaNodePage(let node, let page): SinaNodes.pageEndpoint(of: node, page: page)
    case .sinaCalendar: SinaCalendar.endpoint
    }
  }
}
