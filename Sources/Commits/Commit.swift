import Market

/// Everything one transaction stores: the rows of a journal entry and the position behind it.
/// Rows name instruments by symbol; the writer knows the ids.
package struct Commit: Sendable {
  /// The last journal entry whose effects are in here.
  package var position: JournalPosition
  /// The daemon's clock at that entry.
  package var knownAt: Timestamp
  /// What the book needs to go on from `position`; opaque to the store.
  package var bookState: [UInt8]
  package var instruments: [InstrumentRow] = []
  package var quotes: [QuoteRow] = []
  /// Final candles; never one that was committed before (if one is, it becomes a revision).
  package var candles: [Candle] = []
  package var revisions: [Revision] = []
  package var gaps: [Gap] = []
  /// Open gaps that stand no more; closed before `gaps` are opened.
  package var closedGaps: [Gap] = []
  package var certificates: [DayCertificate] = []
  package var rejections: [Rejection] = []
  package var events: [FeedEvent] = []
  package var bars: [BarBatch] = []
  package var reference = ReferenceRows()
  /// The position is stored even without a row: a finished segment of the journal waits for it.
  package var storesPosition = false

  package init(position: JournalPosition, knownAt: Timestamp, bookState: [UInt8] = []) {
    self.position = position
    self.knownAt = knownAt
    self.bookState = bookState
  }

  /// Whether there is no row to write. The position alone is rarely worth a transaction: replaying
  /// entries that change nothing is free.
  package var isEmpty: Bool {
    instruments.isEmpty && quotes.isEmpty && candles.isEmpty && revisions.isEmpty && gaps.isEmpty
      && closedGaps.isEmpty && certificates.isEmpty && rejections.isEmpty && events.isEmpty
      && bars.isEmpty && reference.isEmpty
  }
}

/// What is known of an instrument; nil leaves the stored value as it is.
package struct InstrumentRow: Sendable, Hashable {
  package var symbol: Symbol
  /// Whose series it is; see `Source.series`.
  package var source: Source
  package var exchange: Exchange?
  package var kind: InstrumentKind?
  package var board: Board?
  package var name: String?

  package init(
    symbol: Symbol, source: Source, exchange: Exchange? = nil,
    kind: InstrumentKind? = nil, board: Board? = nil, name: String? = nil
  ) {
    self.symbol = symbol
    self.source = source
    self.exchange = exchange
    self.kind = kind
    self.board = board
    self.name = name
  }
}

/// The latest snapshot of an instrument with its forming minute.
package struct QuoteRow: Sendable {
  package var quote: Quote
  /// Whose series it is.
  package var source: Source
  /// As the source sends it; nil leaves the stored name as it is.
  package var name: String?
  /// The minute that is still open, if one is.
  package var forming: Candle?
  /// What the book needs to go on with this instrument; opaque to the store.
  package var bookState: [UInt8]
  package var receivedAt: Timestamp

  @inlinable @inline(__always)  // Called, it would be made twice: it is nearly a kilobyte.
  package init(
    quote: Quote, source: Source, name: String? = nil, forming: Candle?, bookState: [UInt8],
    receivedAt: Timestamp
  ) {
    self.quote = quote
    self.source = source
    self.name = name
    self.forming = forming
    self.bookState = bookState
    self.receivedAt = receivedAt
  }
}
