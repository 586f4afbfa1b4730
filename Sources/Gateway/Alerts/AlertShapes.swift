/// Alerts and notifications as the API shows them.

import Alerts
import AppStore
import Market
import PaperTrading

extension InboxItem {
  /// As the inbox and webhooks show it.
  func write(to writer: inout JSONWriter) {
    writer.object { object in
      writeMembers(to: &object)
      object.member("readAt") { $0.optional(readAt) { $0.string($1.description) } }
    }
  }

  /// As streams show it.
  func writeMembers(to object: inout JSONWriter) {
    object.member("id") { $0.string(String(id)) }
    switch content {
    case .alert(let alert): alert.writeMembers(to: &object)
    case .trading(let notice): notice.writeMembers(to: &object)
    }
    object.member("at") { $0.string(storedAt.description) }
  }
}

extension AlertNotification {
  fileprivate func writeMembers(to object: inout JSONWriter) {
    object.member("kind") { $0.string(withdraws == nil ? "fired" : "withdrawn") }
    object.member("alertId") { $0.string(String(alertID)) }
    object.member("stockSymbol") { $0.optional(subject.symbol) { $0.string($1.description) } }
    object.member("source") { $0.string(subject.source) }
    object.member("condition") { $0.string(condition.rawValue) }
    object.member("threshold") { $0.optional(threshold) { $0.decimal($1) } }
    object.member("withdraws") { $0.optional(withdraws) { $0.string(String($1)) } }
    object.member("tradingDay") { $0.day(day) }
    object.member("basis") { $0.string(evidence.basis.rawValue) }
    object.member("value") { $0.optional(evidence.value) { $0.decimal($1) } }
    object.member("epoch") { $0.integer(position.epoch) }
    object.member("seq") { $0.integer(position.seq) }
    object.member("observedAt") { $0.string(position.at.description) }
  }
}

extension TradingNotice {
  fileprivate func writeMembers(to object: inout JSONWriter) {
    object.member("kind") { $0.string(kind.rawValue) }
    object.member("event") { $0.string(event.rawValue) }
    object.member("account") { $0.string(String(accountID)) }
    object.member("stockSymbol") { $0.optional(symbol) { $0.string($1.description) } }
    object.member("order") { $0.optional(orderID) { $0.string(String($1)) } }
    object.member("queuePurchase") { $0.optional(purchaseID) { $0.string(String($1)) } }
    object.member("side") { $0.optional(side) { $0.string($1.name) } }
    object.member("quantity") { $0.optional(quantity) { $0.decimal($1) } }
    object.member("filledQuantity") { $0.optional(filled) { $0.decimal($1) } }
    object.member("total") { $0.optional(turnover) { $0.decimal($1) } }
    object.member("reason") { $0.optional(reason) { $0.string($1) } }
    object.member("tradingDay") { $0.day(day) }
    object.member("observedAt") { $0.string(at.description) }
  }
}

extension Alert {
  func write(to writer: inout JSONWriter) {
    writer.object { object in
      object.member("id") { $0.string(String(id)) }
      object.member("stockSymbol") { $0.optional(symbol) { $0.string($1.description) } }
      object.member("source") { $0.string(source) }
      object.member("condition") { $0.string(condition.rawValue) }
      object.member("threshold") { $0.optional(threshold) { $0.decimal($1) } }
      object.member("repeat") { $0.string(repeats.rawValue) }
      object.member("state") { $0.string(isArmed ? "armed" : "fired") }
      object.member("revision") { $0.integer(Int64(revision)) }
      object.member("armedAt") { $0.string(arming.at.description) }
    }
  }
}
