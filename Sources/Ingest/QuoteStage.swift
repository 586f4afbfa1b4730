import Candles
import Commits
import Feeds
import Journal
import Market

/// What is booked of one market: answers with live quotes in, candles and the latest snapshots out.
struct QuoteStage {
  /// Whose series the candles are.
  let source: Source
  /// Whose quotes are booked now.
  var serving: ServingRow
  var book: CandleBook
  var decoders: DayDecoders
  var names = NameCache()
  var quoteBatch = QuoteBatch()
  var rowMatching = RowMatching()
  /// The last snapshot taken of each instrument, and its line, by the book's index.
  var latest: [LatestQuote?] = []
  /// The last snapshots of days that were certified by what came after them, until then.
  var former: [Int: LatestQuote] = [:]
  var lines = LineMemory()
  /// What each of the book's groups asked for when it was last answered.
  var memberships: [UInt32: Membership] = [:]
  var overview: [Symbol: OverviewQuote] = [:]
  /// Instruments without rows that count.
  var silence = SilenceMonitor()
  /// Whether today trades.
  var dayWatch: DayWatch
  var pending = Unwritten()

  /// Whose row, and whose name, is to be written.
  struct Unwritten {
    var touched = IndexSet()
    var renamed = IndexSet()

    var isEmpty: Bool { touched.isEmpty && renamed.isEmpty }
  }

  /// - Parameter calendar: of the mainland; another market has its own days.
  init(_ source: Source, rules: CandleRules, calendar: TradingCalendar) {
    let market = SourceRegistry.definition(of: source).market
    guard let hours = TradingHours(market.on(RuleBook.current.undatedDay)) else {
      preconditionFailure("no candles can be built of live quotes in \(market.name)")
    }
    self.source = source
    serving = ServingRow(series: source, since: Timestamp(microseconds: 0), source: source)
    dayWatch = DayWatch(hours)
    decoders = DayDecoders(isMainland: market.name == MarketDefinition.mainlandChina.name)
    book = CandleBook(
      rules: rules, hours: hours, source: source,
      calendar: market.tradingDays == .everyDay ? .everyDay : calendar, sourceName: source.name)
  }

  /// Whose quotes were booked last, as stored.
  mutating func restore(_ row: ServingRow) {
    serving = row
    book.sourceName = row.source.name
  }

  /// As a day begins, its rules do: hours that are others are those of its rows. What a reload
  /// brings counts from the next row on, but for hours: a day keeps those that it began with.
  mutating func begin(at moment: Timestamp) {
    let day = book.rules.hours.clock.day(at: moment)
    let isNewDay = decoders.day != day
    guard decoders.begin(day) else { return }
    for index in book.classify() where !names.name(at: index).isEmpty {
      pending.renamed.insert(index)
    }
    guard isNewDay, let hours = hours(on: day) else { return }
    book.begin(day, hours: hours)
    dayWatch.hours = hours
  }

  /// The day that it stands in keeps its own hours.
  mutating func restore(sharedState bytes: [UInt8]) throws(BookStateError) {
    let market = SourceRegistry.definition(of: source).market
    try book.restore(sharedState: bytes) { TradingHours(market.on($0)) }
  }

  private func hours(on day: TradingDay) -> TradingHours? {
    TradingHours(SourceRegistry.definition(of: source).market.on(day))
  }

  /// Whether the mainland's own rules hold: of codes, and of the previous close after a dividend.
  var isMainland: Bool { decoders.isMainland }

  var hasPendingRows: Bool { !pending.isEmpty }

  /// - Throws: `EngineError` if the stored state is not this version's.
  mutating func restore(_ row: StoredState.InstrumentState) throws {
    let market = SourceRegistry.definition(of: source).market
    do throws(BookStateError) {
      try book.restore(instrument: row.symbol, state: row.bookState) {
        TradingHours(market.on($0))
      }
    } catch {
      throw EngineError(error, table: "quote", row: row.symbol)
    }
    // The table has the moment; which second of its market's day that is, its clock says.
    var quote = row.quote
    quote.clock = book.rules.hours.clock
    quote.secondOfDay = Int32(
      clamping: quote.clock.second(of: row.quote.at, on: quote.tradingDay))
    latest.append(
      LatestQuote(quote: quote, receivedAt: row.receivedAt, source: row.servedBy))
  }

  /// The number of a request group in the book. The series' own source keeps its numbers; another
  /// one's come after them, so that neither counts for what the other requested.
  func bookGroup(_ group: UInt16, of asked: Source) -> UInt32 {
    if asked == source { return UInt32(group) }
    let others = SourceRegistry.liveSources(of: source).map(\.mainSeries)
      .filter { $0 != source }.sorted { $0.rawValue < $1.rawValue }
    guard let rank = others.firstIndex(of: asked) else { return UInt32(group) }
    return UInt32(rank + 1) << 16 | UInt32(group)
  }

  /// The instruments a group asked for. One that left the group is no longer proven alive by it.
  mutating func membership(of group: UInt32, request: [UInt8]) -> Membership {
    if let known = memberships[group], known.request == request { return known }
    let new = Membership(
      request: request, indexes: Symbol.list(of: request).map { index(of: $0) })
    // The book knows which were proven alive also when a restart lies between the two requests.
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

  /// What the book decided since the last time, as rows of this market's series.
  mutating func takeOutput() -> CandleOutput {
    var output = book.takeOutput()
    for place in output.gaps.indices { output.gaps[place].source = source }
    for place in output.closedGaps.indices { output.closedGaps[place].source = source }
    for place in output.certificates.indices {
      output.certificates[place].source = source
      output.certificates[place].reference = reference(of: output.certificates[place])
    }
    former = [:]
    return output
  }

  /// As the last row of the day has it.
  private func reference(of certificate: DayCertificate) -> DayReference? {
    guard let index = book.knownIndex(of: certificate.symbol),
      let row = [latest[index], former[index]].lazy.compactMap(\.self)
        .first(where: { $0.quote.tradingDay == certificate.tradingDay }),
      row.quote.previousClose.isPositive
    else { return nil }
    return DayReference(
      previousClose: row.quote.previousClose, limits: row.quote.limits, source: row.source)
  }

  /// Who fell silent, and who is back.
  mutating func silences(at moment: Timestamp) -> [SilenceMonitor.Change] {
    silence.changes(at: moment, calendar: book.calendar, hours: book.rules.hours) {
      book.symbol(at: $0)
    }
  }

  /// The earlier date that every source keeps on a day that was to trade.
  func dateKept(on day: TradingDay) -> TradingDay? {
    book.calendar.declaration(of: day).trades ? dayWatch.dateKept(on: day) : nil
  }

  func isInSession(_ moment: Timestamp) -> Bool {
    book.calendar.isInSession(moment, hours: book.rules.hours)
  }

  /// The latest snapshot and the forming candle of an instrument, for a view.
  func snapshot(of symbol: Symbol) -> EngineReport.Snapshot? {
    guard let index = book.knownIndex(of: symbol), let latest = latest[index] else { return nil }
    return EngineReport.Snapshot(
      name: names.name(at: index), quote: latest.quote,
      forming: book.formingCandle(at: index))
  }
}

// MARK: - Rows for a commit

extension QuoteStage {
  /// Adds the rows of all that changed since the last commit.
  mutating func handOver(to commit: inout Commit) {
    let changed = pending.touched.take()
    commit.quotes.reserveCapacity(commit.quotes.count + changed.count)
    latest.withUnsafeBufferPointer { latest in
      for index in changed {
        guard let receivedAt = latest[index]?.receivedAt, let quote = latest[index]?.quote else {
          continue
        }
        commit.quotes.append(
          QuoteRow(
            quote: quote, source: source, forming: book.formingCandle(at: index),
            bookState: book.instrumentState(at: index), receivedAt: receivedAt))
      }
    }
    commit.instruments += pending.renamed.take().sorted().map { instrumentRow($0) }
  }

  private func instrumentRow(_ index: Int) -> InstrumentRow {
    let symbol = book.symbol(at: index)
    let identity = isMainland ? Instrument.classify(symbol) : nil
    return InstrumentRow(
      symbol: symbol, source: source,
      exchange: identity?.exchange ?? SourceRegistry.definition(of: source).market.exchange,
      kind: identity?.kind, board: identity?.board, name: names.name(at: index))
  }
}

/// The decoders of the sources that entries came from, which read by the rules of the day.
struct DayDecoders {
  let isMainland: Bool
  private(set) var day: TradingDay?
  private var rules: RuleBook?
  private var bySource: [Source: any QuoteDecoder] = [:]

  init(isMainland: Bool) { self.isMainland = isMainland }

  /// False where it has begun, and by the rules that are in force.
  mutating func begin(_ today: TradingDay) -> Bool {
    if day == today, rules === RuleBook.current { return false }
    RuleBook.begin(today)
    (day, rules, bySource) = (today, .current, [:])
    return true
  }

  mutating func decode(
    _ body: UnsafeRawBufferPointer, of entry: JournalEntry, by declaration: QuotesDeclaration,
    into batch: inout QuoteBatch
  ) -> QuoteOutcome {
    bySource[entry.source, default: declaration.makeDecoder(day)].decode(
      body, status: Int(entry.status), into: &batch)
  }
}

struct LatestQuote: Sendable {
  var quote: Quote
  var receivedAt: Timestamp
  /// Who served then.
  var source: Source
}

struct Membership: Sendable {
  var request: [UInt8]
  var indexes: [Int]
}

/// Indexes, each once, in the order they came. Its memory is used again.
struct IndexSet: Sendable {
  private var order: [Int] = []
  private var holds: [Bool] = []

  var isEmpty: Bool { order.isEmpty }

  mutating func insert(_ index: Int) {
    while holds.count <= index { holds.append(false) }
    if holds[index] { return }
    holds[index] = true
    order.append(index)
  }

  /// Hands them over and begins anew.
  mutating func take() -> [Int] {
    for index in order { holds[index] = false }
    defer { order = [] }
    return order
  }
}

extension Symbol {
  /// Those that a request for quotes names.
  static func list(of request: [UInt8]) -> [Symbol] {
    request.split(separator: UInt8(ascii: ",")).compactMap { token in
      token.withUnsafeBytes { Symbol(bytes: $0) }
    }
  }
}
