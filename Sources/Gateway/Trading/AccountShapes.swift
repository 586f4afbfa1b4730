/// Accounts, their log and what they hold, as the gateway's own API shows them.

import AppStore
import Market
import PaperTrading

extension PaperAccount {
  static let shape = Shape<PaperAccount>(
    "Account",
    fields: [
      .string("id") { String($0.id) }, .string("name") { $0.name },
      .choice("market", of: PaperMarket.allCases.map(\.name)) { $0.market.name },
      .string("currency") { $0.currency },
      .moment("createdAt") { $0.createdAt }, .decimal("balance") { $0.balance },
      .decimal("available") { $0.available }, .decimal("frozen") { $0.frozen },
    ])

  private var balance: ExactDecimal { (try? available + frozen) ?? available }
}

extension TransactionLogRow {
  static let shape = Shape<TransactionLogRow>(
    "Transaction",
    fields: [
      .integer("id") { $0.sequence }, .moment("at") { $0.at }, .string("type") { $0.kind },
      .decimal("amount") { $0.amount }, .string("description") { $0.description },
      .optionalString("depositType") { $0.depositType },
      .optionalString("stockSymbol") { $0.symbol?.description },
      .optionalDecimal("quantity") { $0.quantity }, .optionalDecimal("price") { $0.price },
      .optionalString("order") { $0.orderID.map { String($0) } },
    ])
}

/// What is known of a command.
struct CommandProgress: Sendable {
  let id: Int64
  let account: Int64
  let kind: String
  let state: String
  /// nil in the answer to the request that sent it.
  var sentAt: Timestamp?
  var answer: String?

  static let shape = Shape<CommandProgress>(
    "Command",
    fields: [
      .string("id") { String($0.id) }, .string("account") { String($0.account) },
      .string("kind") { $0.kind },
      .choice("state", of: ["pending", "done", "refused"]) { $0.state },
      .init("sentAt", schema: .moment) { text, command, zone in
        text.optional(command.sentAt) { $0.moment($1, in: zone) }
      }.present { $0.sentAt != nil },
      .optionalString("answer") { $0.answer },
    ])
}

extension CommandProgress {
  init(_ command: CommandRecord) {
    self.init(
      id: command.id, account: command.accountID, kind: command.kind,
      state: command.outcome.map { $0.isDone ? "done" : "refused" } ?? "pending",
      sentAt: command.sentAt, answer: command.outcome?.answer)
  }
}

// MARK: - Portfolios

/// What was gained with what is worth so much now.
struct Gain: Sendable {
  let profit: ExactDecimal
  let cost: ExactDecimal
  let today: ExactDecimal
  let value: ExactDecimal

  var percent: ExactDecimal? { profit.percent(of: cost) }

  /// Of what it was worth when the day began.
  var percentToday: ExactDecimal? {
    guard let before = try? value - today else { return nil }
    return today.percent(of: before)
  }

  static let shape = Shape<Gain>(
    fields: [
      .decimal("profit") { $0.profit }, .optionalDecimal("profitPercent") { $0.percent },
      .decimal("profitToday") { $0.today },
      .optionalDecimal("profitTodayPercent") { $0.percentToday },
    ])
}

extension PriceTriggers {
  static let shape = Shape<PriceTriggers>(
    fields: [
      .optionalDecimal("low") { $0.low }, .optionalDecimal("high") { $0.high },
    ])
}

/// A holding with what memory has of its instrument.
struct ListedHolding: Sendable {
  let holding: ValuedHolding
  let stock: EncodedStock?

  init(_ holding: ValuedHolding, in state: MarketState) {
    self.holding = holding
    stock = ListedStock(holding.record.symbol, in: state).stock
  }

  private var gain: Gain {
    Gain(
      profit: holding.profit, cost: holding.cost, today: holding.profitToday,
      value: holding.value)
  }

  static let shape = Shape<ListedHolding>("Holding", fields: own + triggers + gains)

  private static let own: [Shape<ListedHolding>.Field] = [
    .string("stockSymbol") { $0.holding.record.symbol.description },
    .init("stock", schema: .nullable(.object([]))) { text, held, _ in
      text.optional(held.stock) { $0.encoded($1.json) }
    },
    .decimal("quantity") { $0.holding.record.quantity },
    .decimal("sellable") { $0.holding.sellable }, .decimal("boughtToday") { $0.holding.today },
    .decimal("frozen") { $0.holding.frozen },
    .optionalDecimal("averagePrice") { $0.holding.record.averagePrice },
    .optionalDecimal("currentPrice") { $0.holding.price.last },
    .optionalDecimal("previousClose") { $0.holding.price.previousClose },
    .optionalDecimal("yesterdayClose") { $0.holding.price.yesterdayClose },
    .boolean("exUnbooked") { $0.holding.isActionMissing },
    .decimal("marketValue") { $0.holding.value }, .decimal("cost") { $0.holding.cost },
    .boolean("stale") { $0.holding.price.isStale },
    .boolean("noMarket") { $0.holding.record.hasNoMarket },
  ]
  private static let triggers: [Shape<ListedHolding>.Field] =
    PriceTriggers.shape.partFields(of: ListedHolding.self) { $0.holding.record.triggers }
  private static let gains: [Shape<ListedHolding>.Field] =
    Gain.shape.partFields(of: ListedHolding.self) { $0.gain }
}

/// A portfolio with what memory has of what it holds.
struct ListedPortfolio: Sendable {
  let portfolio: Portfolio
  let state: MarketState

  var zone: MarketZone { portfolio.account.market.zone }

  private var stocks: [ListedHolding] {
    portfolio.holdings.map { ListedHolding($0, in: state) }
  }

  private var gain: Gain {
    Gain(
      profit: portfolio.profit, cost: portfolio.cost, today: portfolio.profitToday,
      value: portfolio.value)
  }

  static let shape = Shape<ListedPortfolio>("Portfolio", fields: own + gains)

  private static let own: [Shape<ListedPortfolio>.Field] = [
    .object("account", as: PaperAccount.shape) { $0.portfolio.account },
    .decimal("cash") { $0.portfolio.cash }, .decimal("marketValue") { $0.portfolio.value },
    .decimal("value") { $0.portfolio.equity }, .decimal("cost") { $0.portfolio.cost },
    .boolean("stale") { $0.portfolio.isStale },
    .objects("stocks", as: ListedHolding.shape) { $0.stocks }, .integer("seq") { $0.state.seq },
  ]
  private static let gains: [Shape<ListedPortfolio>.Field] =
    Gain.shape.partFields(of: ListedPortfolio.self) { $0.gain }
}

extension Portfolio {
  var isStale: Bool { holdings.contains(where: \.price.isStale) }

  /// Without what it holds.
  static let accountShape = Shape<Portfolio>(
    "ValuedAccount",
    fields: [
      .object("account", as: PaperAccount.shape) { $0.account },
      .decimal("marketValue") { $0.value }, .decimal("equity") { $0.equity },
      .boolean("stale") { $0.isStale },
    ])
}

extension PortfolioDay {
  static let shape = Shape<PortfolioDay>(
    fields: [
      .day("day") { $0.day }, .decimal("cash") { $0.cash }, .decimal("marketValue") { $0.value },
      .decimal("value") { $0.equity }, .decimal("profit") { $0.profit },
    ])
}
