import AppStore
import Market
import PaperTrading
import Reader

/// What an account holds of one instrument, and what it is worth.
struct ValuedHolding: Sendable {
  let record: HoldingRecord
  /// Shares to sell now, bought today (T+1), and frozen for orders.
  let sellable: ExactDecimal
  let today: ExactDecimal
  let frozen: ExactDecimal
  let price: StoredPrice
  /// At the average price.
  let cost: ExactDecimal
  let value: ExactDecimal
  let profit: ExactDecimal
  /// Since the close before, trades of today included, without fees.
  let profitToday: ExactDecimal

  private static let cashPlaces: UInt8 = 2

  init(_ record: HoldingRecord, books: [Book: ExactDecimal], price: StoredPrice)
    throws(ExactDecimalError)
  {
    let unit = LedgerUnit.shares(record.symbol)
    self.record = record
    self.price = price
    sellable = books[Book(unit, .sellable)] ?? .zero
    today = books[Book(unit, .today)] ?? .zero
    frozen = books[Book(unit, .frozen)] ?? .zero
    let average = record.averagePrice ?? .zero
    cost = try HoldingRecord.cost(
      of: record.quantity, bought: record.bought, paid: record.paid)
    let last = price.last ?? average
    value = try (last * record.quantity).rescaled(places: Self.cashPlaces)
    profit = try value - cost
    let before = try record.quantity - record.gainedToday
    let valueBefore = try (before * (price.before(isActionBooked: record.isActionBooked) ?? last))
      .rescaled(places: Self.cashPlaces)
    profitToday = try value - valueBefore - record.spentToday
  }

  /// The reference price of the day is not the close before, and no corporate action was booked:
  /// cash or shares are missing here.
  var isActionMissing: Bool {
    guard record.gainedToday < record.quantity, !record.isActionBooked,
      let reference = price.previousClose, let close = price.yesterdayClose
    else { return false }
    return reference != close
  }
}

extension StoredPrice {
  /// What a share was worth when the day began. With the cash or the shares of its ex-day, that is
  /// the close; without them the reference price, which is lower by as much.
  func before(isActionBooked: Bool) -> ExactDecimal? {
    isActionBooked ? yesterdayClose ?? previousClose : previousClose
  }

  /// Takes the newest of that day from memory.
  /// - Returns: whether memory has one of that day.
  mutating func update(at place: SeriesPlace, in state: MarketState) -> Bool {
    isStale = state.lostAt != nil || state.stalled[state.directory[place].sourceName] != nil
    guard let figures = state.figures(of: place), figures.tradingDay == day else { return false }
    last = figures.price ?? figures.previousClose
    previousClose = figures.previousClose
    return true
  }
}

extension AccountOpening {
  /// What it was worth, and what had been paid in until then.
  func value(
    at prices: [Symbol: StoredPrice]
  ) throws(ExactDecimalError) -> (equity: ExactDecimal, paidIn: ExactDecimal) {
    var (equity, paidIn) = (ExactDecimal(units: 0, scale: 2), ExactDecimal.zero)
    for row in balances {
      paidIn = try paidIn + row.paidIn
      guard case .shares(let symbol) = row.unit else {
        equity = try equity + row.balance
        continue
      }
      guard let price = prices[symbol] else { continue }
      // Of an instrument that is not traded today the newest price is that of the day before.
      let before =
        price.day < day ? price.last : price.before(isActionBooked: booked.contains(symbol))
      let each = before ?? price.last ?? .zero
      equity = try equity + (try (each * row.balance).rescaled(places: 2))
    }
    return (equity, paidIn)
  }
}

/// An account with all that it holds.
struct Portfolio: Sendable {
  let account: PaperAccount
  let holdings: [ValuedHolding]
  let cash: ExactDecimal
  /// Of the holdings.
  let value: ExactDecimal
  let equity: ExactDecimal
  let profit: ExactDecimal
  /// Of the whole account: what was sold today, fees and dividends included.
  let profitToday: ExactDecimal
  /// When the day began.
  let equityBefore: ExactDecimal
  let cost: ExactDecimal

  init(
    _ account: PaperAccount, holdings: [ValuedHolding],
    before: (equity: ExactDecimal, paidIn: ExactDecimal), paidIn: ExactDecimal
  ) throws(ExactDecimalError) {
    self.account = account
    self.holdings = holdings
    cash = try account.available + account.frozen
    value = try .sum(holdings.map(\.value), places: 2)
    equity = try cash + value
    profit = try .sum(holdings.map(\.profit), places: 2)
    equityBefore = before.equity
    profitToday = try equity - before.equity - (try paidIn - before.paidIn)
    cost = try .sum(holdings.map(\.cost), places: 2)
  }
}

extension ExactDecimal {
  /// - Parameter places: of the sum, at least.
  static func sum(
    _ values: [ExactDecimal], places: UInt8 = 0
  ) throws(ExactDecimalError) -> ExactDecimal {
    var sum = ExactDecimal(units: 0, scale: places)
    for value in values { sum = try sum + value }
    return sum
  }

  private static let percentPlaces: UInt8 = 2

  /// nil of nothing.
  func percent(of whole: ExactDecimal) -> ExactDecimal? {
    guard whole.isPositive, let hundredfold = try? self * ExactDecimal(100) else { return nil }
    return try? hundredfold.divided(by: whole, scale: Self.percentPlaces)
  }
}

/// What an account holds, as it was read at one moment, and what it is valued at.
struct AccountHoldings: Sendable {
  var account: PaperAccount
  var held: HeldAccount

  func portfolio() throws(Problem) -> Portfolio {
    do throws(ExactDecimalError) {
      var holdings: [ValuedHolding] = []
      for record in held.holdings {
        guard let price = held.prices[record.symbol] else { continue }
        holdings.append(try ValuedHolding(record, books: held.books, price: price))
      }
      // The far side is what was paid in, negative.
      let paidIn = try .zero - (held.books[Book(.cash, .world)] ?? .zero)
      return try Portfolio(
        account, holdings: holdings, before: try held.opening.value(at: held.prices),
        paidIn: paidIn)
    } catch {
      throw .internalError
    }
  }

  /// At the prices in memory now; nil where a day has begun since, with which more differs.
  func revalued(in state: MarketState) -> AccountHoldings? {
    var revalued = self
    for (symbol, price) in held.prices {
      guard let place = state.directory.place(ofCode: symbol), state.figures(of: place) != nil
      else { continue }
      var price = price
      guard price.day <= held.opening.day, price.update(at: place, in: state) else { return nil }
      revalued.held.prices[symbol] = price
    }
    return revalued
  }
}

// MARK: - Reading

extension TradingService {
  /// What an account holds: cash and shares as of one moment, and at the prices of one.
  /// - Parameter state: whose prices; nil: those that are in memory now.
  func portfolio(
    of account: PaperAccount, in state: MarketState? = nil
  ) async throws(Problem) -> Portfolio {
    try await holdings(of: account, in: state ?? memory.state).portfolio()
  }

  func holdings(
    of account: PaperAccount, in state: MarketState
  ) async throws(Problem) -> AccountHoldings {
    if !state.isLoaded { throw .storeAway }
    let (id, today) = (account.id, self.today(of: account))
    let day = state.quoteDay ?? today
    var held = try await reading.run { (connection) throws(AppStoreError) in
      try HoldingTable(connection).held(by: id, on: day, today: today)
    }
    var account = account
    account.available = held.books[Book(.cash, .available)] ?? .zero
    account.frozen = held.books[Book(.cash, .frozen)] ?? .zero
    for symbol in held.prices.keys {
      guard let place = state.directory.place(ofCode: symbol) else { continue }
      _ = held.prices[symbol]?.update(at: place, in: state)
    }
    return AccountHoldings(account: account, held: held)
  }
}
