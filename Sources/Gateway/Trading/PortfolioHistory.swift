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
  private let balances: [DayBalance]
  private let closes: [Symbol: [TradingDay: ExactDecimal]]

  init(_ balances: [DayBalance], closes: [Symbol: [TradingDay: ExactDecimal]]) {
    self.balances = balances
    self.closes = closes
  }

  /// Of the days with a close or a posting, from the account's first one on, oldest first. A day
  /// without a close of an instrument has the one before; one on which there is none is left out.
  func days(
    from first: TradingDay, through last: TradingDay
  ) throws(ExactDecimalError) -> [PortfolioDay] {
    let known = Set(balances.map(\.day)).union(closes.values.flatMap(\.keys))
    let byDay = Dictionary(grouping: balances, by: \.day)
    var (cash, paidIn) = (ExactDecimal.zero, ExactDecimal.zero)
    var (shares, prices): ([Symbol: ExactDecimal], [Symbol: ExactDecimal]) = ([:], [:])
    var days: [PortfolioDay] = []
    guard let opened = balances.first?.day else { return [] }
    for day in known.sorted() where day <= last {
      for (symbol, closes) in closes { if let close = closes[day] { prices[symbol] = close } }
      for row in byDay[day] ?? [] {
        if let symbol = row.unit.symbol {
          shares[symbol] = row.balance.isZero ? nil : row.balance
        } else {
          (cash, paidIn) = (row.balance, row.paidIn)
        }
      }
      guard day >= max(first, opened), shares.keys.allSatisfy({ prices[$0] != nil }) else {
        continue
      }
      var value = ExactDecimal(units: 0, scale: 2)
      for (symbol, quantity) in shares {
        value = try value + (try ((prices[symbol] ?? .zero) * quantity).rescaled(places: 2))
      }
      let equity = try cash + value
      days.append(
        PortfolioDay(
          day: day, cash: cash, value: value, equity: equity, profit: try equity - paidIn))
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
    let state = try memory.loaded()
    let (id, zone) = (account.id, account.market.zone)
    let opened = try await run { (connection) throws(AppStoreError) in
      try HoldingTable(connection).firstDay(of: id)
    }
    let last = min(end, today(of: account))
    guard let opened, opened <= last, start <= last else { return [] }
    let first = max(start, opened)
    guard first.distance(to: last) < Self.daysMax else {
      throw Problem(
        .unprocessableContent, code: "range_too_long",
        title: "A history has at most \(Self.daysMax) days: begin it later, or end it earlier.")
    }
    let balances = try await run { (connection) throws(AppStoreError) in
      try HoldingTable(connection).days(of: id, from: first, through: last)
    }
    let symbols = Set(balances.compactMap(\.unit.symbol))
    let places = symbols.compactMap { state.directory.place(ofCode: $0) }
    let listed = places.map { state.directory[$0] }
    // The day that is not over has its newest prices.
    let newest = Self.newestPrices(at: places, in: state)
    // The close before the first day is of one of the days before.
    let from = zone.moment(on: first.advanced(by: -Self.daysBefore), secondOfDay: 0)
    let before = zone.moment(on: last.advanced(by: 1), secondOfDay: 0)
    let asked = listed.map {
      NewestCandles(of: $0.id, .day1, count: Int32(Self.daysMax + Self.daysBefore))
    }
    let days = try await pool.query { (reader) throws(StoreError) in
      try reader.newest(asked, from: from, before: before)
    }
    var closes = newest
    for (series, candles) in zip(listed, days) {
      for candle in candles where candle.close != nil {
        closes[series.symbol, default: [:]][candle.tradingDay] = candle.close
      }
    }
    do throws(ExactDecimalError) {
      return try PortfolioHistory(balances, closes: closes).days(from: first, through: last)
    } catch {
      throw .internalError
    }
  }

  private static func newestPrices(
    at places: [SeriesPlace], in state: MarketState
  ) -> [Symbol: [TradingDay: ExactDecimal]] {
    var prices: [Symbol: [TradingDay: ExactDecimal]] = [:]
    for place in places {
      guard let figures = state.figures(of: place), let price = figures.price else { continue }
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
