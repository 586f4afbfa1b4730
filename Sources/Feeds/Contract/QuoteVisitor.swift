/// Who receives what a response holds, in the order of its lines.
///
/// A visitor instead of an array: a sweep is 5,400 quotes of half a kilobyte, and most of them are
/// looked at once and forgotten. The quote and all bytes are lent for the length of the call.

import Market

package protocol QuoteVisitor {
  /// A good line of the full form.
  /// - Parameters:
  ///   - name: as it came, to be decoded only if it changed (`NameCache`).
  ///   - line: the whole line without its line end, for a record of what was said.
  mutating func quote(_ quote: Quote, name: RawName, line: UnsafeRawBufferPointer)

  /// A good line of a market overview family.
  mutating func overview(_ quote: OverviewQuote)

  /// The source answered, and does not know the symbol.
  mutating func unknown(_ symbol: Symbol)

  /// A bad line. Its neighbours are delivered all the same.
  mutating func rejected(_ row: RejectedRow)

  /// A good line's member that was left out; its line follows.
  mutating func dropped(_ member: DroppedMember)
}

extension QuoteVisitor {
  package mutating func dropped(_ member: DroppedMember) {}
}

/// A line of `s_`, `gb_`, `hk`, `rt_hk`, `int_` or `b_`: where a market stands, not what traded.
package struct OverviewQuote: Sendable, Hashable {
  package var symbol: Symbol
  package var name: String
  package var last: ExactDecimal
  /// Against the previous close.
  package var change: ExactDecimal
  package var percentChange: ExactDecimal
  /// The source's stamp, where the line carries one: `gb_` in Beijing time, `hk` in Hong Kong time
  /// (the same clock). The stamps of `b_` belong to the refresh and not to the price.
  package var at: Timestamp?
}

/// A line that was refused.
package struct RejectedRow {
  /// The row's symbol, if it could be read.
  package var symbol: Symbol?
  package var reason: RejectionReason
  /// The field and what was expected, for people.
  package var detail: String
  /// The line as it came, lent for the length of the call.
  package var line: UnsafeRawBufferPointer
  /// Its money fits its prices once the volume is taken in tens, hundreds or the like.
  package var isInOtherUnit = false
}

/// Turns responses of one source into quotes. One is kept and reused for every response; what it
/// remembers never changes a result.
package protocol QuoteDecoder {
  /// Decodes one response and hands its rows over in their order; none unless the outcome is `ok`.
  /// - Parameters:
  ///   - body: as received, content encoding undone.
  ///   - status: of HTTP; the body has the last word.
  mutating func decode(
    _ body: UnsafeRawBufferPointer, status: Int, into batch: inout QuoteBatch
  ) -> QuoteOutcome
}
