import Commits
import Feeds
import Journal
import Market
import Polling
import TestSupport
import Testing

@testable import Ingest

/// The night in which codes change, read from lists and rows.
@Suite struct `Codes that change` {
  private static let eve = TradingDay("2025-09-30")
  private static let day = TradingDay("2025-10-09")

  /// A pipeline, and what it is fed: lists of Beijing, and rows.
  private struct Night {
    var pipeline = Pipeline()
    var position: Int64 = 0
    var commits: [Commit] = []

    static func symbols(_ first: Int, _ count: Int) throws -> [Symbol] {
      try (0..<count).map { try #require(Symbol("bj\(first + $0)")) }
    }

    mutating func take(_ entry: JournalEntry) -> Digest {
      position += 1
      let digest = pipeline.process(entry, at: JournalPosition(position))
      if let commit = pipeline.takeCommit() { commits.append(commit) }
      return digest
    }

    mutating func list(
      _ symbols: [Symbol], named name: (Int) -> String = { "Firma\($0)" }, at moment: Timestamp
    ) -> Digest {
      let rows = symbols.enumerated().map { place, symbol in
        #"{"dm":"\#(symbol.description.dropFirst(2)).BJ","mc":"\#(name(place))","jys":"BJ"}"#
      }
      return take(
        .response(
          to: FeedRequest(.list(MairuiBoard.bj.part), to: .mairui), requestedAt: moment,
          receivedAt: moment, status: 200, body: Array("[\(rows.joined(separator: ","))]".utf8)))
    }

    /// - Parameter close: what the row has for the previous close of the one of that number.
    mutating func quote(
      _ symbols: [Symbol], on day: TradingDay, named name: (Int) -> String = { "Firma\($0)" },
      close: ((Int) -> Int64)? = nil, isKnown: Bool = true
    ) -> Digest {
      var sweep = SinaSweep(seed: 3)
      sweep.date = "\(day)"
      var body: [UInt8] = []
      for (place, symbol) in symbols.enumerated() {
        var row = sweep.row(index: place)
        row.symbol = symbol.description
        row.name = Array(name(place).utf8)
        row.time = "10:00:00"
        if let close {
          row.previousClose = close(place)
          row.last = close(place)
          (row.open, row.high, row.low) = (row.last, row.last, row.last)
          row.turnover = row.last * row.volume
        }
        body += isKnown ? SinaSweep.line(row) : Array("var hq_str_\(symbol)=\"\";\n".utf8)
      }
      let moment = Timestamp(day: day, secondOfDay: 10 * 3_600 + 1)
      return take(
        .response(
          to: FeedRequest(.quotes(QuotesQuery(symbols: symbols, askedAt: moment)), to: .sina),
          requestedAt: moment, receivedAt: moment, status: 200, body: body))
    }

    /// The last price of the row of that number, in thousandths.
    static func close(_ place: Int) -> Int64 {
      var sweep = SinaSweep(seed: 3)
      var row = sweep.row(index: 0)
      for index in 0..<place { row = sweep.row(index: index + 1) }
      return row.last
    }

    var links: [InstrumentLink] { commits.flatMap(\.reference.links) }
    var events: [FeedEvent] { commits.flatMap(\.events) }
  }

  private func moment(_ day: TradingDay, _ hour: Int, _ minute: Int) -> Timestamp {
    Timestamp(day: day, secondOfDay: hour * 3_600 + minute * 60)
  }

  /// The old codes were recorded on the eve, and the list of the morning has the new ones.
  private func morning(
    of count: Int, listed: ((Int) -> String)? = nil
  ) throws -> (night: Night, old: [Symbol], new: [Symbol]) {
    let (eve, day) = (try #require(Self.eve), try #require(Self.day))
    let (old, new) = (try Night.symbols(833_000, count), try Night.symbols(920_000, count))
    var night = Night()
    _ = night.list(old, at: moment(eve, 8, 30))
    #expect(night.quote(old, on: eve).accepted == count)
    let unknown = night.quote(old, on: day, isKnown: false)
    #expect(unknown.found.contains { if case .unknownSymbols = $0 { true } else { false } })
    _ = night.list(new, named: listed ?? { "Firma\($0)" }, at: moment(day, 9, 15))
    return (night, old, new)
  }

  @Test func `242 codes that change in a night are one event, and none is delisted`() throws {
    let day = try #require(Self.day)
    let (start, old, new) = try morning(of: 242)
    var night = start
    // Both are requested until rows prove it.
    #expect(Set(night.pipeline.universe.listedSymbols(beside: [])) == Set(old + new))
    let closes = (0..<242).map(Night.close)
    let digest = night.quote(new, on: day, close: { closes[$0] })
    #expect(digest.accepted == 242)
    #expect(night.links.map(\.from) == old && night.links.map(\.to) == new)
    #expect(night.links.allSatisfy { $0.verdict == .proven && $0.kind == .rename && $0.day == day })
    let changes = night.events.filter { if case .codesChanged = $0 { true } else { false } }
    #expect(changes == [.codesChanged(day: day, count: 242)])
    #expect(night.pipeline.universe.listedSymbols(beside: []) == new)
    #expect(night.pipeline.counters.links.found == [.proven: 242])
    let before = night.commits.count
    for later in 1...4 {
      _ = night.list(new, at: moment(day.advanced(by: later), 16, 40))
    }
    let marks = night.commits[before...].flatMap(\.reference.instrumentMarks)
    #expect(marks.allSatisfy { $0.delistedAt == nil && !old.contains($0.symbol) })
    #expect(night.pipeline.universe.missing.isEmpty)
  }

  @Test func `the same name at another price, and the same price, are only suspected`() throws {
    let day = try #require(Self.day)
    let (start, old, new) = try morning(of: 2, listed: { $0 == 0 ? "Firma0" : "Anders" })
    var night = start
    _ = night.quote(
      new, on: day, named: { $0 == 0 ? "Firma0" : "Anders" },
      close: { $0 == 0 ? Night.close(0) + 10 : Night.close(1) })
    #expect(Set(night.links.map(\.verdict)) == [.suspected])
    #expect(
      night.links.map { [$0.from, $0.to] }.sorted { $0[0] < $1[0] }
        == [[old[0], new[0]], [old[1], new[1]]])
    #expect(night.pipeline.counters.links.suspected == 2)
    #expect(night.pipeline.codes.suspected(on: day.advanced(by: 30)).isEmpty)
    #expect(night.events.allSatisfy { if case .codesChanged = $0 { false } else { true } })
    #expect(night.pipeline.universe.member(old[0])?.missedLists == 1)
    // It is said once.
    _ = night.list(new, named: { $0 == 0 ? "Firma0" : "Anders" }, at: moment(day, 16, 40))
    #expect(night.links.count == 2)
  }

  @Test func `what is declared ahead is requested from its first day`() throws {
    let (eve, day) = (try #require(Self.eve), try #require(Self.day))
    let (old, new) = (try Night.symbols(833_000, 3), try Night.symbols(920_000, 3))
    var night = Night()
    night.pipeline.declare(
      zip(old, new).map {
        InstrumentLink(from: $0, to: $1, day: day, verdict: .declared, source: "the exchange")
      })
    _ = night.list(old, at: moment(eve, 8, 30))
    _ = night.quote(old, on: eve)
    #expect(night.links.isEmpty)
    _ = night.take(
      JournalEntry(
        kind: .timer, source: .sina, key: "timer", requestedAt: moment(day, 8, 0),
        receivedAt: moment(day, 8, 0), status: 0, request: [], body: []))
    #expect(night.links.count == 3)
    #expect(night.pipeline.universe.listedSymbols(beside: []) == new)
    // A list that still has the old codes brings none back.
    _ = night.list(old, at: moment(day, 8, 30))
    #expect(night.pipeline.universe.listedSymbols(beside: []) == new)
    let configuration = QuotesConfiguration(
      source: .sina,
      poller: PollerConfiguration(referenceSymbol: try #require(Symbol("sh000001")), seed: 1),
      schedule: PollSchedule(seed: 1) { _ in true }, symbols: old)
    #expect(configuration.symbols(following: night.pipeline.universe) == new)
  }

  @Test func `a change is found over a restart between the new code's row and the list`() throws {
    let (eve, day) = (try #require(Self.eve), try #require(Self.day))
    let (old, new) = (try Night.symbols(833_000, 2), try Night.symbols(920_000, 2))
    var night = Night()
    _ = night.list(old, at: moment(eve, 8, 30))
    _ = night.quote(old, on: eve)
    // The list of the morning has both.
    _ = night.list(
      old + new, named: { "Firma\($0 % 2)" }, at: moment(day, 8, 30))
    _ = night.quote(new, on: day, close: Night.close)
    #expect(night.links.isEmpty)
    var stored = StoredState(
      position: JournalPosition(night.position), knownAt: moment(day, 10, 1), bookState: [],
      quotes: [], epoch: 1, lastSeq: 1)
    stored.instruments = (old + new).map { symbol in
      StoredInstrument(
        row: InstrumentRow(symbol: symbol, source: .live, exchange: .beijing),
        marks: InstrumentMarks(
          symbol: symbol, source: .live, missedLists: 0, listedPart: MairuiBoard.bj.part.name),
        firstSeen: moment(old.contains(symbol) ? eve : day, 8, 30))
    }
    night.pipeline.restore(stored, limits: night.pipeline.universe.limits)
    _ = night.list(new, at: moment(day, 16, 40))
    #expect(night.links.map(\.from) == old && night.links.map(\.to) == new)
    #expect(night.links.allSatisfy { $0.verdict == .proven })
  }

  @Test func `a link that was ended is not found again`() throws {
    let day = try #require(Self.day)
    let (start, old, new) = try morning(of: 1)
    var night = start
    let link = InstrumentLink(from: old[0], to: new[0], day: day, verdict: .proven, source: "rows")
    night.pipeline.codes = CodeChanges([StoredLink(link: link, stands: false)])
    night.pipeline.declare([link])
    _ = night.quote(new, on: day, close: { _ in Night.close(0) })
    #expect(night.links.isEmpty)
    #expect(Set(night.pipeline.universe.listedSymbols(beside: [])) == Set(old + new))
  }

  @Test func `a code that another instrument has stays, whatever was declared of the one before`()
    throws
  {
    let (eve, day) = (try #require(Self.eve), try #require(Self.day))
    let (old, new) = (try Night.symbols(833_000, 3), try Night.symbols(920_000, 1))
    var night = Night()
    func declare(on day: TradingDay) {
      night.pipeline.declare([
        InstrumentLink(from: old[0], to: new[0], day: day, verdict: .declared, source: "a file")
      ])
    }
    declare(on: day)
    _ = night.list(old, at: moment(eve, 8, 30))
    _ = night.quote(old, on: eve)
    _ = night.list(old, at: moment(day, 8, 30))
    #expect(night.pipeline.universe.listedSymbols(beside: old) == new)
    let next = day.advanced(by: 1)
    _ = night.list(old, named: { $0 == 0 ? "Anders" : "Firma\($0)" }, at: moment(next, 8, 30))
    #expect(night.commits.flatMap(\.reference.reused) == [old[0]])
    declare(on: next)
    _ = night.list(old, named: { $0 == 0 ? "Anders" : "Firma\($0)" }, at: moment(next, 16, 40))
    #expect(night.links.count == 1)
    #expect(night.pipeline.universe.member(old[0])?.instrument.name == "Anders")
  }

  @Test func `a code that comes back under another name is another instrument's`() throws {
    let eve = try #require(Self.eve)
    let symbols = try Night.symbols(833_000, 100)
    var night = Night()
    _ = night.list(symbols, at: moment(eve, 8, 30))
    _ = night.quote(symbols, on: eve)
    for later in 1...3 {
      _ = night.list(Array(symbols.dropLast()), at: moment(eve.advanced(by: later), 16, 40))
    }
    _ = night.list(
      symbols, named: { $0 == 99 ? "Anders" : "Firma\($0)" },
      at: moment(eve.advanced(by: 4), 16, 40))
    #expect(night.commits.flatMap(\.reference.reused) == [symbols[99]])
    #expect(night.pipeline.snapshot(of: symbols[99]) == nil)
    #expect(night.pipeline.snapshot(of: symbols[98]) != nil)
    // It came before the list: the same line is its first all the same.
    _ = night.quote(symbols, on: eve)
    #expect(night.pipeline.snapshot(of: symbols[99]) != nil)
  }

  @Test func `a prefix that no table knows is recorded without a board`() throws {
    let eve = try #require(Self.eve)
    let symbols = try Night.symbols(990_000, 2)
    var night = Night()
    _ = night.list(symbols, at: moment(eve, 8, 30))
    #expect(Instrument.classify(symbols[0]) == nil)
    #expect(SourceRegistry.quotes(of: .sina).isRequestable(symbols[0]))
    #expect(night.quote(symbols, on: eve).accepted == 2)
    let rows = night.commits.flatMap(\.instruments).filter { symbols.contains($0.symbol) }
    #expect(!rows.isEmpty && rows.allSatisfy { $0.board == nil && $0.kind == nil })
  }
}
