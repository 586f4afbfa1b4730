import Market

/// Holdings whose instrument has another code, or has become another one.
extension AccountLedger {
  /// Moves all that is held of a symbol to its successor. A rename moves what each book has, for
  /// orders go on. Else orders end before, and all shares must be sellable.
  /// - Throws: `overdrawn` where some are not, `overflow`.
  package mutating func succeed(
    _ kind: CorporateActionTerms.Kind, by succession: Succession, from symbol: Symbol
  ) throws(LedgerRefusal) -> Posting {
    let (old, new) = (LedgerUnit.shares(symbol), LedgerUnit.shares(succession.successor))
    let held = [BookKind.sellable, .today, .frozen].map { (kind: $0, balance(old, $0)) }
    return try post(LedgerEvent(kind: kind.event)) { (movement) throws(ExactDecimalError) in
      guard kind == .rename else { return try movement.give(succession, for: symbol) }
      for (book, shares) in held {
        try movement.move(shares, of: old, from: book, to: .market)
        try movement.move(shares, of: new, from: .market, to: book)
      }
    }
  }

  /// Takes back what `succeed` did.
  /// - Parameter sequence: of its posting.
  /// - Throws: `overdrawn` where the new shares are not to be sold, or the cash is spent.
  package mutating func reverse(
    _ succession: Succession, from symbol: Symbol, posting sequence: Int64
  ) throws(LedgerRefusal) -> Posting {
    let back = Succession(
      successor: succession.successor, taken: succession.taken.negated,
      given: succession.given.negated, cash: succession.cash.negated)
    return try post(.reversal(order: nil, of: sequence)) { (movement) throws(ExactDecimalError) in
      try movement.give(back, for: symbol)
    }
  }

  /// An open order goes on under another code.
  /// - Returns: nil where it is not open.
  package mutating func rename(order id: Int64, to symbol: Symbol) -> LedgerOrder? {
    openOrders[id] = openOrders[id]?.renamed(to: symbol)
    return openOrders[id]
  }

  /// All of its own books together.
  package func held(of symbol: Symbol) throws(ExactDecimalError) -> ExactDecimal {
    let unit = LedgerUnit.shares(symbol)
    return try balance(unit, .sellable) + balance(unit, .today) + balance(unit, .frozen)
  }
}

extension Movement {
  fileprivate mutating func give(
    _ succession: Succession, for symbol: Symbol
  ) throws(ExactDecimalError) {
    try move(succession.taken, of: .shares(symbol), from: .sellable, to: .market)
    try move(succession.given, of: .shares(succession.successor), from: .market, to: .sellable)
    try move(succession.cash, of: .cash, from: .income, to: .available)
  }
}
