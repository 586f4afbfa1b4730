import AppStore
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

  static let daysMax = 366

  init(_ changes: [DayBalance], closes: [Symbol: [TradingDay: ExactDecimal]]) {
    self.changes = changes
    self.closes = closes
  }

  /// Of the days with a close or a posting, from the account's first one on, oldest first. A day
  /// without a close of an instrument has the one before; one on which there is none is left out.
  func days(from first: TradingDay) throws(ExactDecimalError) -> [PortfolioDay] {
    let known = Set(changes.map(\.day)).union(closes.values.flatMap(\.keys))
    let byDay = Dictionary(grouping: changes, by: \.day)
    var (cash, deposited) = (ExactDecimal.zero, ExactDecimal.zero)
    var (shares, prices): ([Symbol: ExactDecimal], [Symbol: ExactDecimal]) = ([:], [:])
    var days: [PortfolioDay] = []
    guard let opened = changes.first?.day else { return [] }
    for day in known.sorted() {
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
    return days.suffix(Self.daysMax)
  }
}

extension TradingService {
  /// - Parameter daysBack: calendar days before today.
  func history(
    of account: PaperAccount, daysBack: Int
  ) async throws(Problem) -> [PortfolioDay] {
    let state = memory.state
    if !state.isLoaded { throw .storeAway }
    let id = account.id
    let changes = try await run { (connection) throws(AppStoreError) in
      try HoldingTable(connection).days(of: id)
    }
    let zone = account.market.zone
    let today = zone.day(at: state.clock(at: .now))
    guard let opened = changes.map(\.day).min() else { return [] }
    let first = max(today.advanced(by: -min(daysBack, Self.daysBackMax)), opened)
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
        for candle in try reader.candles(query) {
          if let close = candle.close {
            closes[series.symbol, default: [:]][candle.tradingDay] = close
          }
        }
      }
      return closes
    }
    do throws(ExactDecimalError) {
      return try PortfolioHistory(changes, closes: closes).days(from: first)
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

  /// `PortfolioHistory.daysMax` trading days are less.
  private static let daysBackMax = 560
  /// Longer than any holidays.
  private static let daysBefore = 30
}

extension PaperMarket {
  var zone: MarketZone { self == .mainland ? .shanghai : .newYork }
}
