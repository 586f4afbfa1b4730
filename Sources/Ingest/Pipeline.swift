import Candles
import Commits
import Feeds
import Journal
import Market
import Polling

/// The middle of candled: journal entries in, a `Commit` out.
///
/// It has no clock, socket or file. The daemon feeds it live answers, a restart feeds it the
/// journal's tail, `candled replay` the whole journal, a test whatever it likes: the same entries
/// give the same rows.
package struct Pipeline {
  var book: CandleBook
  /// Of the live sources that entries came from.
  var decoders: [Source: any QuoteDecoder] = [:]
  var names = NameCache()
  var quoteBatch = QuoteBatch()
  var rowMatching = RowMatching()
  /// By the book's index: the last snapshot taken, and its line.
  var latest: [LatestQuote?] = []
  var lines = LineMemory()
  /// What each request group asked for when it was last answered.
  var memberships: [UInt16: Membership] = [:]
  var overview: [Symbol: OverviewQuote] = [:]
  /// Every A share there is, as far as accepted lists tell.
  package internal(set) var universe = Universe()
  /// Lists that come in pages.
  var collections: [ListPart: ListCollection] = [:]
  /// What each key has spent on its last day, by label.
  var keyUsage: [String: KeyUsage] = [:]
  /// Up to when the bars of each chunk were read, and the American sessions known.
  var barsThrough: [Source: [String: Timestamp]] = [:]
  var usSessions: [MarketSession] = []
  /// The last minute of each American series, for a view.
  var usBars: [Symbol: Candle] = [:]
  /// American series that were asked for.
  var usEquities: Set<InstrumentRow> = []
  var pending = PendingRows()
  var rejectionsSeen = RejectionMemory()
  /// Instruments without rows that count.
  var silence = SilenceMonitor()
  package private(set) var position: JournalPosition
  /// Receive time of the last entry: the moment its rows count as known from.
  package private(set) var knownAt = Timestamp(microseconds: 0)
  package internal(set) var counters = PipelineCounters()

  package init(
    rules: CandleRules = CandleRules(), limits: UniverseLimits = UniverseLimits()
  ) {
    book = CandleBook(rules: rules, sourceName: Source.live.name)
    universe = Universe(limits: limits)
    position = .start
  }

  /// The pipeline as it was when `stored` was committed.
  /// - Throws: `EngineError` if the stored state is not this version's, with the row to blame.
  package init(
    rules: CandleRules = CandleRules(), limits: UniverseLimits = UniverseLimits(),
    stored: StoredState
  ) throws {
    book = CandleBook(rules: rules, sourceName: Source.live.name)
    position = stored.position
    knownAt = stored.knownAt ?? knownAt
    if !stored.bookState.isEmpty {
      do throws(BookStateError) {
        try book.restore(sharedState: stored.bookState)
      } catch {
        throw EngineError(error, table: "journal_position", row: nil)
      }
    }
    for row in stored.quotes {
      do throws(BookStateError) {
        try book.restore(instrument: row.symbol, state: row.bookState)
      } catch {
        throw EngineError(error, table: "quote", row: row.symbol)
      }
      latest.append(LatestQuote(quote: row.quote, receivedAt: row.receivedAt))
    }
    restore(stored, limits: limits)
  }

  /// When a decision falls due that no answer may come in time for: append a timer entry then.
  package var nextDeadline: Timestamp? { book.nextDeadline }

  package var hasPendingRows: Bool { !pending.isEmpty }

  /// Candles that wait for the store: what bounds the memory an outage of it may take.
  package var pendingCandles: Int { pending.candles.count + pending.barCount }

  /// As far as known: the table's, or longer.
  package var calendar: TradingCalendar { book.calendar }
}

/// Instruments that trade without a dividend from today, each once.
struct ExRights: Sendable {
  /// The price known is the last close.
  private(set) var seen: Set<Symbol> = []
  /// The close passed unseen: mostly nothing was paid.
  private(set) var supposed: Set<Symbol> = []

  mutating func add(_ symbols: [Symbol], isSupposed: Bool) {
    if isSupposed { supposed.formUnion(symbols) } else { seen.formUnion(symbols) }
  }

  mutating func add(_ events: [MarketEvent]) {
    for case .exRights(let symbols, let isSupposed) in events {
      add(symbols, isSupposed: isSupposed)
    }
  }

  var events: [MarketEvent] {
    [(seen, false), (supposed, true)].compactMap { symbols, isSupposed in
      symbols.isEmpty ? nil : .exRights(symbols.sorted(), isSupposed: isSupposed)
    }
  }
}

/// What was made of one entry, for the workers, the logs and the counters.
package struct Digest: Sendable {
  /// nil for an entry that is no answer.
  package var response: FeedResponse?
  package var accepted = 0
  package var changed = 0
  package var rejected = 0
  package var missing = 0
  /// The newest credible stamp in the answer.
  package var newestAt: Timestamp?
  /// What workers act on.
  var found: [MarketEvent] = []
  /// What came of rows that contradicted each other.
  package var disputes: [DisputeEvent] = []
  var silences: [SilenceMonitor.Change] = []

  init(_ response: FeedResponse? = nil) { self.response = response }
}

/// Totals since the pipeline was made.
package struct PipelineCounters: Sendable, Hashable {
  package var entries = 0
  package var snapshots = 0
  package var changedSnapshots = 0
  package var missingRows = 0
  package var rejectedRows: [RejectionReason: Int] = [:]
  package var candles = 0
  /// Delivered ready-made, whatever became of them.
  package var bars = 0
  package var gaps = 0
  package var revisions = 0
  package var certificates = 0
  package var balancedCertificates = 0
  /// The day's end was never seen, so there is nothing to balance against.
  package var unseenCertificates = 0
  /// Rows that contradicted what was known, by what came of it.
  package var disputes: [DisputeEvent.Kind: Int] = [:]
}

struct LatestQuote: Sendable {
  var quote: Quote
  var receivedAt: Timestamp
}

struct Membership: Sendable {
  var request: [UInt8]
  var indexes: [Int]
}

// MARK: - Entries

extension Pipeline {
  /// Takes in the next entry of the journal.
  @discardableResult
  package mutating func process(_ entry: JournalEntry, at position: JournalPosition) -> Digest {
    self.position = position
    knownAt = max(knownAt, entry.receivedAt)
    counters.entries += 1
    book.advance(to: entry.receivedAt)
    var digest = Digest()
    switch entry.kind {
    case .response:
      if let group = entry.quotesGroup {
        digest = read(entry, group: group)
      } else {
        readFeed(entry, into: &digest)
      }
    case .control: readUsage(entry)
    case .timer: break
    }
    collect(&digest)
    if entry.kind == .response {
      digest.silences = silence.changes(at: entry.receivedAt, calendar) { book.symbol(at: $0) }
    }
    return digest
  }

  /// The instruments a group asked for. One that left the group is no longer vouched for by it.
  mutating func membership(of group: UInt16, request: [UInt8]) -> Membership {
    if let known = memberships[group], known.request == request { return known }
    let symbols = request.split(separator: UInt8(ascii: ",")).compactMap { token in
      token.withUnsafeBytes { Symbol(bytes: $0) }
    }
    let new = Membership(request: request, indexes: symbols.map { index(of: $0) })
    // The book knows who was vouched for also when a restart lies between the two requests.
    for index in book.indexesInStep(with: group, except: Set(new.indexes)) { miss(index) }
    memberships[group] = new
    return new
  }

  mutating func index(of symbol: Symbol) -> Int {
    let index = book.index(of: symbol)
    while latest.count < book.count { latest.append(nil) }
    return index
  }

  /// Answers come in the order of the question, so that the look-up is seldom needed.
  mutating func index(of symbol: Symbol, expected: Membership, at place: Int) -> Int {
    if place < expected.indexes.count {
      let index = expected.indexes[place]
      if book.symbol(at: index) == symbol { return index }
    }
    return index(of: symbol)
  }

  private mutating func collect(_ digest: inout Digest) {
    guard !book.output.isEmpty else { return }
    let output = book.takeOutput()
    counters.candles += output.candles.count
    // One that grows is closed, and opened again as the larger one.
    counters.gaps += output.gaps.count - output.closedGaps.count
    counters.revisions += output.revisions.count
    counters.certificates += output.certificates.count
    counters.balancedCertificates += output.certificates.count { $0.isBalanced }
    counters.unseenCertificates += output.certificates.count { $0.exchangeVolume == nil }
    for case .dispute(let dispute) in output.events {
      counters.disputes[dispute.kind, default: 0] += 1
      digest.disputes.append(dispute)
    }
    for case .dayComplete(let day, _, _) in output.events {
      pending.sessions += sessions(around: day)
      pending.firstDayAvailable = RepairPlan().firstDay(on: day) { book.calendar.isTradingDay($0) }
    }
    pending.add(output)
  }
}
