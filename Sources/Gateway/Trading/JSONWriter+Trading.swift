/// Accounts, orders and holdings as the gateway's own API writes them.

import AppStore
import Market
import PaperTrading
import Reader

extension JSONWriter {
  /// Members of an account.
  mutating func write(_ account: PaperAccount) {
    member("id") { $0.string(String(account.id)) }
    member("name") { $0.string(account.name) }
    member("market") { $0.string(account.market.name) }
    member("currency") { $0.string(account.currency) }
    member("createdAt") { $0.moment(account.createdAt, in: account.market.zone) }
    let balance = (try? account.available + account.frozen) ?? account.available
    member("balance") { $0.decimal(balance) }
    member("available") { $0.decimal(account.available) }
    member("frozen") { $0.decimal(account.frozen) }
  }

  mutating func write(_ row: TransactionLogRow, zone: MarketZone) {
    member("id") { $0.integer(row.sequence) }
    member("at") { $0.moment(row.at, in: zone) }
    member("type") { $0.string(row.kind) }
    member("amount") { $0.decimal(row.amount) }
    member("description") { $0.string(row.description) }
    member("depositType") { $0.optional(row.depositType) { $0.string($1) } }
    member("stockSymbol") { $0.optional(row.symbol) { $0.string($1.description) } }
    member("quantity") { $0.optional(row.quantity) { $0.decimal($1) } }
    member("price") { $0.optional(row.price) { $0.decimal($1) } }
    member("order") { $0.optional(row.orderID) { $0.string(String($1)) } }
  }

  // MARK: Orders

  /// Members of an order. One that was refused has no number.
  mutating func write(_ record: OrderRecord, in state: MarketState) {
    let order = record.order
    let known = ListedStock(order.symbol, in: state)
    let id = record.state == .rejected ? nil : order.id
    member("id") { $0.optional(id) { $0.string(String($1)) } }
    member("account") { $0.string(String(order.account)) }
    member("idempotencyKey") { $0.string(record.key) }
    member("stockSymbol") { $0.string(order.symbol.description) }
    member("name") { $0.optional(known.series?.name) { $0.string($1) } }
    member("side") { $0.string(order.side.name) }
    member("type") { $0.string(order.kind.name) }
    member("timeInForce") { $0.string(order.timeInForce.name) }
    member("quantity") { $0.decimal(order.quantity) }
    member("filledQuantity") { $0.decimal(record.filled) }
    member("limitPrice") { $0.optional(order.limit) { $0.decimal($1) } }
    member("stopPrice") { $0.optional(order.stop) { $0.decimal($1) } }
    member("averagePrice") { $0.optional(record.execution?.averagePrice) { $0.decimal($1) } }
    member("total") { $0.decimal(record.execution?.amount ?? .zero) }
    member("fees") { $0.decimal(record.execution?.fees ?? .zero) }
    member("status") { $0.string(record.state.status.rawValue) }
    member("state") { $0.string(record.state.name) }
    member("queuePurchase") { $0.optional(record.queuePurchaseID) { $0.string(String($1)) } }
    member("tradingDay") { $0.day(record.tradingDay) }
    member("createdAt") { $0.moment(record.acceptedAt, in: known.zone) }
    member("updatedAt") { $0.moment(record.updatedAt, in: known.zone) }
    let executedAt = record.state == .filled ? record.execution?.lastAt : nil
    member("executedAt") { $0.optional(executedAt) { $0.moment($1, in: known.zone) } }
    member("candled") { $0.object { $0.write(placeOf: record, stock: known.stock) } }
  }

  /// Why a command was refused.
  mutating func write(refusal answer: String) {
    let problem = Problem(refusal: answer)
    member("code") { $0.string(problem.code) }
    member("title") { $0.string(problem.title) }
  }

  /// Where it stands in its queue, and what it certainly and possibly got.
  mutating func write(placeOf record: OrderRecord, stock: PublishedStock?) {
    let place = QueuePlace(record, stock: stock)
    let evidence = record.execution.flatMap { FillEvidence(text: $0.evidence) }
    member("queueAheadMax") { $0.optional(place.aheadMax) { $0.decimal($1) } }
    member("queueBehindMin") { $0.optional(place.behindMin) { $0.decimal($1) } }
    member("certain") { $0.decimal(record.filled) }
    member("possible") { $0.optional(record.possible) { $0.decimal($1) } }
    member("basis") { $0.optional(evidence?.basis.name) { $0.string($1) } }
  }

  mutating func write(_ fill: FillRecord, zone: MarketZone) {
    member("sequence") { $0.integer(Int64(fill.sequence)) }
    member("price") { $0.decimal(fill.price) }
    member("quantity") { $0.decimal(fill.quantity) }
    member("amount") { $0.decimal(fill.amount) }
    member("commission") { $0.decimal(fill.fees.commission) }
    member("stampDuty") { $0.decimal(fill.fees.stampDuty) }
    member("transferFee") { $0.decimal(fill.fees.transferFee) }
    member("at") { $0.moment(fill.at, in: zone) }
    member("reversed") { $0.boolean(fill.isReversed) }
    member("evidence") { $0.string(fill.evidence) }
  }

  // MARK: Portfolios

  mutating func write(_ holding: ValuedHolding, in state: MarketState) {
    let record = holding.record
    let known = ListedStock(record.symbol, in: state)
    member("stockSymbol") { $0.string(record.symbol.description) }
    member("stock") { $0.optional(known.encoded) { $0.encoded($1.json) } }
    member("quantity") { $0.decimal(record.quantity) }
    member("sellable") { $0.decimal(holding.sellable) }
    member("boughtToday") { $0.decimal(holding.today) }
    member("frozen") { $0.decimal(holding.frozen) }
    member("averagePrice") { $0.optional(record.averagePrice) { $0.decimal($1) } }
    member("currentPrice") { $0.optional(holding.price.last) { $0.decimal($1) } }
    member("previousClose") { $0.optional(holding.price.previousClose) { $0.decimal($1) } }
    member("yesterdayClose") { $0.optional(holding.price.yesterdayClose) { $0.decimal($1) } }
    member("exUnbooked") { $0.boolean(holding.isActionMissing) }
    member("marketValue") { $0.decimal(holding.value) }
    member("cost") { $0.decimal(holding.cost) }
    member("stale") { $0.boolean(holding.price.isStale) }
    write(record.triggers)
    write(
      profit: holding.profit, of: holding.cost, today: holding.profitToday, value: holding.value)
  }

  mutating func write(_ triggers: PriceTriggers) {
    member("low") { $0.optional(triggers.low) { $0.decimal($1) } }
    member("high") { $0.optional(triggers.high) { $0.decimal($1) } }
  }

  mutating func write(_ portfolio: Portfolio, in state: MarketState) {
    member("account") { $0.object { $0.write(portfolio.account) } }
    member("cash") { $0.decimal(portfolio.cash) }
    member("marketValue") { $0.decimal(portfolio.value) }
    member("value") { $0.decimal(portfolio.equity) }
    member("cost") { $0.decimal(portfolio.cost) }
    member("stale") { $0.boolean(portfolio.isStale) }
    member("stocks") { list in
      list.array { list in
        for holding in portfolio.holdings { list.object { $0.write(holding, in: state) } }
      }
    }
    member("seq") { $0.integer(state.seq) }
    write(
      profit: portfolio.profit, of: portfolio.cost, today: portfolio.profitToday,
      value: portfolio.value)
  }

  private mutating func write(
    profit: ExactDecimal, of cost: ExactDecimal, today: ExactDecimal, value: ExactDecimal
  ) {
    let before = try? value - today
    member("profit") { $0.decimal(profit) }
    member("profitPercent") { $0.optional(profit.percent(of: cost)) { $0.decimal($1) } }
    member("profitToday") { $0.decimal(today) }
    member("profitTodayPercent") {
      $0.optional(before.flatMap { today.percent(of: $0) }) { $0.decimal($1) }
    }
  }
}

extension Portfolio {
  var isStale: Bool { holdings.contains(where: \.price.isStale) }
}

/// What memory has of an instrument.
struct ListedStock: Sendable {
  let series: SeriesRecord?
  let encoded: EncodedStock?

  init(_ symbol: Symbol, in state: MarketState) {
    let place = state.directory.meant(by: symbol)
    series = place.map { state.directory[$0] }
    encoded = place.flatMap { $0.index < state.stocks.count ? state.stocks[$0.index] : nil }
  }

  var zone: MarketZone { series?.zone ?? .shanghai }
  var stock: PublishedStock? { encoded.flatMap { PublishedStock(json: $0.json) } }
}
