import Market

/// The books of one account and its open orders. Every change is a posting, made whole or refused
/// with nothing changed. No I/O and no clock: the same events give the same postings.
package struct AccountLedger: Sendable {
  /// The balances of all books that were ever used.
  package private(set) var balances: [Book: ExactDecimal]
  package internal(set) var openOrders: [Int64: LedgerOrder]
  /// The number of the newest posting.
  package private(set) var sequence: Int64
  package private(set) var tradingDay: TradingDay

  package init(
    tradingDay: TradingDay, sequence: Int64 = 0, balances: [Book: ExactDecimal] = [:],
    openOrders: [LedgerOrder] = []
  ) {
    self.tradingDay = tradingDay
    self.sequence = sequence
    self.balances = balances
    self.openOrders = Dictionary(uniqueKeysWithValues: openOrders.map { ($0.id, $0) })
  }

  package func balance(_ unit: LedgerUnit, _ kind: BookKind) -> ExactDecimal {
    balances[Book(unit, kind)] ?? .zero
  }

  private static let amountPlaces = LedgerOrder.cashPlaces

  /// Adds what moved to the books, and makes it the next posting.
  mutating func post(
    _ event: LedgerEvent, moving move: (inout Movement) throws(ExactDecimalError) -> Void
  ) throws(LedgerRefusal) -> Posting {
    var entries: [LedgerEntry] = []
    do throws(ExactDecimalError) {
      var movement = Movement()
      try move(&movement)
      for (book, amount) in movement.changes where !amount.isZero {
        let after = try balance(book.unit, book.kind) + amount
        entries.append(LedgerEntry(book: book, amount: amount, balanceAfter: after))
      }
    } catch {
      throw .overflow
    }
    for entry in entries where entry.book.kind.isOwn && entry.balanceAfter.isNegative {
      throw .overdrawn(
        entry.book, balance: balance(entry.book.unit, entry.book.kind), change: entry.amount)
    }
    for entry in entries { balances[entry.book] = entry.balanceAfter }
    sequence += 1
    return Posting(
      sequence: sequence, event: event, tradingDay: tradingDay, entries: entries)
  }
}

// MARK: - Money

extension AccountLedger {
  package mutating func deposit(
    _ amount: ExactDecimal, type: DepositType
  ) throws(LedgerRefusal) -> Posting {
    let amount = try Self.cash(amount)
    // The far side is what was paid in, negative.
    guard let paidIn = try? amount - balance(.cash, .world), paidIn <= Self.paidInMax else {
      throw .overflow
    }
    return try post(LedgerEvent(kind: .deposit, depositType: type)) {
      (movement) throws(ExactDecimalError) in
      try movement.move(amount, of: .cash, from: .world, to: .available)
    }
  }

  /// A ninetieth of what a book can hold: profits fit as well.
  private static let paidInMax = ExactDecimal(1_000_000_000_000_000)

  /// - Throws: `overdrawn` where less is available: what is frozen for orders does not count.
  package mutating func withdraw(_ amount: ExactDecimal) throws(LedgerRefusal) -> Posting {
    let amount = try Self.cash(amount)
    return try post(LedgerEvent(kind: .withdrawal)) { (movement) throws(ExactDecimalError) in
      try movement.move(amount, of: .cash, from: .available, to: .world)
    }
  }

  private static func cash(_ amount: ExactDecimal) throws(LedgerRefusal) -> ExactDecimal {
    guard amount.isPositive, amount.normalized.scale <= amountPlaces,
      let exact = try? amount.rescaled(places: amountPlaces)
    else { throw .invalidAmount(amount) }
    return exact
  }

  /// What a dividend or a bonus gives. Shares that are merged away must be sellable: orders that
  /// freeze some end before.
  package mutating func book(
    _ kind: CorporateActionTerms.Kind, amount: ExactDecimal, of symbol: Symbol
  ) throws(LedgerRefusal) -> Posting {
    let amount = try kind == .dividend ? Self.cash(amount) : amount
    if amount.isZero { throw .invalidAmount(amount) }
    return try post(LedgerEvent(kind: kind.event)) { (movement) throws(ExactDecimalError) in
      try movement.give(amount, by: kind, of: symbol)
    }
  }

  /// A later day was begun too early. What was settled with it stays so.
  package mutating func reopen(_ day: TradingDay) { tradingDay = day }

  /// Takes back what a dividend or a bonus gave.
  /// - Parameter sequence: of the posting that gave it.
  /// - Throws: `overdrawn` where the cash is spent or the shares are not to be sold.
  package mutating func reverse(
    _ kind: CorporateActionTerms.Kind, amount: ExactDecimal, of symbol: Symbol,
    posting sequence: Int64
  ) throws(LedgerRefusal) -> Posting {
    try post(.reversal(order: nil, of: sequence)) { (movement) throws(ExactDecimalError) in
      try movement.give(amount.negated, by: kind, of: symbol)
    }
  }

  /// A trading day begins: what was bought before it may be sold.
  /// - Returns: nil where there is nothing of the kind.
  package mutating func settle(_ day: TradingDay) throws(LedgerRefusal) -> Posting? {
    tradingDay = day
    let bought = balances.filter { $0.key.kind == .today && !$0.value.isZero }
      .sorted { $0.key.unit.text < $1.key.unit.text }
    if bought.isEmpty { return nil }
    return try post(LedgerEvent(kind: .settlement)) { (movement) throws(ExactDecimalError) in
      for (book, shares) in bought {
        try movement.move(shares, of: book.unit, from: .today, to: .sellable)
      }
    }
  }
}

extension Movement {
  fileprivate mutating func give(
    _ amount: ExactDecimal, by kind: CorporateActionTerms.Kind, of symbol: Symbol
  ) throws(ExactDecimalError) {
    if kind == .dividend {
      try move(amount, of: .cash, from: .income, to: .available)
    } else {
      try move(amount, of: .shares(symbol), from: .market, to: .sellable)
    }
  }
}
