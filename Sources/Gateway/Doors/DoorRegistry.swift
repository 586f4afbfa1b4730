/// The doors that there are: the one place outside their folders that names them.

enum DoorRegistry {
  static func routes(memory: MarketMemory, pool: QueryPool) -> [Route] {
    let market = MarketRoutes(memory: memory, pool: pool)
    return AlpacaRoutes(market: market).all + UDFRoutes(market: market).all
  }

  static func trading(_ service: TradingService) -> [Route] {
    AlpacaTradingRoutes(service: service).all
  }

  /// - Parameter market: the newest published state.
  static func streams(market: @escaping @Sendable () -> MarketState) -> [StreamDoor] {
    let alpaca = AlpacaStream(market: market)
    return [
      { alpaca.translator(for: $0) }, { AlpacaTradeUpdates(for: $0, market: market) },
    ]
  }
}
