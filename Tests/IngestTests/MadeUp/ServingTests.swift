import Commits
import ExchangeSimulator
import Feeds
import Journal
import Market
import TestExchange
import TestSupport
import Testing

@testable import Ingest

/// Two sources in turn, one book: what the journal holds of either decides who serves.
@Suite struct `Sources that serve in turn` {
  /// Seconds of the day: the first source, the second, the first again.
  private static let stretches = [36_000, 36_120, 36_300, 36_420]
  private static let cadence = 3
  /// The second source's bodies, as they are and stamped when they are sent.
  private static let (own, refreshed) = (UInt16(9), UInt16(10))

  /// What both sources show; made once, for it takes longer than the tests.
  private struct Published: Sendable {
    let symbols: [Symbol]
    /// Both quote it.
    let stock: Symbol
    /// The second source does not quote it.
    let alone: Symbol
    let bodies: [Int: [UInt16: [UInt8]]]
  }

  private static let day = TradingDay(daysSince1970: 20_640)
  private static let published: Published = {
    var market = SimulatedMarket(seed: 11, day: day, instruments: 24)
    let stocks = market.listings.filter { $0.kind == .stock && $0.behaviour == .liquid }
    let alone = stocks.last?.symbol ?? market.symbols[20]
    let shown = market.symbols.filter { $0 != alone }
    var bodies: [Int: [UInt16: [UInt8]]] = [:]
    for second in stride(from: stretches[0], to: stretches[3], by: cadence) {
      market.advance(to: Timestamp(day: day, secondOfDay: second))
      for (group, members) in groups(market.symbols).enumerated() {
        bodies[second, default: [:]][UInt16(group)] = market.body(for: members)
      }
      let body = respelled(market.body(for: shown))
      bodies[second]?[own] = body
      bodies[second]?[refreshed] = body.restamped(at: second, shown)
    }
    return Published(
      symbols: market.symbols, stock: stocks.first?.symbol ?? market.symbols[19], alone: alone,
      bodies: bodies)
  }()

  private var day: TradingDay { Self.day }
  private var symbols: [Symbol] { Self.published.symbols }
  private var stock: Symbol { Self.published.stock }
  private var alone: Symbol { Self.published.alone }
  private var bodies: [Int: [UInt16: [UInt8]]] { Self.published.bodies }

  private func moment(_ second: Int) -> Timestamp { Timestamp(day: day, secondOfDay: second) }

  /// Two, each with the reference symbol.
  private static func groups(_ symbols: [Symbol]) -> [[Symbol]] {
    let middle = symbols.count / 2
    return [Array(symbols[..<middle]), [symbols[0]] + symbols[middle...]]
  }

  /// The second source writes a letter before each name.
  private static func respelled(_ body: [UInt8]) -> [UInt8] {
    var (respelled, previous): ([UInt8], UInt8) = ([], 0)
    respelled.reserveCapacity(body.count * 2)
    for byte in body {
      respelled.append(byte)
      if previous == UInt8(ascii: "="), byte == UInt8(ascii: "\"") {
        respelled.append(UInt8(ascii: "Q"))
      }
      previous = byte
    }
    return respelled
  }

  private func entry(
    _ second: Int, from source: Source, group: UInt16, members: [Symbol], body: UInt16,
    askedAt: Int? = nil
  ) -> JournalEntry {
    .quotes(
      group: group, symbols: Array(members.map(\.description).joined(separator: ",").utf8),
      from: source, requestedAt: moment(askedAt ?? second), receivedAt: moment(second),
      body: bodies[second]?[body] ?? [])
  }

  private func first(_ second: Int) -> [JournalEntry] {
    Self.groups(symbols).enumerated().map { group, members in
      entry(second, from: .live, group: UInt16(group), members: members, body: UInt16(group))
    }
  }

  /// All in one request, which has the number of one of the first source's.
  private func second(
    _ second: Int, group: UInt16 = 0, body: UInt16 = own
  ) -> JournalEntry {
    entry(
      second, from: Second.source, group: group, members: symbols.filter { $0 != alone },
      body: body)
  }

  private func inTurn(body: UInt16 = own) -> [JournalEntry] {
    bodies.keys.sorted().flatMap { time in
      (Self.stretches[1]..<Self.stretches[2]).contains(time)
        ? [second(time, body: body)] : first(time)
    }
  }

  private func run(
    _ entries: [JournalEntry], cuts: Set<Int> = [], finish: (Pipeline) -> Void = { _ in }
  ) throws -> Tables {
    var (tables, pipeline) = (Tables(), Pipeline())
    var (next, cutsLeft) = (0, cuts)
    while next < entries.count {
      if cutsLeft.remove(next) != nil {
        pipeline = try Pipeline(stored: tables.stored)
        next = Int(tables.position.sequence)
      }
      pipeline.process(entries[next], at: JournalPosition(Int64(next + 1)))
      next += 1
      if let commit = pipeline.takeCommit() { tables.take(commit) }
    }
    finish(pipeline)
    return tables
  }

  @Test func `each change is a row, with the receive time of the first answer`() async throws {
    try await Second.registered {
      #expect(SourceRegistry.liveSeries == [.live])
      let tables = try run(inTurn())
      #expect(
        tables.serving == [
          ServingRow(
            series: .live, since: moment(Self.stretches[1]), source: Second.source),
          ServingRow(series: .live, since: moment(Self.stretches[2]), source: .live),
        ])
      #expect(try run(bodies.keys.sorted().flatMap(first)).serving.isEmpty)
    }
  }

  @Test func `what both quote has the candles of one source that never failed`() async throws {
    try await Second.registered {
      let tables = try run(inTurn())
      let whole = try run(bodies.keys.sorted().flatMap(first))
      #expect(whole.candles.count > 100)
      for symbol in symbols where symbol != alone {
        #expect(tables.candles(of: symbol) == whole.candles(of: symbol), "\(symbol)")
      }
      let late = { (gap: Gap) in gap.cause == .outage }
      #expect(tables.gaps.filter(late).allSatisfy { $0.symbol == alone })
    }
  }

  @Test func `another source does not rename what has a name`() async throws {
    try await Second.registered {
      let names = try run(inTurn()).names
      #expect(names.count == symbols.count)
      #expect(try names == run(bodies.keys.sorted().flatMap(first)).names)
      let others = try run(bodies.keys.sorted().map { second($0) }).names
      #expect(others.values.allSatisfy { $0.hasPrefix("Q") } && !others.isEmpty)
    }
  }

  @Test func `what the second source does not quote is a gap, and no flat candle`() async throws {
    try await Second.registered {
      let tables = try run(inTurn())
      let gap = try #require(tables.gaps.first { $0.symbol == alone && $0.cause == .outage })
      #expect(gap.from == moment(Self.stretches[1] - Self.cadence))
      #expect(gap.to == moment(Self.stretches[2]))
      let inside = tables.candles(of: alone).filter {
        $0.openedAt >= moment(Self.stretches[1] + 60) && $0.closedAt < moment(Self.stretches[2])
      }
      #expect(inside.isEmpty)
    }
  }

  @Test func `request groups of two sources are two in the book`() async throws {
    try await Second.registered {
      _ = try run(inTurn()) { pipeline in
        #expect(pipeline.stages[0].memberships.keys.sorted() == [0, 1, 131_072])
        #expect(pipeline.stages[0].memberships[0]?.indexes.count == 12)
        #expect(pipeline.stages[0].memberships[131_072]?.indexes.count == 23)
      }
    }
  }

  @Test func `the answer to a probe says how the source does, and is not booked`() async throws {
    try await Second.registered {
      let entries = bodies.keys.sorted().flatMap(first)
      let probed = entries.flatMap { entry in
        [entry, second(entry.receivedAt.shanghaiSecondOfDay, group: QuotesQuery.probeGroup)]
      }
      let tables = try run(entries)
      #expect(try run(probed).differences(from: tables) == [])
      var pipeline = Pipeline()
      let digest = pipeline.process(
        second(36_000, group: QuotesQuery.probeGroup), at: JournalPosition(1))
      guard case .quotes(.ok) = digest.response else {
        Issue.record("the answer is sound")
        return
      }
      #expect(digest.newestAt != nil && digest.accepted == 0 && digest.missing == 0)
      #expect(pipeline.takeCommit() == nil)
    }
  }

  @Test func `an answer asked for before the change does not undo it`() async throws {
    try await Second.registered {
      let change = Self.stretches[1]
      var entries = inTurn()
      let place = try #require(entries.firstIndex { $0.source == Second.source })
      entries.insert(
        entry(
          change, from: .live, group: 0, members: Self.groups(symbols)[0], body: 0,
          askedAt: change - 2),
        at: place + 1)
      let (late, inTurn) = (try run(entries), try run(inTurn()))
      #expect(late.serving == inTurn.serving)
    }
  }

  /// What a market without a trade shows, at each of `seconds` of the day; no minute ends there.
  private func rows(
    _ seconds: [Int], edit: (inout QuoteLine) -> Void = { _ in }
  ) -> [[Symbol]] {
    let members = symbols.filter { $0 != alone }
    var body = bodies[Self.stretches[1]]?[Self.own] ?? []
    var pipeline = Pipeline()
    return seconds.enumerated().map { place, time in
      body = body.restamped(at: time, members)
      if place == seconds.count - 1 { body.editLine(of: stock, edit) }
      pipeline.process(
        .quotes(
          group: 0, symbols: Array(members.map(\.description).joined(separator: ",").utf8),
          from: Second.source, requestedAt: moment(time), receivedAt: moment(time), body: body),
        at: JournalPosition(Int64(place + 1)))
      return pipeline.takeCommit()?.quotes.map(\.quote.symbol) ?? []
    }
  }

  @Test func `a line with nothing new but its refresh stamp is not written`() async throws {
    let all = symbols.filter { $0 != alone }
    try await Second.registered(hasRefreshStamps: true) {
      #expect(rows([36_033, 36_036, 36_039]).map(\.count) == [all.count, 0, 0])
      #expect(rows([36_033, 36_036]) { $0.fields[10] = "123400" }.last == [stock])
    }
    try await Second.registered {
      #expect(rows([36_033, 36_036]).map(\.count) == [all.count, all.count])
    }
  }

  @Test func `a refresh stamp is written where its time means something else`() async throws {
    try await Second.registered(hasRefreshStamps: true) {
      // Before the auction, in it, after it.
      let early = rows([33_000, 33_033, 33_333, 33_336, 34_000, 34_003])
      #expect(early.map(\.isEmpty) == [false, true, false, true, false, true])
      // The day is over.
      #expect(rows([53_800, 55_833, 55_836]).map(\.isEmpty) == [false, false, true])
    }
  }

  @Test(arguments: [own, refreshed])
  func `a restart anywhere does not show`(_ body: UInt16) async throws {
    try await Second.registered(hasRefreshStamps: body == Self.refreshed) {
      let entries = inTurn(body: body)
      let whole = try run(entries)
      let seed = UInt64.random(in: .min ... .max)
      var random = SplitMix(seed: seed)
      for (place, entry) in entries.enumerated() where place > 0 {
        let isChange = entry.source != entries[place - 1].source
        guard isChange || Int.random(in: 0..<20, using: &random) == 0 else { continue }
        // Before the first answer of a source, behind it, and at random.
        for cut in [place, place + 1] {
          #expect(
            try run(entries, cuts: [cut]).differences(from: whole) == [],
            "cut \(cut), seed \(seed)")
        }
      }
      let cuts = Set(entries.indices)
      #expect(try run(entries, cuts: cuts.subtracting([0])).differences(from: whole) == [])
    }
  }
}
