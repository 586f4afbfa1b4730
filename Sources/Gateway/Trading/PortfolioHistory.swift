import AppStore
import HTTPTypes
import Market
import PaperTrading
import Reader

/// What an account was worth at the end of each trading day.
struct PortfolioDay: Sendable, Hashable {
  let day: TradingDay
  let cash: ExactDecimal
  let value: ExactDecimal
  let equity: ExactDecimal
  /// Since the account was made: what it is worth less what was paid in.
  let profit: ExactDecimal
}

/// Cash and shares by day from the ledger, times the closes of the day candles.
struct PortfolioHistory: Sendable {
  private let changes: [DayBalance]
  private let closes: [Symbol: [TradingDay: ExactDecimal]]

  init(_ changes: [DayBalance], closes: [Symbol: [TradingDay: ExactDecimal]]) {
    self.changes = changes
    self.closes = closes
  }

  /// Of the days with a close or a posting, from the account's first one on, oldest first. A day
  /// without a close of an instrument has the one before; one on which there is none is left out.
  func days(
    from first: TradingDay, through last: TradingDay
  ) throws(ExactDecimalError) -> [PortfolioDay] {
    let known = Set(changes.map(\.day)).union(closes.values.flatMap(\.keys))
    let byDay = Dictionary(grouping: changes, by: \.day)
    var (cash, deposited) = (ExactDecimal.zero, ExactDecimal.zero)
    var (shares, prices): ([Symbol: ExactDecimal], [Symbol: ExactDecimal]) = ([:], [:])
    var days: [PortfolioDay] = []
    guard let opened = changes.first?.day else { return [] }
    for day in known.sorted() where day <= last {
      for (symbol, closes) in closes { if let close = closes[day] { prices[symbol] = close } }
      for change in byDay[day] ?? [] {
        switch change.unit {
        case .cash:
          cash = try cash + change.change
          deposited = try deposited + change.deposited
        case .shares(let symbol):
          shares[symbol] = try (shares[symbol] ?? .zero) + change.change
        }
      }
      guard day >= max(first, opened) else { continue }
      let held = shares.filter { !$0.value.isZero }
      guard held.keys.allSatisfy({ prices[$0] != nil }) else { continue }
      var value = ExactDecimal(units: 0, scale: 2)
      for (symbol, quantity) in held {
        value = try value + (try ((prices[symbol] ?? .zero) * quantity).rescaled(places: 2))
      }
      let equity = try cash + value
      days.append(
        PortfolioDay(
          day: day, cash: cash, value: value, equity: equity, profit: try equity - deposited))
    }
    return days
  }
}

extension TradingService {
  /// The date of an account's market, by the daemon's clock.
  func today(of account: PaperAccount) -> TradingDay {
    account.market.zone.day(at: memory.state.clock(at: .now))
  }

  /// Of these days, as far as there was the account.
  /// - Throws: 422 where they are more than `daysMax`.
  func history(
    of account: PaperAccount, from start: TradingDay, through end: TradingDay
  ) async throws(Problem) -> [PortfolioDay] {
    let state = memory.state
    if !state.isLoaded { throw .storeAway }
    let id = account.id
    let changes = try await run { (connection) throws(AppStoreError) in
      try HoldingTable(connection).days(of: id)
    }
    guard let opened = changes.map(\.day).min(), opened <= end, start <= end else { return [] }
    let zone = account.market.zone
    let first = max(start, opened)
    let last = min(end, today(of: account))
    guard first.distance(to: last) < Self.daysMax else {
      throw Problem(
        .unprocessableContent, code: "range_too_long",
        title: "A history has at most \(Self.daysMax) days: begin it later, or end it earlier.")
    }
    let symbols = Set(
      changes.compactMap { change -> Symbol? in
        if case .shares(let symbol) = change.unit { return symbol }
        return nil
      })
    let places = symbols.compactMap { state.directory.meant(by: $0) }
    let listed = places.map { state.directory[$0] }
    // The day that is not over has its newest prices.
    let newest = Self.newestPrices(at: places, in: state)
    let closes = try await query { (reader) throws(StoreError) in
      var closes = newest
      for series in listed {
        var query = CandleQuery(series.symbol, timeframe: .day1)
        query.source = series.sourceName
        // The close before the first day is of one of the days before.
        query.from = zone.moment(on: first.advanced(by: -Self.daysBefore), secondOfDay: 0)
        query.to = zone.moment(on: last.advanced(by: 1), secondOfDay: 0)
        for candle in try reader.candles(query) {
          if let close = candle.close {
            closes[series.symbol, default: [:]][candle.tradingDay] = close
          }
        }
      }
      return closes
    }
    do throws(ExactDecimalError) {
      return try PortfolioHistory(changes, closes: closes).days(from: first, through: last)
    } catch {
      throw .internalError
    }
  }

  private static func newestPrices(
    at places: [SeriesPlace], in state: MarketState
  ) -> [Symbol: [TradingDay: ExactDecimal]] {
    var prices: [Symbol: [TradingDay: ExactDecimal]] = [:]
    for place in places {
      guard let figures = state.figures[place.index], let price = figures.price else { continue }
      prices[state.directory[place].symbol] = [figures.tradingDay: price]
    }
    return prices
  }

  /// Calendar days of a history: more than two years, about 500 trading days.
  private static let daysMax = 750
  /// Longer than any holidays.
  private static let daysBefore = 30
}

extension PaperMarket {
  var zone: MarketZone { self == .mainland ? .shanghai : .newYork }
}
