import Candles
import Commits
import Feeds
import Journal
import Market

/// One answer, row by row: which rows count, what they change, and who was asked for in vain.
extension QuoteStage {
  mutating func read(
    _ entry: JournalEntry, group: UInt16, into rows: inout PendingRows
  ) -> Digest {
    entry.body.withUnsafeBytes { body in
      quoteBatch.begin(body: body)
      rowMatching.begin()
      let declaration = SourceRegistry.quotes(of: entry.source)
      let outcome = decoders.decode(
        body, of: entry, by: declaration, into: &quoteBatch)
      var response = Response(
        entry: entry, body: body, group: group, bookGroup: bookGroup(group, of: entry.source),
        hasRefreshStamps: declaration.hasRefreshStamps, digest: Digest(.quotes(outcome)))
      guard case .ok = outcome else { return response.digest }
      if quoteBatch.isInOtherUnits { return holdOtherUnits(&response, into: &rows) }
      if quoteBatch.hasOtherFields(than: declaration.fields, body: body) {
        rows.counters.ruleBreaches[.fieldCount, default: 0] += 1
      }
      let watermark = quoteBatch.newestStamp(
        receivedAt: entry.receivedAt, clockSkewSecondsMax: book.rules.clockSkewSecondsMax)
      response.digest.newestAt = quoteBatch.newestStamp(
        receivedAt: entry.receivedAt, clockSkewSecondsMax: book.rules.clockSkewSecondsMax,
        ofTrading: true)
      if let newest = response.digest.newestAt { watchDay(newest, in: &response, into: &rows) }
      if group == QuotesQuery.probeGroup { return response.digest }
      noteSource(of: entry, into: &rows)
      let membership = membership(of: response.bookGroup, request: entry.request)
      rowMatching.expect(membership.indexes, of: latest.count)
      let proven = [watermark, dayWatch.provenThrough(entry.receivedAt)].compactMap { $0 }.max()
      takeQuotes(membership, watermark: proven, in: &response, into: &rows)
      for row in quoteBatch.refused { rows.reject(row, in: &response) }
      response.digest.dropped = quoteBatch.dropped
      rows.counters.count(quoteBatch.dropped)
      for symbol in quoteBatch.unknown { rows.reject(.unknown(symbol), in: &response) }
      takeOverview(into: &rows)
      countMissing(membership, in: &response, into: &rows)
      response.digest.found += response.exRights.events
      if !response.exDays.isEmpty {
        rows.commit.reference.factors.append(
          FactorBatch(source: source, factors: [], exDays: response.exDays))
      }
      if !quoteBatch.unknown.isEmpty {
        response.digest.found.append(.unknownSymbols(quoteBatch.unknown))
      }
      return response.digest
    }
  }

  /// A source that changed its unit is left alone as one that answers nonsense, and another serves:
  /// a factor is never guessed, and rows without money prove nothing.
  private func holdOtherUnits(_ response: inout Response, into rows: inout PendingRows) -> Digest {
    response.digest = Digest(.quotes(.malformed))
    for row in quoteBatch.refused { rows.reject(row, in: &response) }
    rows.counters.ruleBreaches[.volumeUnit, default: 0] += 1
    return response.digest
  }

  /// One answer while it is being read.
  struct Response {
    let entry: JournalEntry
    let body: UnsafeRawBufferPointer
    /// The group's number, as its source counts them.
    let group: UInt16
    let bookGroup: UInt32
    let hasRefreshStamps: Bool
    var digest: Digest
    var exRights = ExRights()
    var exDays: [FactorBatch.ExDay] = []
  }

  /// The first answer with quotes of another source changes who serves. One that was asked for
  /// before the standing source had answered is of the stretch before, and changes nothing.
  private mutating func noteSource(of entry: JournalEntry, into rows: inout PendingRows) {
    guard entry.source != serving.source, !quoteBatch.quotes.isEmpty,
      entry.requestedAt >= serving.since
    else { return }
    serving = ServingRow(series: source, since: entry.receivedAt, source: entry.source)
    book.sourceChanged(at: entry.receivedAt)
    book.sourceName = entry.source.name
    rows.commit.reference.serving.append(serving)
  }

  private mutating func takeQuotes(
    _ membership: Membership, watermark: Timestamp?, in response: inout Response,
    into rows: inout PendingRows
  ) {
    let referenceIndex = membership.indexes.first
    for place in quoteBatch.quotes.indices {
      let index = index(of: quoteBatch.quotes[place].quote.symbol, expected: membership, at: place)
      rowMatching.place(place, at: index, in: quoteBatch)
    }
    quoteBatch.quotes.withUnsafeBufferPointer { quotes in
      for place in quotes.indices {
        let index = rowMatching.indexes[place]
        if let fault = rowMatching.duplicateFault(place) {
          rows.reject(quotes[place].refused(.duplicate, detail: fault), in: &response)
          continue
        }
        rowMatching.markAnswered(index)
        guard rowMatching.wasAsked(for: index) else {
          rows.reject(
            quotes[place].refused(.unrequested, detail: "the symbol was not requested"),
            in: &response)
          continue
        }
        // The reference symbol is in every group, to date it; only group 0 counts for the
        // instrument.
        if response.group != 0, index == referenceIndex { continue }
        observe(
          quotes, place, index: index, watermark: watermark ?? quotes[place].quote.at,
          in: &response, into: &rows)
      }
    }
  }

  /// The batch's rows, each named by its place: one is half a kilobyte, and a `let` would copy it.
  private typealias Rows = UnsafeBufferPointer<BatchQuote>

  private mutating func observe(
    _ quotes: Rows, _ place: Int, index: Int, watermark: Timestamp, in response: inout Response,
    into rows: inout PendingRows
  ) {
    let name = UnsafeRawBufferPointer(rebasing: response.body[quotes[place].name])
    let verdict = book.observe(
      quotes[place].quote, at: index, group: response.bookGroup, watermark: watermark,
      receivedAt: response.entry.receivedAt, hasRefreshStamp: response.hasRefreshStamps,
      isUnlimited: NameMarks.sayUnlimited(name))
    switch verdict {
    case .held(let reason, let detail), .rejected(let reason, let detail):
      if case .held = verdict { pending.touched.insert(index) }
      if reason == .outsideBand { rows.counters.ruleBreaches[.outsideBand, default: 0] += 1 }
      silence.refused(index, reason: reason, at: response.entry.receivedAt)
      rowMatching.withdraw(index)
      rows.reject(quotes[place].refused(reason, detail: detail), in: &response)
    case .accepted(let stateChanged):
      response.digest.accepted += 1
      silence.accepted(index, at: response.entry.receivedAt)
      rows.counters.snapshots += 1
      let line = UnsafeRawBufferPointer(rebasing: response.body[quotes[place].line])
      let known = response.hasRefreshStamps ? nil : lines.holds(line, at: index)
      let isRepetition =
        known ?? isLatest(place, index: index, hasRefreshStamp: response.hasRefreshStamps)
      if !isRepetition {
        rows.counters.changedSnapshots += 1
        noteBreaches(quotes, place, index: index, in: response, into: &rows)
        replaceLatest(index, by: quotes, place, line: line, in: &response)
      }
      if stateChanged || !isRepetition { pending.touched.insert(index) }
    }
  }

  @inline(__always)  // Called, it would get a copy of the pipeline and the answer.
  private func rawName(_ place: Int, in response: borrowing Response) -> RawName {
    RawName(
      bytes: UnsafeRawBufferPointer(rebasing: response.body[quoteBatch.quotes[place].name]),
      charset: quoteBatch.quotes[place].charset)
  }

  /// Mutating, so that it gets no copy of the pipeline. What a restart reads back says nothing of
  /// what is rounded, and a source that states no limits nothing of those. A refresh stamp counts
  /// only where the time alone changes what a line says: whether its instrument trades, and
  /// whether its day is over.
  @inline(never)
  private mutating func isLatest(_ place: Int, index: Int, hasRefreshStamp: Bool) -> Bool {
    guard var known = latest[index]?.quote else { return false }
    let (quote, closes) = (quoteBatch.quotes[place].quote, Int32(book.rules.hours.closes))
    known.rounding = quote.rounding
    if quote.limits == .unstated { known.limits = .unstated }
    if hasRefreshStamp, known.trading == quote.trading,
      (known.secondOfDay < closes) == (quote.secondOfDay < closes)
    {
      known.secondOfDay = quote.secondOfDay
    }
    return known == quote
  }

  private mutating func replaceLatest(
    _ index: Int, by quotes: Rows, _ place: Int, line: UnsafeRawBufferPointer,
    in response: inout Response
  ) {
    response.digest.changed += 1
    recordExRights(index, place: place, in: &response)
    // Sources spell names differently: another one names only what is new.
    let isFirst = isNew(index)
    let mayName = response.entry.source == source || isFirst
    if isFirst, isMainland { response.digest.newcomers.append(book.symbol(at: index)) }
    var limits = quotes[place].quote.limits
    // A source that states no limits does not contradict one that did on the same day.
    if case .unstated = limits {
      let day = quotes[place].quote.tradingDay
      limits = latest.withUnsafeBufferPointer { latest in
        latest[index]?.quote.tradingDay == day ? latest[index]?.quote.limits ?? limits : limits
      }
    }
    if !book.output.certificates.isEmpty { former[index] = latest[index] }
    if isFirst {
      latest[index] = LatestQuote(
        quote: quotes[place].quote, receivedAt: response.entry.receivedAt, source: serving.source)
    } else {
      latest[index]?.quote = quotes[place].quote
      latest[index]?.receivedAt = response.entry.receivedAt
      latest[index]?.source = serving.source
    }
    latest[index]?.quote.limits = limits
    lines.keep(line, at: index)
    if mayName, names.update(at: index, raw: rawName(place, in: response)) {
      pending.renamed.insert(index)
    }
  }

  /// Mutating, so that it gets no copy.
  mutating func isNew(_ index: Int) -> Bool { latest[index] == nil }

  /// The exchange adjusts the reference price of a day that trades without a dividend. Who did not
  /// see the close before can only suppose so. What was suspended closed where it stood.
  private mutating func recordExRights(_ index: Int, place: Int, in response: inout Response) {
    guard isMainland else { return }
    // Most rows are of the day known; a copy of either is half a kilobyte.
    let day = quoteBatch.quotes.withUnsafeBufferPointer { $0[place].quote.tradingDay }
    guard latest.withUnsafeBufferPointer({ $0[index]?.quote.tradingDay ?? day }) < day else {
      return
    }
    let today = quoteBatch.quotes[place].quote
    guard let known = latest[index]?.quote, known.tradingDay < today.tradingDay else { return }
    let close = known.last.isPositive ? known.last : known.previousClose
    guard close.isPositive, close != today.previousClose else { return }
    let isNextDay = known.tradingDay == book.calendar.previous(before: today.tradingDay)
    let closes = TradingHours.mainlandChina(on: known.tradingDay).closes
    let sawClose = isNextDay && known.at.shanghaiSecondOfDay >= closes
    response.exRights.add([known.symbol], isSupposed: !sawClose)
    // What the tables have decides: the close may have been recorded by other means.
    if isNextDay {
      response.exDays.append(FactorBatch.ExDay(symbol: known.symbol, day: today.tradingDay))
    }
  }

  /// The stamps in the last answer with quotes, by the symbols' places in its request.
  func stamps(of symbols: [Symbol]) -> [Timestamp?] {
    var stamps = [Timestamp?](repeating: nil, count: symbols.count)
    var next = 0
    for row in quoteBatch.quotes.indices {
      let symbol = quoteBatch.quotes[row].quote.symbol
      guard let place = symbols[next...].firstIndex(of: symbol) else { continue }
      stamps[place] = quoteBatch.quotes[row].quote.at
      next = place + 1
    }
    return stamps
  }

  private mutating func takeOverview(into rows: inout PendingRows) {
    for row in quoteBatch.overview {
      rowMatching.markAnswered(index(of: row.symbol))
      guard overview[row.symbol] != row else { continue }
      overview[row.symbol] = row
      rows.overview[row.symbol] = row
    }
  }

  /// Rows asked for that were absent or refused: silence of one instrument amid a living feed.
  private mutating func countMissing(
    _ membership: Membership, in response: inout Response, into rows: inout PendingRows
  ) {
    for (place, index) in membership.indexes.enumerated() where !rowMatching.isAnswered(index) {
      if place == 0, response.group != 0 { continue }
      response.digest.missing += 1
      rows.counters.missingRows += 1
      silence.missed(index, at: response.entry.receivedAt)
      miss(index)
    }
  }

  mutating func miss(_ index: Int) {
    if book.missed(index) { pending.touched.insert(index) }
  }
}

// MARK: - Refusals

/// Of a flood of bad rows in one response the first rows are kept; the counters have all.
private let rejectionsPerResponseMax = 100

extension PendingRows {
  mutating func reject(_ row: BatchRefusal, in response: inout QuoteStage.Response) {
    counters.rejectedRows[row.reason, default: 0] += 1
    response.digest.rejected += 1
    guard response.digest.rejected <= rejectionsPerResponseMax else { return }
    keep(
      Rejection(
        source: response.entry.source, receivedAt: response.entry.receivedAt, symbol: row.symbol,
        reason: row.reason, detail: row.detail, payload: Array(response.body[row.line])))
  }

  /// A row of a page of bars or of a list.
  mutating func reject(_ row: RefusedRow, in entry: JournalEntry) {
    counters.rejectedRows[row.reason, default: 0] += 1
    keep(
      Rejection(
        source: entry.source, receivedAt: entry.receivedAt, symbol: row.symbol,
        reason: row.reason, detail: row.detail, payload: row.payload))
  }

  /// - Parameter isBooked: whether it counts all the same.
  mutating func keep(_ rejection: Rejection, isBooked: Bool = false) {
    let isNew = isBooked ? breachesSeen.isNew(rejection) : rejectionsSeen.isNew(rejection)
    if isNew { commit.rejections.append(rejection) }
  }
}

extension BatchRefusal {
  fileprivate static func unknown(_ symbol: Symbol) -> BatchRefusal {
    BatchRefusal(
      symbol: symbol, reason: .unknownSymbol, detail: "the source does not know the symbol",
      line: 0..<0)
  }
}

/// A bad row is recorded once a day, not once a poll, and one that is bad in ever new ways only by
/// its first rows; the counters count them all. What a restart forgets here the store's unique key
/// still holds back.
struct RejectionMemory: Sendable {
  private var day: TradingDay?
  private var seen: Set<Key> = []
  private var rows: [Kind: Int] = [:]
  /// A feed that turns bad as a whole: the day's first rows show how.
  private static let rowsPerDayMax = 20_000
  private static let rowsPerKindMax = 20

  private struct Kind: Hashable {
    var symbol: Symbol?
    var reason: RejectionReason
  }

  /// A kilobyte a payload would be most of what a morning costs: a hash distinguishes them.
  struct Key: Hashable {
    private var kind: Kind
    private var payloadBytes: Int
    private var payloadHash: StableHash

    init(_ rejection: Rejection) {
      kind = Kind(symbol: rejection.symbol, reason: rejection.reason)
      payloadBytes = rejection.payload.count
      payloadHash = StableHash()
      payloadHash.combine(rejection.payload)
    }
  }

  mutating func isNew(_ rejection: Rejection) -> Bool {
    let today = rejection.receivedAt.shanghaiDay
    if day != today { self = RejectionMemory() }
    day = today
    let kind = Kind(symbol: rejection.symbol, reason: rejection.reason)
    guard seen.count < RejectionMemory.rowsPerDayMax,
      rows[kind, default: 0] < RejectionMemory.rowsPerKindMax,
      seen.insert(Key(rejection)).inserted
    else { return false }
    rows[kind, default: 0] += 1
    return true
  }
}
