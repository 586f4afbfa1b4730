import Market

/// What one instrument's line shows at one moment, and the randomness that will change it.
///
/// Plain integers only (prices in units of 10^-scale, money in thousandths of a yuan), so that a
/// whole market is stepped, copied and compared without touching the heap.
package struct InstrumentState: Sendable {
  package struct Book: Sendable {
    /// What the ten book levels of the line show.
    package enum Kind: UInt8, Sendable {
      case none
      /// The virtual match of a call auction: both first levels alike, the remainder on the second.
      case auction
      case continuous
    }

    package var kind = Kind.none
    package var bid: Int64 = 0
    package var ask: Int64 = 0
    /// The levels' volumes are drawn from this when the line is written.
    package var seed: UInt64 = 0
    /// Virtual match of the running auction; the remainder is negative on the selling side.
    var matched: Int64 = 0
    var remainder: Int64 = 0
  }

  /// The fixed-price session after the close.
  package struct AfterHours: Sendable {
    package var isShown = false
    package var volume: Int64 = 0
    package var turnover: Int64 = 0
  }

  package var random: Randomness
  /// Second of the last change; the date is today's unless `isPreviousSession`.
  package var stamp: Int32 = 0
  package var status = QuoteStatus.normal
  package var isPreviousSession = false
  /// The line says 0.000 where the open stands: the first of Shanghai's rows after the auction does
  /// (33 of 34 recorded instrument-days).
  package var hidesOpen = false
  /// The previous close the line shows: yesterday's own before the reset.
  package var reference: Int64 = 0
  package var open: Int64 = 0
  package var last: Int64 = 0
  package var high: Int64 = 0
  package var low: Int64 = 0
  package var book = Book()
  package var volume: Int64 = 0
  package var turnover: Int64 = 0
  package var afterHours = AfterHours()

  /// The price that moves next: the last trade, or the reference before the first.
  @inline(__always)
  package var anchor: Int64 { last > 0 ? last : reference }
}

/// One trade: what really happened, seen by nobody but the ledger of truth.
package struct Trade: Sendable, Hashable {
  /// Place of the instrument in `SimulatedMarket.symbols`.
  package var instrument: Int32
  /// Milliseconds since Shanghai midnight.
  package var millisecond: Int32
  /// In units of 10^-scale of the instrument.
  package var price: Int64
  /// Shares or units.
  package var size: Int64
  /// Thousandths of a yuan, exactly price × size (an index has no size of its own: there it is
  /// the turnover of its members).
  package var amount: Int64
  /// In the fixed-price session after the close: not part of the day's totals.
  package var isAfterHours: Bool
}
