import Candles
import Commits
import Feeds
import Journal
import Market

/// Lists of instruments: gathered until they are whole, judged as a whole, and kept as marks of the
/// instruments they name and miss.

/// The pages of a list, until all are there.
struct ListCollection: Sendable {
  let expected: Int
  var pages: [Int: InstrumentList] = [:]

  init(expected: Int) { self.expected = expected }

  /// All pages as one list, once they are complete.
  func whole(rowsPerPage: Int) -> InstrumentList? {
    let count = (expected + rowsPerPage - 1) / rowsPerPage
    guard count > 0, (1...count).allSatisfy({ pages[$0] != nil }) else { return nil }
    let ordered = pages.sorted { $0.key < $1.key }.map(\.value)
    return InstrumentList(
      listed: ordered.flatMap(\.rows), refused: ordered.flatMap(\.refused),
      dropped: ordered.flatMap(\.dropped))
  }

  /// Rows that were counted and did not come: a page that was cut short is none the less a page.
  func missing(from whole: InstrumentList) -> Int {
    max(expected - whole.rows.count - whole.refused.count, 0)
  }
}

extension Pipeline {
  mutating func apply(
    _ list: InstrumentList, of feedRequest: FeedRequest, in entry: JournalEntry,
    into found: inout [MarketEvent]
  ) {
    switch feedRequest.query {
    case .list(let part): offer(list, part: part, in: entry, into: &found)
    case .listPage(let part, let page):
      guard let whole = collect(list, page: page, of: part, in: feedRequest) else { return }
      offer(whole.list, part: part, missing: whole.missing, in: entry, into: &found)
    case .names: nameRecordedBars(list)
    default: break
    }
  }

  /// - Returns: the list, once this is the last of its pages that was missing.
  // Inlined where the list is not used it crashes the optimizer of Swift 6.3.1.
  @inline(never)
  private mutating func collect(
    _ page: InstrumentList, page number: Int, of part: ListPart, in feedRequest: FeedRequest
  ) -> (list: InstrumentList, missing: Int)? {
    collections[part]?.pages[number] = page
    guard let pageRows = feedRequest.definition.lists?.pageRows,
      let collection = collections[part],
      let whole = collection.whole(rowsPerPage: pageRows)
    else { return nil }
    collections[part] = nil
    return (whole, collection.missing(from: whole))
  }

  private mutating func offer(
    _ list: InstrumentList, part: ListPart, missing: Int = 0, in entry: JournalEntry,
    into found: inout [MarketEvent]
  ) {
    let verdict = universe.offer(
      list.rows, rejectedRows: list.refused.count + missing, part: part, at: entry.receivedAt)
    var row = ListVerdict(
      source: entry.source, part: part.name, decidedAt: entry.receivedAt, rows: list.rows.count,
      contentHash: list.contentHash, verdict: .accepted, detail: "")
    switch verdict {
    case .accepted(let change):
      row.detail = change.sentence
      apply(change, of: list, part: part, on: entry.receivedAt.shanghaiDay)
      found.append(.universe(universe))
    case .quarantined(let sentence):
      row.verdict = .quarantined
      row.detail = sentence
    }
    pending.commit.reference.lists.append(row)
    found.append(.listDecided(part, verdict))
  }

  private mutating func apply(
    _ change: UniverseChange, of list: InstrumentList, part: ListPart, on day: TradingDay
  ) {
    for code in change.reused {
      stages[0].forget(code)
      codes.end(code)
    }
    pending.commit.reference.reused += change.reused
    for instrument in change.added { pending.commit.instruments.append(row(of: instrument)) }
    for renamed in change.renamed {
      pending.commit.instruments.append(
        InstrumentRow(symbol: renamed.symbol, source: .live, name: renamed.now))
    }
    let missed = Set(change.vanished + change.delisted)
    for symbol in change.vanished + change.delisted + list.rows.map(\.symbol) {
      guard let member = universe.member(symbol) else { continue }
      pending.commit.reference.instrumentMarks.append(
        InstrumentMarks(
          symbol: symbol, source: .live, delistedAt: member.isDelisted ? day : nil,
          missedLists: Int16(member.missedLists),
          listedPart: missed.contains(symbol) ? member.part.name : part.name))
    }
  }

  func row(of instrument: ListedInstrument) -> InstrumentRow {
    let identity = Instrument.classify(instrument.symbol)
    return InstrumentRow(
      symbol: instrument.symbol, source: .live, exchange: instrument.exchange,
      kind: identity?.kind, board: identity?.board,
      name: instrument.name.isEmpty ? nil : instrument.name)
  }

  /// A list of the US market has ten thousand rows: only series that are recorded get their names.
  private mutating func nameRecordedBars(_ list: InstrumentList) {
    let names = Dictionary(
      list.rows.map { ($0.symbol, $0.name) }, uniquingKeysWith: { first, _ in first })
    for known in recorded.series.sorted(by: { $0.symbol < $1.symbol }) {
      guard let name = names[known.symbol], !name.isEmpty else { continue }
      var row = known
      row.name = name
      pending.commit.instruments.append(row)
    }
  }
}

extension InstrumentRow {
  /// One of which a source has bars alone.
  init(barsOf symbol: Symbol, from source: Source) {
    self.init(
      symbol: symbol, source: source,
      exchange: SourceRegistry.known(source)?.market.exchange, kind: .stock)
  }
}

extension UniverseChange {
  /// The sentence for people.
  fileprivate var sentence: String {
    let counts = [
      (added.count, "added"), (renamed.count, "renamed"), (vanished.count, "vanished"),
      (delisted.count, "delisted"), (relisted.count, "relisted"),
      (reused.count, "of another instrument"),
    ]
    let parts = counts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
    return parts.isEmpty ? "nothing changed" : parts.joined(separator: ", ")
  }
}

// MARK: - After a restart

extension Pipeline {
  /// Takes in what the stored state has passed of a list that may not have been whole: pages are no
  /// part of it, and the last one may follow.
  mutating func recall(_ entry: JournalEntry) {
    guard let feedRequest = entry.feedRequest else { return }
    switch (feedRequest.query, Pipeline.feedResponse(entry, calendar: calendar)) {
    case (.listCount(let part), .listCount(let count)):
      collections[part] = ListCollection(expected: count)
    case (.listPage(let part, let number), .list(let page)):
      _ = collect(page, page: number, of: part, in: feedRequest)
    default: break
    }
  }

  mutating func restore(_ stored: StoredState, limits: UniverseLimits) {
    universe = Universe(
      limits: limits, members: stored.instruments.compactMap(UniverseMember.init),
      accepted: stored.lists.compactMap(AcceptedList.init),
      renames: Dictionary(
        stored.links.filter { $0.stands && $0.link.joins }.map { ($0.link.from, $0.link.to) },
        uniquingKeysWith: { $1 }))
    let day = stored.knownAt?.shanghaiDay
    let newcomers = stored.instruments.filter {
      $0.row.source == .live && $0.firstSeen?.shanghaiDay == day
    }
    codes = CodeChanges(stored.links, newcomers: newcomers.map(\.row.symbol), on: day)
    for usage in stored.keyUsage { keyUsage[usage.label] = usage }
    for mark in stored.watermarks where mark.timeframe == .minute1 {
      recorded.through[mark.source, default: [:]][mark.chunk] = mark.through
    }
    for known in stored.instruments.map(\.row) where known.source.hasBarsAlone {
      recorded.series.insert(InstrumentRow(barsOf: known.symbol, from: known.source))
    }
    recorded.sessions = stored.sessions.filter { $0.exchange == .unitedStates && $0.trades }
    calendar = calendar.extended(byStored: stored.sessions)
  }
}

extension UniverseMember {
  /// nil for an instrument that no list named.
  fileprivate init?(_ stored: StoredInstrument) {
    guard let part = stored.marks.listedPart.flatMap({ ListPart(stored: $0) }),
      let exchange = stored.row.exchange
    else { return nil }
    self.init(
      instrument: ListedInstrument(
        symbol: stored.row.symbol, name: stored.row.name ?? "", exchange: exchange),
      part: part, missedLists: Int(stored.marks.missedLists))
  }
}

extension AcceptedList {
  fileprivate init?(_ stored: ListVerdict) {
    guard let part = ListPart(stored: stored.part) else { return nil }
    self.init(part: part, rows: stored.rows, at: stored.decidedAt)
  }
}

extension Universe {
  /// What is listed now and not among `known`, in order.
  func listedSymbols(beside known: [Symbol]) -> [Symbol] {
    let known = Set(known)
    return members.filter { !$0.isDelisted && !known.contains($0.instrument.symbol) }
      .map(\.instrument.symbol)
  }
}
