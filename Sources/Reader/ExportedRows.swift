/// What an export asks: which series a market has, whether a day of it is over, which days have
/// closed, and a day's candles, some series at once.

import Market
import Postgres

/// A series, and the name of the market it belongs to.
package struct MarketSeries: Sendable, Hashable {
  package var market: String
  package var symbol: Symbol
  package var source: String

  package init(market: String, symbol: Symbol, source: String) {
    self.market = market
    self.symbol = symbol
    self.source = source
  }
}

/// A trading day of one market.
package struct MarketDay: Sendable, Hashable {
  package var market: String
  package var day: TradingDay

  package init(market: String, day: TradingDay) {
    self.market = market
    self.day = day
  }
}

extension StoreReader {
  private static let readMarkets = Statement(
    name: "export_markets", sql: "select name from market order by code")

  package func markets() throws(StoreError) -> [String] {
    try read(Self.readMarkets) { (row) throws(StoreError) in try row.text() }
  }

  private static let readMarketSeries = Statement(
    name: "export_series",
    sql: """
      select m.name, i.symbol, s.name
      from instruments i
      join source s on s.name = i.source
      join market m on m.code = s.market
      order by i.symbol collate "C", s.priority, s.code
      """)

  /// Every series there is, by symbol.
  package func marketSeries() throws(StoreError) -> [MarketSeries] {
    try read(Self.readMarketSeries) { (row) throws(StoreError) in
      MarketSeries(market: try row.text(), symbol: try row.symbol(), source: try row.text())
    }
  }

  private static let readIsOver = Statement(
    name: "export_is_over",
    sql: """
      select now() >= ($2::date + 1)::timestamp at time zone m.zone
        or exists (
          select
          from coverage c
          join source s on s.name = c.source
          where s.market = m.code
            and c.trading_day = $2::date
            and c.certified)
      from market m
      where m.name = $1::text
      """)

  /// Whether a day has ended on the clock of its market, or has certificates.
  package func isOver(_ day: TradingDay, in market: String) throws(StoreError) -> Bool {
    var parameters = WireParameters()
    parameters.add { $0.text(market) }
    parameters.add { $0.date(day) }
    return try read(Self.readIsOver, with: parameters) { (row) throws(StoreError) in
      try row.bool()
    }.first ?? false
  }

  private static let readClosedDays = Statement(
    name: "export_closed_days",
    sql: """
      select m.name, d.day
      from market m
      cross join lateral (
        select c.trading_day
        from coverage c
        join source s on s.name = c.source
        where s.market = m.code
          and c.trading_day >= $1::date
          and c.certified
        union
        select g::date
        from generate_series(
          $1::date::timestamp, (now() at time zone m.zone)::date - interval '1 day', '1 day') g
        where not exists (select from source s where s.market = m.code and s.kind = 'quotes')
      ) d (day)
      order by d.day, m.name
      """)

  /// The days from `first` on that have certificates; of a market that has bars alone, and so no
  /// certificates, those that have ended on its clock.
  package func closedDays(from first: TradingDay) throws(StoreError) -> [MarketDay] {
    var parameters = WireParameters()
    parameters.add { $0.date(first) }
    return try read(Self.readClosedDays, with: parameters) { (row) throws(StoreError) in
      MarketDay(market: try row.text(), day: try row.day())
    }
  }

  private static let readDay = Statement(
    name: "export_day",
    sql: """
      select c.symbol, c.opened_at, c.closed_at, c.trading_day, c.open, c.high, c.low, c.close,
        c.volume, c.turnover, c.trades, c.vwap, c.flags, c.revision, c.known_from, c.source
      from market m
      cross join lateral candles(
        $1::text[], $2::text, $3::date::timestamp at time zone m.zone,
        ($3::date + 1)::timestamp at time zone m.zone, 'none', 'raw', null, $4::text) c
      where m.name = $5::text
      """)

  /// The final candles that opened on a day of the market's clock, by symbol and time.
  /// - Parameter symbols: of one market and source.
  package func candles(
    of symbols: [Symbol], timeframe: Timeframe, on day: TradingDay, in market: String,
    from source: String
  ) throws(StoreError) -> [(symbol: Symbol, candle: CandleRecord)] {
    var parameters = WireParameters()
    parameters.add { buffer in
      buffer.array(symbols.map(\.description), type: .text) { $0.text($1) }
    }
    parameters.add { $0.text(timeframe.name) }
    parameters.add { $0.date(day) }
    parameters.add { $0.text(source) }
    parameters.add { $0.text(market) }
    return try read(Self.readDay, with: parameters) { (row) throws(StoreError) in
      (symbol: try row.symbol(), candle: try row.candleRecord())
    }
  }
}
