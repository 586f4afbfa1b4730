/// Alerts and notifications as the API shows them.

import Alerts
import AppStore
import Market
import PaperTrading

extension InboxItem {
  /// As the inbox and webhooks show it.
  func writeWhole(to object: inout JSONWriter) {
    writeMembers(to: &object)
    object.member("readAt") { $0.optional(readAt) { $0.string($1.description) } }
  }

  /// As streams show it.
  func writeMembers(to object: inout JSONWriter) {
    object.member("id") { $0.string(String(id)) }
    switch content {
    case .alert(let alert): object.write(alert, as: AlertNotification.shape, in: .shanghai)
    case .trading(let notice): object.write(notice, as: TradingNotice.shape, in: .shanghai)
    }
    object.member("at") { $0.string(storedAt.description) }
  }

  static let schema = Schema.either(
    .named("AlertNotification", .object(members(AlertNotification.shape.members))),
    .named("TradingNotification", .object(members(TradingNotice.shape.members))))

  private static func members(_ content: [Schema.Member]) -> [Schema.Member] {
    [.init("id", .string)] + content
      + [.init("at", .moment), .init("readAt", .nullable(.moment))]
  }
}

extension AlertNotification {
  fileprivate static let shape = Shape<AlertNotification>(
    fields: [
      .choice("kind", of: Kind.allCases.map(\.rawValue)) { $0.kind.rawValue },
      .string("alertId") { String($0.alertID) },
      .optionalString("stockSymbol") { $0.subject.symbol?.description },
      .string("source") { $0.subject.source },
      .choice("condition", of: AlertCondition.names) { $0.condition.rawValue },
      .optionalDecimal("threshold") { $0.threshold },
      .optionalString("withdraws") { $0.withdraws.map { String($0) } },
      .day("tradingDay") { $0.day }, .string("basis") { $0.evidence.basis.rawValue },
      .optionalDecimal("value") { $0.evidence.value }, .integer("epoch") { $0.position.epoch },
      .integer("seq") { $0.position.seq }, .moment("observedAt") { $0.position.at },
    ])
}

extension TradingNotice {
  fileprivate static let shape = Shape<TradingNotice>(
    fields: [
      .choice("kind", of: Kind.allCases.map(\.rawValue)) { $0.kind.rawValue },
      .choice("event", of: Event.allCases.map(\.rawValue)) { $0.event.rawValue },
      .string("account") { String($0.accountID) },
      .optionalString("stockSymbol") { $0.symbol?.description },
      .optionalString("order") { $0.orderID.map { String($0) } },
      .optionalString("queuePurchase") { $0.purchaseID.map { String($0) } },
      .init("side", schema: .nullable(.choice(Side.allCases.map(\.name)))) { text, notice, _ in
        text.optional(notice.side) { $0.string($1.name) }
      },
      .optionalDecimal("quantity") { $0.quantity },
      .optionalDecimal("filledQuantity") { $0.filled }, .optionalDecimal("total") { $0.turnover },
      .optionalString("reason") { $0.reason }, .day("tradingDay") { $0.day },
      .moment("observedAt") { $0.at },
    ])
}

extension Alert {
  static let shape = Shape<Alert>(
    "Alert",
    fields: [
      .string("id") { String($0.id) }, .optionalString("stockSymbol") { $0.symbol?.description },
      .string("source") { $0.source },
      .choice("condition", of: AlertCondition.names) { $0.condition.rawValue },
      .optionalDecimal("threshold") { $0.threshold },
      .choice("repeat", of: Repeats.names) { $0.repeats.rawValue },
      .choice("state", of: ["armed", "fired", "ended"]) {
        $0.hasEnded ? "ended" : $0.isArmed ? "armed" : "fired"
      },
      .integer("revision") { Int64($0.revision) }, .moment("armedAt") { $0.arming.at },
    ])
}

extension AlertCondition {
  fileprivate static let names: [String] = allCases.map(\.rawValue)
}

extension Alert.Repeats {
  static let names: [String] = allCases.map(\.rawValue)
}
