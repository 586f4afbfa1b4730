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
  /// One for each market with live quotes, the mainland's first.
  var stages: [QuoteStage]
  /// Every A share there is, as far as accepted lists have it.
  package internal(set) var universe = Universe()
  /// Lists that come in pages.
  var collections: [ListPart: ListCollection] = [:]
  /// What each key has spent on its last day, by label.
  var keyUsage: [String: KeyUsage] = [:]
  var recorded = RecordedBars()
  var codes = CodeChanges()
  /// What calendars were reported to say of days, which they say again and again.
  var reportedDays: Set<DayFinding> = []
  /// The books of sources that this version does not know: kept as they are.
  var unknownStates: [(source: Source, bytes: [UInt8])] = []
  var pending = PendingRows()
  package private(set) var position: JournalPosition
  /// Receive time of the last entry: the moment its rows count as known from.
  package private(set) var knownAt = Timestamp(microseconds: 0)

  package init(
    rules: CandleRules = CandleRules(), limits: UniverseLimits = UniverseLimits()
  ) {
    stages = SourceRegistry.liveSeries.map {
      QuoteStage($0, rules: rules, calendar: .shanghai)
    }
    universe = Universe(limits: limits)
    position = .start
  }

  /// The pipeline as it was when `stored` was committed.
  /// - Throws: `EngineError` if the stored state is not this version's, with the row to blame.
  package init(
    rules: CandleRules = CandleRules(), limits: UniverseLimits = UniverseLimits(),
    stored: StoredState
  ) throws {
    self.init(rules: rules, limits: limits)
    position = stored.position
    knownAt = stored.knownAt ?? knownAt
    try restore(sharedState: stored.bookState)
    know(stored.serving)
    for row in stored.quotes {
      if let place = place(of: row.source) { try stages[place].restore(row) }
    }
    restore(stored, limits: limits)
  }

  /// nil for a source whose quotes nobody books.
  func place(of source: Source) -> Int? {
    let series = source.instruments
    return stages.firstIndex { $0.source == series }
  }

  /// Takes in who served last, by rows of each series in order of time.
  package mutating func know(_ serving: [ServingRow]) {
    for row in serving {
      if let place = place(of: row.series) { stages[place].restore(row) }
    }
  }

  /// When a decision falls due that no answer may come in time for: append a timer entry then.
  package var nextDeadline: Timestamp? { stages.compactMap(\.book.nextDeadline).min() }

  package var counters: PipelineCounters { pending.counters }

  var rules: CandleRules { stages[0].book.rules }

  /// The mainland's trading days as far as known: the table's, or longer.
  package var calendar: TradingCalendar {
    get { stages[0].book.calendar }
    set { stages[0].book.calendar = newValue }
  }

  /// Takes up what rows depend on beside the journal.
  /// - Returns: what of it contradicts what was observed.
  mutating func configure(_ configuration: WorkerConfiguration) -> [DayFinding] {
    calendar.overrides = configuration.declaredDays
    declare(configuration.declaredLinks)
    for place in stages.indices {
      let series = stages[place].source
      stages[place].dayWatch.sourcesConfigured = configuration.quotes.count {
        $0.source.instruments == series
      }
    }
    let today = knownAt.shanghaiDay
    let contradicted = configuration.declaredDays.filter { day, trades in
      calendar.reading(of: day) == CalendarReading(trades: !trades, grade: .observed)
        && (!trades || day < today)
    }
    return contradict(contradicted.keys.sorted())
  }

  /// The latest snapshot and the forming candle of an instrument, for a view.
  func snapshot(of symbol: Symbol) -> EngineReport.Snapshot? {
    stages.lazy.compactMap { $0.snapshot(of: symbol) }.first
  }

  /// The stamps in the last answer with a source's quotes, by the symbols' places in its request.
  func stamps(of symbols: [Symbol], from source: Source) -> [Timestamp?] {
    place(of: source).map { stages[$0].stamps(of: symbols) } ?? symbols.map { _ in nil }
  }
}

/// Bars in stretches of time, as far as they were read.
struct RecordedBars: Sendable {
  /// The moment up to which the bars of each chunk were read.
  var through: [Source: [String: Timestamp]] = [:]
  /// The sessions known, of markets that list them.
  var sessions: [MarketSession] = []
  /// The last minute of each series, for a view.
  var latest: [Symbol: Candle] = [:]
  /// The series that were asked for.
  var series: Set<InstrumentRow> = []
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
  /// The newest credible stamp in the answer, of the rows that trade.
  package var newestAt: Timestamp?
  /// Instruments whose first row it has.
  var newcomers: [Symbol] = []
  /// What workers act on.
  var found: [MarketEvent] = []
  /// What came of rows that contradicted each other.
  package var disputes: [DisputeEvent] = []
  var silences: [SilenceMonitor.Change] = []
  /// What was learnt of days.
  var days: [DayFinding] = []
  /// Members that were left out of good rows.
  package var dropped: [DroppedMember] = []

  init(_ response: FeedResponse? = nil) { self.response = response }
}

// MARK: - Entries

extension Pipeline {
  /// Takes in the next entry of the journal.
  @discardableResult
  package mutating func process(_ entry: JournalEntry, at position: JournalPosition) -> Digest {
    self.position = position
    knownAt = max(knownAt, entry.receivedAt)
    pending.counters.entries += 1
    for place in stages.indices {
      stages[place].book.advance(to: entry.receivedAt)
      stages[place].begin(at: entry.receivedAt)
    }
    var digest = Digest()
    switch entry.kind {
    case .response:
      if let group = entry.quotesGroup {
        if let place = place(of: entry.source) {
          digest = stages[place].read(entry, group: group, into: &pending)
        }
      } else {
        readFeed(entry, into: &digest)
      }
    case .control: readUsage(entry)
    case .timer: break
    }
    noteCodes(at: knownAt, into: &digest)
    for place in stages.indices { collect(place, into: &digest) }
    if entry.kind == .response {
      for place in stages.indices {
        digest.silences += stages[place].silences(at: entry.receivedAt)
      }
    }
    return digest
  }

  private mutating func collect(_ place: Int, into digest: inout Digest) {
    guard !stages[place].book.output.isEmpty else { return }
    let output = stages[place].takeOutput()
    for index in output.touched { stages[place].pending.touched.insert(index) }
    for case .dispute(let dispute) in output.events { digest.disputes.append(dispute) }
    if stages[place].isMainland {
      for case .dayComplete(let day, _, _) in output.events {
        pending.commit.reference.sessions += sessions(around: day)
        pending.commit.reference.firstDayAvailable = RepairPlan().firstDay(
          on: day, isTradingDay: calendar.isTradingDay)
      }
    }
    pending.add(output)
  }
}
