import Market
import Testing

@testable import ExchangeSimulator
@testable import Ledgers
@testable import TestExchange

@Suite struct FalseRowTests {
  /// A day polled at every publication, with false rows on one instrument in two.
  private struct Day {
    var market: SimulatedMarket
    let recorder: DayRecorder
    /// The lines served that are not the market's own, by symbol and moment.
    var strange: [(symbol: String, at: Int, line: WireLine, honest: WireLine)] = []

    init(seed: UInt64, rows: FalseRowPlan?, isSilent: (Int) -> Bool = { _ in false }) throws {
      market = try Fixture.market(seed, instruments: 60)
      recorder = DayRecorder(market, falseRows: rows)
      for second in stride(from: 32_401, through: 56_401, by: 3) where !isSilent(second) {
        market.advance(to: Timestamp(day: market.day, secondOfDay: second), watchedBy: recorder)
        try compare(recorder.serve(market.symbols, of: &market), at: second)
      }
      market.advance(to: Timestamp(day: market.day, secondOfDay: Grid.dayEnd), watchedBy: recorder)
    }

    private mutating func compare(_ body: [UInt8], at second: Int) throws {
      let honest = market.bodyOfAll()
      if body == honest { return }
      let lines = Dictionary(
        uniqueKeysWithValues: try WireLine.all(in: honest).map { line in
          let line = try #require(line)
          return (line.symbol, line)
        })
      for line in WireLine.all(in: body) {
        let line = try #require(line)
        let own = try #require(lines[line.symbol])
        if line.fields != own.fields { strange.append((line.symbol, second, line, own)) }
      }
    }
  }

  private func plan(_ seed: UInt64, _ kinds: [FalseRow.Kind] = FalseRow.Kind.allCases)
    -> FalseRowPlan
  {
    var plan = FalseRowPlan(seed: seed)
    plan.instrumentsPerMille = 500
    plan.kinds = kinds
    return plan
  }

  @Test(arguments: [1, 2] as [UInt64])
  func `each false row stands in one answer, with a stamp that is new`(_ seed: UInt64) throws {
    let day = try Day(seed: seed, rows: plan(seed))
    let rows = day.recorder.observableLedger().falseRows
    #expect(day.strange.count == rows.count, "seed \(seed)")
    #expect(Set(rows.map(\.kind)) == Set(FalseRow.Kind.allCases), "seed \(seed)")
    for (symbol, own) in Dictionary(grouping: rows, by: \.symbol) {
      #expect((1...20).contains(own.count))
      #expect(day.market.listing(of: symbol)?.kind != .index)
      let stamps = own.sorted { $0.servedAt < $1.servedAt }.map(\.stamp)
      #expect(zip(stamps, stamps.dropFirst()).allSatisfy { $0 < $1 }, "seed \(seed), \(symbol)")
      #expect(own.allSatisfy { $0.stamp <= $0.servedAt })
    }
    for (symbol, second, line, honest) in day.strange {
      let row = try #require(
        rows.first { "\($0.symbol)" == symbol && $0.servedAt.shanghaiSecondOfDay == second })
      try compare(line, honest, row.kind)
      #expect("\(row.stamp)".contains(line.text(31)))
    }
  }

  private func compare(_ line: WireLine, _ honest: WireLine, _ kind: FalseRow.Kind) throws {
    let factors: [Int: Int64]
    switch kind {
    case .totalsTripled, .duplicate: factors = [8: 3, 9: 3]
    case .totalsNinefold: factors = [8: 9, 9: 9]
    case .rowTenfold: factors = [1: 10, 3: 10, 4: 10, 5: 10, 8: 10, 9: 10]
    case .pricesTenfold: factors = [1: 10, 3: 10, 4: 10, 5: 10]
    case .pricesDoubled: factors = [1: 2, 3: 2, 4: 2, 5: 2]
    case .highFivefold: factors = [4: 5]
    case .lowFifth, .highWithinLimits: factors = [:]
    case .otherInstrument:
      #expect(line.text(2) != honest.text(2))
      return
    }
    for field in [2, 8, 9] + Array(factors.keys) {
      let expected = try honest.number(field) * ExactDecimal(factors[field] ?? 1)
      let found = try line.number(field)
      #expect(found == expected, "\(kind), field \(field)")
    }
    if kind == .lowFifth {
      let fourfold = try line.number(5) * ExactDecimal(4)
      #expect(try fourfold < honest.number(5))
    }
    if kind == .highWithinLimits { #expect(try line.number(4) > honest.number(4)) }
  }

  @Test func `a day without a plan has none`() throws {
    let day = try Day(seed: 3, rows: nil)
    #expect(day.strange.isEmpty && day.recorder.observableLedger().falseRows.isEmpty)
  }

  @Test func `three honest answers decide about a row that looked right`() throws {
    let day = try Day(seed: 4, rows: plan(4, [.totalsTripled, .highWithinLimits]))
    let rows = day.recorder.observableLedger().falseRows
    var corrected = 0
    for row in rows {
      guard case .corrected(let at) = row.fate else { continue }
      corrected += 1
      let wait = at.seconds - row.servedAt.seconds
      #expect(wait >= 9)
    }
    #expect(corrected > 50 && corrected * 10 > rows.count * 8, "\(corrected) of \(rows.count)")
  }

  @Test func `what the limits or the neighbours contradict is never booked`() throws {
    let day = try Day(
      seed: 5, rows: plan(5, [.pricesTenfold, .pricesDoubled, .lowFifth, .duplicate]))
    let rows = day.recorder.observableLedger().falseRows
    let limited = rows.filter { day.market.listing(of: $0.symbol)?.limitUp != nil }
    #expect(limited.count > 50 && limited.allSatisfy { $0.fate == .refused })
  }

  /// Before the open is told, the day has one price.
  @Test func `a false range in Shanghai's first row after the auction is never booked`() throws {
    let day = try Day(seed: 8, rows: plan(8, [.highWithinLimits]))
    let rows = day.recorder.observableLedger().falseRows
    var openless = 0
    for (symbol, second, line, _) in day.strange {
      let (open, high, low) = (try line.number(1), try line.number(4), try line.number(5))
      guard open.isZero, low < high else { continue }
      openless += 1
      let row = rows.first {
        "\($0.symbol)" == symbol && $0.servedAt.shanghaiSecondOfDay == second
      }
      #expect(row?.fate == .refused)
    }
    #expect(openless > 0)
  }

  @Test func `an outage hides a false row that came before it`() throws {
    let day = try Day(seed: 6, rows: plan(6, [.totalsNinefold])) { second in
      (36_000..<53_000).contains(second) && second % 300 > 9
    }
    let rows = day.recorder.observableLedger().falseRows
    #expect(rows.contains { $0.fate == .outage })
    #expect(rows.contains { if case .corrected = $0.fate { true } else { false } })
  }

  @Test func `the ledger of a day with false rows has the true totals, and none of theirs`() throws
  {
    let day = try Day(seed: 7, rows: plan(7))
    let clean = try Day(seed: 7, rows: nil)
    let (ledger, plain) = (day.recorder.observableLedger(), clean.recorder.observableLedger())
    let certificates = day.market.symbols.compactMap { ledger.certificate(of: $0) }
    #expect(day.recorder.trueLedger().differences(certificates: certificates) == [])
    #expect(certificates.allSatisfy { $0.isBalanced })
    // Only where a row that a false one replaced was a minute's last does a minute differ.
    var same = 0
    var all = 0
    for symbol in day.market.symbols {
      let candles = plain.candles(of: symbol)
      all += candles.count
      same += Set(candles).intersection(ledger.candles(of: symbol)).count
    }
    #expect(same < all && (all - same) * 20 < all, "\(same) of \(all)")
  }
}
