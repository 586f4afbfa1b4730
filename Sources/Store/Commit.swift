import Market
import Postgres

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
  package var overview: [OverviewRow] = []
  package var health: [SourceHealthRow] = []
  package var bars: [BarBatch] = []
  package var factors: [FactorBatch] = []
  package var keyUsage: [KeyUsage] = []
  package var lists: [ListVerdict] = []
  package var instrumentMarks: [InstrumentMarks] = []
  package var sessions: [MarketSession] = []
  package var watermarks: [BarWatermark] = []
  /// The first day whose minutes their source still tells: what is open of earlier ones stays so.
  package var firstDayAvailable: TradingDay?

  package init(position: JournalPosition, knownAt: Timestamp, bookState: [UInt8] = []) {
    self.position = position
    self.knownAt = knownAt
    self.bookState = bookState
  }

  /// Whether there is no row to write. The position alone is not worth a transaction: replaying
  /// entries that change nothing is free.
  package var isEmpty: Bool { quotes.isEmpty && isEmptyButForQuotes }

  var isEmptyButForQuotes: Bool {
    instruments.isEmpty && candles.isEmpty && revisions.isEmpty && gaps.isEmpty
      && closedGaps.isEmpty && certificates.isEmpty
      && rejections.isEmpty && events.isEmpty && overview.isEmpty && health.isEmpty
      && bars.isEmpty && factors.isEmpty && keyUsage.isEmpty && lists.isEmpty
      && instrumentMarks.isEmpty && sessions.isEmpty && watermarks.isEmpty
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
    symbol: Symbol, source: Source = .live, exchange: Exchange? = nil,
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
  /// As the source sends it; nil leaves the stored name as it is.
  package var name: String?
  /// The minute that is still open, if one is.
  package var forming: Candle?
  /// What the book needs to go on with this instrument; opaque to the store.
  package var bookState: [UInt8]
  package var receivedAt: Timestamp

  package init(
    quote: Quote, name: String? = nil, forming: Candle?, bookState: [UInt8], receivedAt: Timestamp
  ) {
    self.quote = quote
    self.name = name
    self.forming = forming
    self.bookState = bookState
    self.receivedAt = receivedAt
  }
}

/// What a commit wrote.
package struct CommitReceipt: Sendable, Hashable {
  /// Its place in the change feed; nil when nothing differed from what was stored, and so nothing
  /// was written.
  package var seq: Int64?
  package var instruments = 0
  package var quotes = 0
  package var candles = 0
  package var revisions = 0
  /// Opened.
  package var gaps = 0
  /// Their minutes were found.
  package var closedGaps = 0
  /// Another row took their place.
  package var supersededGaps = 0
  /// Gaps that were looked for once more.
  package var gapChecks = 0
  package var certificates = 0
  /// New, changed or resolved.
  package var disagreements = 0
  package var rejections = 0
  package var events = 0
  package var overview = 0
  package var health = 0
  /// New, or ended.
  package var factors = 0
  package var keyUsage = 0
  package var lists = 0
  package var instrumentMarks = 0
  package var sessions = 0
  package var watermarks = 0
  /// Rows the database would not have: they are in `rejected`, and the rest is stored.
  package var refused = 0
  /// Why, of the first of them.
  package var firstRefusal: String?
  /// Groups of rows that were tried and taken back to find them.
  package var rejectedGroups = 0
  /// Why this commit was not notified; followers find it by their timers.
  package var notifyFault: StoreError?
  /// The commit had been made before the connection was lost; this call only learnt of it, and
  /// the counts are not known.
  package var wasAlreadyStored = false

  package init(seq: Int64? = nil) { self.seq = seq }

  var rows: Int {
    let account = instruments + quotes + candles + revisions + gaps + certificates + rejections
    let repairs = closedGaps + supersededGaps + gapChecks + disagreements
    let reference = factors + keyUsage + lists + instrumentMarks + sessions + watermarks
    return account + repairs + reference + events + overview + health
  }
}

/// What a restart goes on from.
package struct StoredState: Sendable {
  /// A row of `quote`: the snapshot taken last, and how the book goes on from it.
  package struct InstrumentState: Sendable, Equatable {
    package var quote: Quote
    package var name: String?
    package var receivedAt: Timestamp
    package var bookState: [UInt8]

    package var symbol: Symbol { quote.symbol }
    package var tradingDay: TradingDay { quote.tradingDay }
  }

  /// Replay the journal after it.
  package var position: JournalPosition
  /// The identity of the journal it belongs to; empty where none was ever told.
  package var journal = ""
  /// The daemon's clock there; nil in a database that was never written to.
  package var knownAt: Timestamp?
  package var bookState: [UInt8]
  /// One for each row of `quote`, by instrument id.
  package var quotes: [InstrumentState]
  /// Of the change feed.
  package var epoch: Int64
  package var lastSeq: Int64
  /// Every series there is, by instrument id.
  package var instruments: [StoredInstrument] = []
  /// The last accepted list of each part.
  package var lists: [ListVerdict] = []
  /// Of each key, its last day.
  package var keyUsage: [KeyUsage] = []
  package var watermarks: [BarWatermark] = []
  /// Of every market, by exchange and day.
  package var sessions: [MarketSession] = []
}
