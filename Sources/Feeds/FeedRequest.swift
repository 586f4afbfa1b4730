/// Everything that can be asked of a source beside its quotes.
///
/// A request is a value: it makes its endpoint, it is kept in the journal as one line of text, and
/// its answer is decoded from that line alone. It never holds a secret; those join it only in
/// `endpoint(credentials:)`.

import Market

public enum FeedRequest: Sendable, Hashable {
  case mairuiList(MairuiBoard)
  /// One page of ready-made bars.
  case alpacaBars(AlpacaBarsQuery)
  /// The sessions of the American exchanges, both days included.
  case alpacaCalendar(from: TradingDay, to: TradingDay)
  case alpacaAssets
}

extension FeedRequest {
  /// Whose journal series it is. Alpaca's reference data belong to no feed; they go with the one
  /// every plan has.
  public var source: Source {
    switch self {
    case .mairuiList: .mairui
    case .alpacaBars(let query): query.feed.source
    case .alpacaCalendar, .alpacaAssets: .alpacaIEX
    }
  }

  /// The name of its journal series, at most 64 bytes: `list/hslt`, `bars/1m`. Answers of one series
  /// resemble each other.
  public var journalKey: String {
    switch self {
    case .mairuiList(let board): "list/\(board.rawValue)"
    case .alpacaBars(let query): "bars/\(query.timeframe.name)"
    case .alpacaCalendar: "calendar"
    case .alpacaAssets: "assets"
    }
  }

  /// - Precondition: `credentials` are those of the source.
  public func endpoint(credentials: FeedCredentials?) -> Endpoint {
    switch self {
    case .mairuiList(let board): board.endpoint(licence: credentials.licence)
    case .alpacaBars(let query): query.endpoint(headers: credentials.keyHeaders)
    case .alpacaCalendar(let from, let to):
      AlpacaCalendar.endpoint(from: from, to: to, headers: credentials.keyHeaders)
    case .alpacaAssets: AlpacaAssets.endpoint(headers: credentials.keyHeaders)
    }
  }
}
