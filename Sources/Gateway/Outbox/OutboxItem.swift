/// What streams pass on of a row of a user's outbox, as an object of the gateway's own API.

import AppStore
import Market
import PaperTrading
import Reader

/// Channels of what is the user's own.
enum UserChannel: String, CaseIterable, Sendable {
  case orders = "order-updates"
  case notifications
  /// State, and not of the outbox: of each account the newest.
  case portfolios = "portfolio-updates"
}

package struct OutboxItem: Sendable, Hashable {
  let number: Int64
  let epoch: Int64
  let content: Content
  let json: [UInt8]

  enum Content: Sendable, Hashable {
    /// - Parameter execution: names the event, for clients that want a name.
    case order(OrderUpdate, execution: Int64)
    case refusal(RefusedOrder)
    case notification
    /// It is no longer there.
    case nothing
  }

  var channel: UserChannel? {
    switch content {
    case .order, .refusal: .orders
    case .notification: .notifications
    case .nothing: nil
    }
  }

  init(number: Int64, epoch: Int64 = 0, content: Content, json: [UInt8]) {
    self.number = number
    self.epoch = epoch
    self.content = content
    self.json = json
  }

  /// Of the rows, by user, in order.
  static func items(
    of rows: [OutboxRow], over connection: AppConnection, in state: MarketState
  ) throws(AppStoreError) -> [Int64: [OutboxItem]] {
    let table = OutboxTable(connection)
    let updates = try table.updates(rows)
    let refusals = try table.refusals(rows)
    let notifications = try table.notifications(rows)
    var items: [Int64: [OutboxItem]] = [:]
    for row in rows {
      var content = Content.nothing
      var text = JSONWriter()
      switch row.content {
      case .order:
        guard let update = updates[row.id] else { break }
        content = .order(update, execution: row.id)
        text.object { $0.write(update, in: state) }
      case .refusal:
        guard let refusal = refusals[row.id] else { break }
        content = .refusal(refusal)
        text.object { $0.write(refusal, in: state) }
      case .notification(let id):
        guard let notification = notifications[id] else { break }
        content = .notification
        text.object { notification.writeMembers(to: &$0) }
      }
      items[row.userID, default: []].append(
        OutboxItem(
          number: row.number, epoch: row.epoch, content: content, json: text.bytes))
    }
    return items
  }
}

/// A part of a user's outbox, and how far that goes.
package struct OutboxPage: Sendable {
  let items: [OutboxItem]
  /// The newest number there is.
  let last: Int64
  let epoch: Int64

  init(items: [OutboxItem] = [], last: Int64, epoch: Int64 = 0) {
    self.items = items
    self.last = last
    self.epoch = epoch
  }
}

extension JSONWriter {
  /// The order as it is now, and what happened to it.
  fileprivate mutating func write(_ update: OrderUpdate, in state: MarketState) {
    write(update.order, in: state)
    let zone = ListedStock(update.order.order.symbol, in: state).zone
    member("event") { event in
      event.object { event in
        event.member("kind") { $0.string(update.kind) }
        event.member("at") { $0.moment(update.at, in: zone) }
        if let fill = update.fill {
          event.member("price") { $0.decimal(fill.price) }
          event.member("quantity") { $0.decimal(fill.quantity) }
          event.member("filledSoFar") { $0.decimal(fill.filledSoFar) }
        }
      }
    }
  }

  /// As an order that has no number, for it was none.
  fileprivate mutating func write(_ refused: RefusedOrder, in state: MarketState) {
    let (request, problem) = (refused.request, Problem(refusal: refused.answer))
    let known = ListedStock(request.symbol, in: state)
    member("id") { $0.null() }
    member("command") { $0.string(String(refused.commandID)) }
    member("account") { $0.string(String(refused.accountID)) }
    member("idempotencyKey") { $0.string(refused.key) }
    member("stockSymbol") { $0.string(request.symbol.description) }
    member("name") { $0.optional(known.series?.name) { $0.string($1) } }
    member("side") { $0.string(request.side.name) }
    member("type") { $0.string(request.kind.name) }
    member("timeInForce") { $0.string(request.timeInForce.name) }
    member("quantity") { $0.decimal(request.quantity) }
    member("limitPrice") { $0.optional(request.limit) { $0.decimal($1) } }
    member("stopPrice") { $0.optional(request.stop) { $0.decimal($1) } }
    member("status") { $0.string(OrderStatus.canceled.rawValue) }
    member("state") { $0.string("rejected") }
    member("createdAt") { $0.moment(refused.sentAt, in: known.zone) }
    member("event") { event in
      event.object { event in
        event.member("kind") { $0.string("rejected") }
        event.member("at") { $0.moment(refused.answeredAt, in: known.zone) }
        event.member("code") { $0.string(problem.code) }
        event.member("title") { $0.string(problem.title) }
      }
    }
  }
}
