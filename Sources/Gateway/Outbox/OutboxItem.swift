/// What streams pass on of a row of a user's outbox, as an object of the gateway's own API.

import AppStore
import PaperTrading

/// Channels of what is the user's own.
enum UserChannel: String, CaseIterable, Sendable {
  case orders = "order-updates"
  case notifications
  /// State, and not of the outbox: of each account the newest.
  case portfolios = "portfolio-updates"
}

package struct OutboxItem: Sendable, Hashable {
  let number: Int64
  var epoch: Int64 = 0
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
  var items: [OutboxItem] = []
  /// The newest number there is.
  let last: Int64
  var epoch: Int64 = 0
}

extension JSONWriter {
  /// The order as it is now, and what happened to it.
  fileprivate mutating func write(_ update: OrderUpdate, in state: MarketState) {
    let order = ListedOrder(update.order, in: state)
    write(order, as: ListedOrder.shape, in: order.zone)
    object("event") { event in
      event.member("kind") { $0.string(update.kind) }
      event.member("at") { $0.moment(update.at, in: order.zone) }
      if let fill = update.fill {
        event.member("price") { $0.decimal(fill.price) }
        event.member("quantity") { $0.decimal(fill.quantity) }
        event.member("filledSoFar") { $0.decimal(fill.filledSoFar) }
      }
    }
  }

  fileprivate mutating func write(_ refused: RefusedOrder, in state: MarketState) {
    let record = refused.record
    let order = ListedOrder(record, in: state)
    write(order, as: ListedOrder.shape, in: order.zone)
    member("command") { $0.string(String(refused.commandID)) }
    object("event") { event in
      event.member("kind") { $0.string(record.state.name) }
      event.member("at") { $0.moment(record.updatedAt, in: order.zone) }
      event.write(refused.refusal)
    }
  }
}
