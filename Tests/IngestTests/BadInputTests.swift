import ExchangeSimulator
import Ingest
import Market
import TestExchange
import TestSupport
import Testing
import Trials

/// One test for each class of bad input, on the simulator's own lines: the bad row is refused for
/// its reason, and nothing else of the day is any different.
@Suite struct BadInputTests {
  /// An instrument that trades all day, in a batch of its own with some neighbours.
  private let victim: Symbol
  private static let window = 34_320..<34_380
  private let clean: Recording

  init() {
    clean = Recording(Self.plan)
    victim = clean.busiest
  }

  private static var plan: MemoryDay.Plan {
    var plan = Recording.plan(seed: 7)
    plan.instruments = 24
    plan.start = 9 * 3600 + 29 * 60
    plan.end = 9 * 3600 + 35 * 60
    plan.cadenceSeconds = 3
    return plan
  }

  /// The same stretch of the day, with `damage` to the victim's line while the window is open.
  private func damaged(
    _ window: Range<Int> = BadInputTests.window, _ damage: @escaping (inout QuoteLine, Int) -> Void
  ) -> Recording {
    var plan = BadInputTests.plan
    let victim = victim
    plan.damage = { body, second, _ in
      guard window.contains(second) else { return }
      body.editLine(of: victim) { line in damage(&line, second) }
    }
    return Recording(plan)
  }

  /// The victim's rows were refused for `reason`, its neighbours have exactly the candles they
  /// have without the fault, and the victim the same where it was not struck.
  private func expect(
    _ recording: Recording, refuses reason: RejectionReason,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let clean = clean.tables
    let rejections = recording.tables.rejections(of: victim)
    #expect(!rejections.isEmpty, sourceLocation: sourceLocation)
    #expect(Set(rejections.map(\.reason)) == [reason], sourceLocation: sourceLocation)
    let counted = recording.pipeline.counters.rejectedRows[reason, default: 0]
    #expect(counted >= rejections.count, sourceLocation: sourceLocation)
    let others = { (tables: Tables) in tables.candles.filter { $0.key.symbol != victim } }
    #expect(others(recording.tables) == others(clean), sourceLocation: sourceLocation)
    #expect(
      recording.tables.gaps.filter { $0.symbol != victim }
        == clean.gaps.filter { $0.symbol != victim },
      sourceLocation: sourceLocation)
    expectConserved(recording, sourceLocation: sourceLocation)
  }

  /// Nothing was lost of the victim: the last totals are those of the clean run, and its minutes
  /// and gaps sum up to the same.
  private func expectConserved(_ recording: Recording, sourceLocation: SourceLocation) {
    let clean = clean.tables
    #expect(
      recording.tables.volume(of: victim) == clean.volume(of: victim),
      sourceLocation: sourceLocation)
    #expect(
      recording.tables.quotes[victim]?.quote == clean.quotes[victim]?.quote,
      sourceLocation: sourceLocation)
    #expect(recording.tables.candlesTwice.isEmpty, sourceLocation: sourceLocation)
  }

  @Test func `a line of noise is malformed`() {
    let recording = damaged { line, second in
      line.fields = ["\u{1}garbage \(second)"]
    }
    expect(recording, refuses: .malformed)
  }

  @Test func `a name in another charset costs nothing`() {
    let recording = damaged { line, _ in line.fields[0] = "浦发银行" }
    #expect(recording.tables.candles == clean.tables.candles)
    #expect(recording.tables.rejections.isEmpty)
  }

  @Test func `NaN is no number`() {
    expect(damaged { line, _ in line.fields[3] = "NaN" }, refuses: .notANumber)
  }

  @Test func `a negative price is refused`() {
    expect(damaged { line, _ in line.fields[3] = "-1.000" }, refuses: .negative)
  }

  @Test func `a high below the low is inconsistent`() {
    let recording = damaged { line, _ in
      line.fields[4] = "1.000"
      line.fields[5] = "2.000"
    }
    expect(recording, refuses: .inconsistent)
  }

  @Test func `prices a thousand times too large are implausible`() {
    let recording = damaged { line, _ in
      for field in [1, 3, 4, 5] { line.scale(field, by: "000") }
      line.scale(9, by: "000")
    }
    #expect(
      Set(recording.tables.rejections(of: victim).map(\.reason))
        .isSubset(of: [.implausible, .inconsistent]))
    expectConserved(recording, sourceLocation: #_sourceLocation)
  }

  @Test func `a volume a thousand times too large is inconsistent with its turnover`() {
    expect(damaged { line, _ in line.fields[8] += "000" }, refuses: .inconsistent)
  }

  @Test func `a stamp from the future is refused and dates nothing`() {
    let recording = damaged { line, second in line.stamp(second + 3600) }
    expect(recording, refuses: .futureStamp)
  }

  @Test func `a stamp that goes backwards is refused`() {
    expect(damaged { line, _ in line.fields[31] = "09:00:03" }, refuses: .lagging)
  }

  @Test func `an unknown symbol is reported once`() {
    let recording = damaged { line, _ in line.fields = [] }
    expect(recording, refuses: .unknownSymbol)
    #expect(recording.tables.rejections.count == 1)
    #expect(recording.pipeline.counters.rejectedRows[.unknownSymbol, default: 0] > 10)
  }

  @Test func `of a row that comes twice the first counts`() {
    let recording = damaged { line, _ in line.copies = 2 }
    expect(recording, refuses: .duplicate)
    #expect(recording.tables.candles == clean.tables.candles)
  }

  @Test func `a row that is absent is counted and recorded nowhere`() {
    let recording = damaged { line, _ in line.copies = 0 }
    let absent = recording.pipeline.counters.missingRows
    #expect(absent > clean.pipeline.counters.missingRows + 10)
    #expect(recording.tables.rejections.isEmpty)
    expectConserved(recording, sourceLocation: #_sourceLocation)
  }

  @Test func `a line nobody asked for is refused`() {
    var plan = BadInputTests.plan
    let victim = victim
    plan.damage = { body, second, _ in
      guard BadInputTests.window.contains(second) else { return }
      body.editLine(of: victim) { line in line.alsoAs = "sh601999" }
    }
    let recording = Recording(plan)
    let unknownSymbol = Symbol(bytes: Array("sh601999".utf8))
    #expect(recording.tables.rejections.values.allSatisfy { $0.reason == .unrequested })
    #expect(recording.tables.rejections.values.contains { $0.symbol == unknownSymbol })
    #expect(recording.tables.candles == clean.tables.candles)
    #expect(unknownSymbol.map { recording.tables.candles(of: $0).isEmpty } == true)
  }

  @Test func `a date without trading is refused`() {
    // Its first rows: later ones would be told apart by their date going backwards.
    let recording = damaged(0..<(9 * 3600 + 29 * 60 + 4)) { line, _ in
      line.fields[30] = "2026-07-05"
    }
    expect(recording, refuses: .notATradingDay)
  }

  @Test func `a row that stays bad is recorded once and counted each time`() {
    let frozen = "var nothing"
    let recording = damaged { line, _ in line.fields = [frozen] }
    #expect(recording.tables.rejections(of: victim).count == 1)
    #expect(recording.pipeline.counters.rejectedRows[.malformed, default: 0] > 15)
  }

  @Test func `a row that is bad in ever new ways is recorded by its first rows only`() {
    let recording = damaged(0..<86_400) { line, second in line.fields = ["noise \(second)"] }
    let recorded = recording.tables.rejections(of: victim).count
    #expect(recorded > 5 && recorded <= 20)
    #expect(recording.pipeline.counters.rejectedRows[.malformed, default: 0] > recorded)
  }

  @Test func `an answer cut off at any byte keeps the rows before the cut`() {
    var market = SimulatedMarket(
      seed: 7, day: BadInputTests.plan.day, instruments: 6)
    let now = Timestamp(day: market.day, secondOfDay: 36_000)
    market.advance(to: now)
    let whole = market.body(for: market.symbols)
    for length in 0..<whole.count {
      let prefix = Array(whole.prefix(length))
      var pipeline = Pipeline()
      let digest = pipeline.process(
        .response(asking: market.symbols, body: prefix, at: now), at: JournalPosition(1))
      let lines = prefix.split(separator: UInt8(ascii: "\n")).count
      #expect(digest.accepted + digest.rejected <= lines)
      #expect(digest.accepted >= prefix.count { $0 == UInt8(ascii: "\n") } - 0, "cut at \(length)")
    }
  }
}
