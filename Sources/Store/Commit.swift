import Market

/// Everything one transaction stores: the rows of a journal entry and the position behind it.
/// Rows name instruments by symbol; the writer knows the ids.
public struct Commit: Sendable {
  /// The last journal entry whose effects are in here.
  public var position: JournalPosition
  /// The daemon's clock at that entry.
  public var knownAt: Timestamp
  /// What the book needs to go on from `position`; opaque to the store.
  public var bookState: [UInt8]
  public var instruments: [InstrumentRow] = []
  public var quotes: [QuoteRow] = []
  /// Final candles; never one that was committed before (if one is, it becomes a revision).
  public var candles: [Candle] = []
  public var revisions: [Revision] = []
  public var gaps: [Gap] = []
  /// Open gaps that stand no more; closed before `gaps` are opened.
  public var closedGaps: [Gap] = []
  public var certificates: [DayCertificate] = []
  public var rejections: [Rejection] = []
  public var events: [FeedEvent] = []
  public var overview: [OverviewRow] = []
  public var health: [SourceHealthRow] = []
  public var bars: [BarBatch] = []
  public var factors: [FactorBatch] = []
  public var keyUsage: [KeyUsage] = []
  public var lists: [ListVerdict] = []
  public var instrumentMarks: [InstrumentMarks] = []
  public var sessions: [MarketSession] = []
  public var watermarks: [BarWatermark] = []
  /// The first day whose minutes their source still tells: what is open of earlier ones stays so.
  public var firstDayAvailable: TradingDay?

  public init(position: JournalPosition, knownAt: Timestamp, bookState: [UInt8] = []) {
    self.position = position
    self.knownAt = knownAt
    self.bookState = bookState
  }

  /// Whether there is no row to write. The position alone is not worth a transaction: replaying
  /// entries that change nothing is free.
  public var isEmpty: Bool { quotes.isEmpty && isEmptyButForQuotes }

  var isEmptyButForQuotes: Bool {
    instruments.isEmpty && candles.isEmpty && revisions.isEmpty && gaps.isEmpty
      && closedGaps.isEmpty && certificates.isEmpty
      && rejections.isEmpty && events.isEmpty && overview.isEmpty && health.isEmpty
      && bars.isEmpty && factors.isEmpty && keyUsage.isEmpty && lists.isEmpty
      && instrumentMarks.isEmpty && sessions.isEmpty && watermarks.isEmpty
  }
}

/// What is known of an instrument; nil leaves the stored value as it is.
public struct InstrumentRow: Sendable, Hashable {
  public var symbol: Symbol
  /// Whose series it is; see `Source.series`.
  public var source: Source
  public var exchange: Exchange?
  public var kind: InstrumentKind?
  public var board: Board?
  public var name: String?

  public init(
    symbol: Symbol, source: Source = .sina, exchange: Exchange? = nil,
    kind: InstrumentKind? = nil, board: Board? = nil, name: String? = nil
  ) {
    self.symbol = symbol
    self.source = source.series
    self.exchange = exchange
    self.kind = kind
    self.board = board
    self.name = name
  }
}

/// The latest snapshot of an instrument with its forming minute.
public struct QuoteRow: Sendable {
  public var quote: Quote
  /// As the source sends it; nil leaves the stored name as it is.
  public var name: String?
  /// The minute that is still open, if one is.
  public var forming: Candle?
  /// What the book needs to go on with this instrument; opaque to the store.
  public var bookState: [UInt8]
  public var receivedAt: Timestamp

  public init(
    quote: Quote, name: String? = nil, forming: Candle?, bookState: [UInt8], receivedAt: Timestamp
  ) {
    self.quote = quote
    self.name = name
    self.forming = forming
    self.bookState = bookState
    self.receivedAt = receivedAt
  }
}

/// One world index of the market overview.
public struct OverviewRow: Sendable, Hashable {
  public var symbol: String
  public var name: String?
  public var last: ExactDecimal
  public var change: ExactDecimal
  /// In per cent.
  public var percentChange: ExactDecimal
  public var at: Timestamp

  public init(
    symbol: String, name: String?, last: ExactDecimal, change: ExactDecimal,
    percentChange: ExactDecimal, at: Timestamp
  ) {
    self.symbol = symbol
    self.name = name
    self.last = last
    self.change = change
    self.percentChange = percentChange
    self.at = at
  }
}

/// How one endpoint of a source is doing.
public struct SourceHealthRow: Sendable, Hashable {
  public enum State: String, Sendable {
    case up, degraded, down
  }

  public var source: Source
  /// The endpoint's name; never its address.
  public var endpoint: String
  public var state: State
  public var since: Timestamp
  public var lastSuccessAt: Timestamp?
  /// Since the daemon started.
  public var requests: Int64
  public var failures: Int64
  /// For people.
  public var detail: String
  /// When it was so; nil is the commit's own moment.
  public var updatedAt: Timestamp?

  public init(
    source: Source, endpoint: String, state: State, since: Timestamp, lastSuccessAt: Timestamp?,
    requests: Int64, failures: Int64, detail: String
  ) {
    self.source = source
    self.endpoint = endpoint
    self.state = state
    self.since = since
    self.lastSuccessAt = lastSuccessAt
    self.requests = requests
    self.failures = failures
    self.detail = detail
  }
}

/// What a commit wrote.
public struct CommitReceipt: Sendable, Hashable {
  /// Its place in the change feed; nil when nothing differed from what was stored, and so nothing
  /// was written.
  public var seq: Int64?
  public var instruments = 0
  public var quotes = 0
  public var candles = 0
  public var revisions = 0
  /// Opened.
  public var gaps = 0
  /// Their minutes were found.
  public var closedGaps = 0
  /// Another row took their place.
  public var supersededGaps = 0
  /// Gaps that were looked for once more.
  public var gapChecks = 0
  public var certificates = 0
  /// New, changed or resolved.
  public var disagreements = 0
  public var rejections = 0
  public var events = 0
  public var overview = 0
  public var health = 0
  /// New, or ended.
  public var factors = 0
  public var keyUsage = 0
  public var lists = 0
  public var instrumentMarks = 0
  public var sessions = 0
  public var watermarks = 0
  /// Rows the database would not have: they are in `rejected`, and the rest is stored.
  public var refused = 0
  /// Why, of the first of them.
  public var firstRefusal: String?
  /// Groups of rows that were tried and taken back to find them.
  package var rejectedGroups = 0
  /// Why this commit was not notified; followers find it by their timers.
  public var notifyFault: StoreError?
  /// The commit had been made before the connection was lost; this call only learnt of it, and
  /// the counts are not known.
  public var wasAlreadyStored = false

  public init(seq: Int64? = nil) { self.seq = seq }

  var rows: Int {
    let account = instruments + quotes + candles + revisions + gaps + certificates + rejections
    let repairs = closedGaps + supersededGaps + gapChecks + disagreements
    let reference = factors + keyUsage + lists + instrumentMarks + sessions + watermarks
    return account + repairs + reference + events + overview + health
  }
}

/// What a restart goes on from.
public struct StoredState: Sendable {
  /// A row of `quote`: the snapshot taken last, and how the book goes on from it.
  public struct InstrumentState: Sendable, Equatable {
    public var quote: Quote
    public var name: String?
    public var receivedAt: Timestamp
    public var bookState: [UInt8]

    public var symbol: Symbol { quote.symbol }
    public var tradingDay: TradingDay { quote.tradingDay }
  }

  /// Replay the journal after it.
  public var position: JournalPosition
  /// The identity of the journal it belongs to; empty where none was ever told.
  public var journal = ""
  /// The daemon's clock there; nil in a database that was never written to.
  public var knownAt: Timestamp?
  public var bookState: [UInt8]
  /// One for each row of `quote`, by instrument id.
  public var quotes: [InstrumentState]
  /// Of the change feed.
  public var epoch: Int64
  public var lastSeq: Int64
  /// Every series there is, by instrument id.
  public var instruments: [StoredInstrument] = []
  /// The last accepted list of each part.
  public var lists: [ListVerdict] = []
  /// Of each key, its last day.
  public var keyUsage: [KeyUsage] = []
  public var watermarks: [BarWatermark] = []
  /// Of every market, by exchange and day.
  public var sessions: [MarketSession] = []
}
