/// Orders and queue purchases as the gateway's own API shows them.

import AppStore
import Market
import PaperTrading
import Reader

/// What memory has of an instrument.
struct ListedStock: Sendable {
  let series: SeriesRecord?
  let stock: EncodedStock?

  init(_ symbol: Symbol, in state: MarketState) {
    let place = state.directory.meant(by: symbol)
    series = place.map { state.directory[$0] }
    stock = place.flatMap { state.stock(at: $0) }
  }

  var zone: MarketZone { series?.zone ?? .shanghai }
}

/// Where an order stands in its queue, and what it certainly and possibly got.
struct QueueStanding: Sendable {
  let place: QueuePlace
  let certain: ExactDecimal
  let possible: ExactDecimal?
  let basis: String?

  init(_ record: OrderRecord, stock: EncodedStock?) {
    place = QueuePlace(record, stock: stock)
    certain = record.filled
    possible = record.possible
    basis = record.execution.flatMap { FillEvidence(text: $0.evidence) }?.basis.name
  }

  static let shape = Shape<QueueStanding>(
    fields: [
      .optionalDecimal("queueAheadMax") { $0.place.aheadMax },
      .optionalDecimal("queueBehindMin") { $0.place.behindMin }, .decimal("certain") { $0.certain },
      .optionalDecimal("possible") { $0.possible }, .optionalString("basis") { $0.basis },
    ])
}

/// An order with what memory has of its instrument.
struct ListedOrder: Sendable {
  let record: OrderRecord
  let name: String?
  let zone: MarketZone
  let standing: QueueStanding

  init(_ record: OrderRecord, in state: MarketState) {
    let known = ListedStock(record.order.symbol, in: state)
    self.record = record
    name = known.series?.name
    zone = known.zone
    standing = QueueStanding(record, stock: known.stock)
  }

  private var order: Order { record.order }
  private var state: OrderState { record.state }
  /// One that was refused has no number.
  private var number: String? { state == .rejected ? nil : String(order.id) }
  private var executedAt: Timestamp? { state == .filled ? record.execution?.lastAt : nil }

  static let shape = Shape<ListedOrder>(
    "Order",
    fields: [
      .init("id", schema: .string) { text, order, _ in
        text.optional(order.number) { $0.string($1) }
      },
      .string("account") { String($0.order.account) }, .string("idempotencyKey") { $0.record.key },
      .string("stockSymbol") { $0.order.symbol.description }, .optionalString("name") { $0.name },
      .choice("side", of: Side.allCases.map(\.name)) { $0.order.side.name },
      .choice("type", of: OrderKind.allCases.map(\.name)) { $0.order.kind.name },
      .choice("timeInForce", of: TimeInForce.allCases.map(\.name)) { $0.order.timeInForce.name },
      .decimal("quantity") { $0.order.quantity }, .decimal("filledQuantity") { $0.record.filled },
      .optionalDecimal("limitPrice") { $0.order.limit },
      .optionalDecimal("stopPrice") { $0.order.stop },
      .optionalDecimal("averagePrice") { $0.record.execution?.averagePrice },
      .decimal("total") { $0.record.execution?.amount ?? .zero },
      .decimal("fees") { $0.record.execution?.fees ?? .zero },
      .choice("status", of: OrderStatus.allCases.map(\.rawValue)) { $0.state.status.rawValue },
      .choice("state", of: OrderState.allCases.map(\.name)) { $0.state.name },
      .optionalString("queuePurchase") { $0.record.queuePurchaseID.map { String($0) } },
      .day("tradingDay") { $0.record.tradingDay }, .moment("createdAt") { $0.record.acceptedAt },
      .moment("updatedAt") { $0.record.updatedAt }, .optionalMoment("executedAt") { $0.executedAt },
      .object("candled", as: QueueStanding.shape) { $0.standing },
    ])
}

/// An order with all that happened to it.
struct OrderDetails: Sendable {
  let order: ListedOrder
  let fills: [FillRecord]
  let events: [OrderEventRecord]

  static let shape = Shape<OrderDetails>(
    "OrderDetails",
    fields: [
      .object("order", as: ListedOrder.shape) { $0.order },
      .objects("fills", as: FillRecord.shape) { $0.fills },
      .objects("events", as: OrderEventRecord.shape) { $0.events },
    ])
}

extension FillRecord {
  fileprivate static let shape = Shape<FillRecord>(
    fields: [
      .integer("sequence") { Int64($0.sequence) }, .decimal("price") { $0.price },
      .decimal("quantity") { $0.quantity }, .decimal("amount") { $0.amount },
      .decimal("commission") { $0.fees.commission }, .decimal("stampDuty") { $0.fees.stampDuty },
      .decimal("transferFee") { $0.fees.transferFee }, .moment("at") { $0.at },
      .boolean("reversed") { $0.isReversed }, .string("evidence") { $0.evidence },
    ])
}

extension OrderEventRecord {
  fileprivate static let shape = Shape<OrderEventRecord>(
    fields: [
      .integer("sequence") { Int64($0.sequence) }, .string("kind") { $0.kind },
      .moment("at") { $0.at },
    ])
}

extension JSONWriter {
  /// Why a command was refused.
  mutating func write(_ refusal: CommandRefusal) {
    let problem = Problem(refusal)
    member("code") { $0.string(problem.code) }
    member("title") { $0.string(problem.title) }
  }
}

// MARK: - Queue purchases

/// A queue purchase with the order that it became, and what memory has of its instrument.
struct ListedPurchase: Sendable {
  let purchase: QueuePurchaseRecord
  let order: ListedOrder?
  let name: String?
  let zone: MarketZone
  let stock: EncodedStock?
  let place: QueuePlace

  init(_ purchase: QueuePurchaseRecord, order: OrderRecord?, in state: MarketState) {
    let known = ListedStock(purchase.symbol, in: state)
    let stock = known.stock
    self.purchase = purchase
    self.order = order.map { ListedOrder($0, in: state) }
    name = known.series?.name
    zone = known.zone
    self.stock = stock
    place = order.map { QueuePlace($0, stock: stock) } ?? QueuePlace(joiningLimitUpOf: stock)
  }

  private var triggers: [NamedTrigger] { purchase.terms.triggers.map { NamedTrigger($0) } }

  private static let states = ["armed", "ordered", "filled", "rejected", "cancelled", "expired"]

  static let shape = Shape<ListedPurchase>(
    "QueuePurchase",
    fields: [
      .string("id") { String($0.purchase.id) },
      .string("account") { String($0.purchase.accountID) },
      .string("stockSymbol") { $0.purchase.symbol.description },
      .optionalString("name") { $0.name }, .decimal("quantity") { $0.purchase.quantity },
      .objects("triggers", as: NamedTrigger.shape) { $0.triggers },
      .optionalObject("window", as: window) { $0.purchase.terms.window },
      .boolean("carriesOver") { $0.purchase.terms.carriesOver },
      .choice("state", of: states) { $0.purchase.state },
      .optionalString("reason") { $0.purchase.reason },
      .moment("changedAt") { $0.purchase.changedAt },
      .optionalDecimal("currentPrice") { $0.stock?.currentPrice },
      .optionalDecimal("limitUp") { $0.stock?.limitUp },
      .optionalDecimal("aheadAtMost") { $0.place.aheadMax },
      .optionalDecimal("behindAtLeast") { $0.place.behindMin },
      .decimal("certain") { $0.order?.record.filled ?? .zero },
      .optionalDecimal("possible") { $0.order?.record.possible },
      .optionalObject("order", as: ListedOrder.shape) { $0.order },
    ])

  private static let window = Shape<Range<Int32>>(
    fields: [
      .string("from") { ClockText.minute(Int($0.lowerBound)) },
      .string("to") { ClockText.minute(Int($0.upperBound)) },
    ])
}

extension NamedTrigger {
  fileprivate static let shape = Shape<NamedTrigger>(
    fields: [
      .choice("kind", of: QueueTrigger.allCases.map(\.rawValue)) { $0.kind.rawValue },
      .string("value") { $0.value ?? "" }.present { $0.value != nil },
    ])
}
