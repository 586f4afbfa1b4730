import Market

/// What changed balances: its entries add up to 0 in each unit, because each was made by moving an
/// amount from one book to another.
package struct Posting: Sendable, Hashable {
  /// The number among the account's postings, from 1.
  package var sequence: Int64
  package var event: LedgerEvent
  package var tradingDay: TradingDay
  package var entries: [LedgerEntry]

  package init(
    sequence: Int64, event: LedgerEvent, tradingDay: TradingDay, entries: [LedgerEntry]
  ) {
    self.sequence = sequence
    self.event = event
    self.tradingDay = tradingDay
    self.entries = entries
  }
}

package struct LedgerEntry: Sendable, Hashable {
  package var book: Book
  package var amount: ExactDecimal
  package var balanceAfter: ExactDecimal

  package init(book: Book, amount: ExactDecimal, balanceAfter: ExactDecimal) {
    self.book = book
    self.amount = amount
    self.balanceAfter = balanceAfter
  }
}

/// Amounts on their way between books.
struct Movement {
  /// In the order in which books were first named.
  private(set) var changes: [(book: Book, amount: ExactDecimal)] = []

  /// A negative amount goes the other way.
  mutating func move(
    _ amount: ExactDecimal, of unit: LedgerUnit, from origin: BookKind, to target: BookKind
  ) throws(ExactDecimalError) {
    if amount.isZero { return }
    try add(amount.negated, to: Book(unit, origin))
    try add(amount, to: Book(unit, target))
  }

  private mutating func add(_ amount: ExactDecimal, to book: Book) throws(ExactDecimalError) {
    if let place = changes.firstIndex(where: { $0.book == book }) {
      changes[place].amount = try changes[place].amount + amount
    } else {
      changes.append((book, amount))
    }
  }
}
