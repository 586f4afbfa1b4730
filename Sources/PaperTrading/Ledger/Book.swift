import Market

/// What is counted: money of the account's currency, or shares of one symbol.
package enum LedgerUnit: Sendable, Hashable {
  case cash
  case shares(Symbol)

  /// As the database has it. No symbol is spelled `cash`: those without a market are upper case.
  package var text: String {
    switch self {
    case .cash: "cash"
    case .shares(let symbol): symbol.description
    }
  }

  /// nil of cash.
  package var symbol: Symbol? {
    if case .shares(let symbol) = self { symbol } else { nil }
  }

  package init?(text: String) {
    if text == "cash" {
      self = .cash
    } else if let symbol = Symbol(text) {
      self = .shares(symbol)
    } else {
      return nil
    }
  }
}

/// A side of the ledger. Every account has a set of its own, those of the far side included.
package enum BookKind: String, Sendable, CaseIterable {
  /// Cash to spend.
  case available
  /// Cash or shares that open orders may take.
  case frozen
  /// Shares to sell.
  case sellable
  /// Shares bought today, to be sold from the next trading day on.
  case today
  case world, market, commission, income
  case stampDuty = "stamp_duty"
  case transferFee = "transfer_fee"

  /// The account's own, which is never below 0.
  package var isOwn: Bool {
    switch self {
    case .available, .frozen, .sellable, .today: true
    default: false
    }
  }
}

package struct Book: Sendable, Hashable {
  package var unit: LedgerUnit
  package var kind: BookKind

  package init(_ unit: LedgerUnit, _ kind: BookKind) {
    self.unit = unit
    self.kind = kind
  }
}
