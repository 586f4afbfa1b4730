/// The sources and their requests by name, for tests of what candled does with them.
import Feeds
import Market

extension Source {
  package static let sina = Source.live
  package static let mairui = Source(rawValue: 2)
  package static let alpacaIEX = Source(rawValue: 3)
  package static let alpacaSIP = Source(rawValue: 4)
}

extension FeedRequest {
  package static func sinaKline(
    _ symbol: Symbol, _ timeframe: Timeframe, bars: Int
  ) -> FeedRequest {
    FeedRequest(.newestBars(symbol, timeframe, count: bars), to: .sina)
  }

  package static func sinaFactors(
    _ symbol: Symbol, _ kind: AdjustmentFactor.Kind
  ) -> FeedRequest {
    FeedRequest(.factors(symbol, kind), to: .sina)
  }

  package static func sinaNodeCount(_ node: SinaNode) -> FeedRequest {
    FeedRequest(.listCount(node.part), to: .sina)
  }

  package static func sinaNodePage(_ node: SinaNode, page: Int) -> FeedRequest {
    FeedRequest(.listPage(node.part, page: page), to: .sina)
  }

  package static let sinaCalendar = FeedRequest(.tradingDays, to: .sina)

  package static func mairuiList(_ board: MairuiBoard) -> FeedRequest {
    FeedRequest(.list(board.part), to: .mairui)
  }

  package static func alpacaBars(
    _ query: BarsQuery, from source: Source = .alpacaIEX
  ) -> FeedRequest {
    FeedRequest(.bars(query), to: source)
  }

  package static func alpacaCalendar(from: TradingDay, to: TradingDay) -> FeedRequest {
    FeedRequest(.sessions(from: from, to: to), to: .alpacaIEX)
  }

  package static let alpacaAssets = FeedRequest(.names, to: .alpacaIEX)
}
