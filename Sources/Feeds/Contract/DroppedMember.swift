/// What stands beside a row: members that no candle, no band and no trading state rests on. One
/// with a form not met before costs itself and never its row. What makes a row is listed for each
/// source in docs/sources.md.

import Market

package enum OptionalMember: String, Sendable, CaseIterable {
  /// The levels of the book behind the first.
  case bookDepth = "book_depth"
  case limitPrices = "limit_prices"
  case afterHours = "after_hours"
  /// A total that the row holds a second time.
  case repeatedTotal = "repeated_total"
  /// The turnover of a ready-made bar, whose members follow.
  case turnover
  case trades
  case vwap
  /// The name in a row of a list, whose members follow.
  case name
  /// The exchange, where the code names it already.
  case exchange
}

/// A member that was left out of its row.
package struct DroppedMember: Sendable, Hashable {
  package var symbol: Symbol?
  package var member: OptionalMember
  /// The field and what was expected, for people.
  package var detail: String
}

extension [DroppedMember] {
  /// What `read` makes of a member; nil, and a note, where it has another form.
  mutating func value<Value>(
    of member: OptionalMember, in symbol: Symbol?, read: () throws(RowFault) -> Value
  ) -> Value? {
    do throws(RowFault) {
      return try read()
    } catch {
      append(DroppedMember(symbol: symbol, member: member, detail: error.detail))
      return nil
    }
  }

  /// One side of a book. Its first level makes the row, for a side without one is that of an
  /// instrument at its limit; its depth ends where a level has another form.
  mutating func book(
    of symbol: Symbol, level: (Int) throws(RowFault) -> BookLevel
  ) throws(RowFault) -> Quote.Book {
    var book = Quote.Book(repeating: .empty)
    book[0] = try level(0)
    for index in 1..<5 {
      let read = value(of: .bookDepth, in: symbol) { () throws(RowFault) in try level(index) }
      guard let read else { break }
      book[index] = read
    }
    return book
  }
}
