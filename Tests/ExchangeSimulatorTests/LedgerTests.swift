import Market
import TestExchange
import Testing

@testable import ExchangeSimulator
@testable import Ledgers
@testable import TestExchange

@Suite struct LedgerTests {
  /// A day polled at every publication from 09:00 to 15:40, except where `isSilent`.
  private func day(
    seed: UInt64, instruments: Int = 45, stamps: SimulatedMarket.Stamps = .own,
    isSilent: (Int) -> Bool = { _ in false }
  ) throws -> (recorder: DayRecorder, market: SimulatedMarket) {
    var market = try Fixture.market(seed, instruments: instruments, stamps: stamps)
    let recorder = DayRecorder(market)
    for second in stride(from: 32_400, through: 56_400, by: 3) {
      market.advance(to: Timestamp(day: market.day, secondOfDay: second), watchedBy: recorder)
      if !isSilent(second) { recorder.observedAll(of: market) }
    }
    return (recorder, market)
  }

  @Test(arguments: 1...3 as ClosedRange<UInt64>)
  func `the minutes of the truth add up to the exchange's day`(_ seed: UInt64) throws {
    let (recorder, market) = try day(seed: seed)
    let truth = recorder.trueLedger()
    for (place, symbol) in market.symbols.enumerated() {
      let totals = try #require(truth.totals(of: symbol))
      #expect(totals.volume == ExactDecimal(market.states[place].volume), "seed \(seed)")
      #expect(totals.turnover == ExactDecimal(units: market.states[place].turnover, scale: 3))
    }
  }

  @Test(arguments: 1...3 as ClosedRange<UInt64>)
  func `seen at every publication of the minute's grid, what is observable is the truth`(
    _ seed: UInt64
  ) throws {
    let (recorder, market) = try day(seed: seed, stamps: .shared)
    let observable = recorder.observableLedger()
    let candles = market.symbols.flatMap { observable.candles(of: $0) }
    #expect(recorder.trueLedger().differences(candles: candles) == [], "seed \(seed)")
    #expect(candles.allSatisfy { !$0.flags.contains(.partial) })
    #expect(market.symbols.allSatisfy { observable.gaps(of: $0).isEmpty })
  }

  @Test(arguments: 1...3 as ClosedRange<UInt64>)
  func `stamps off the grid move a few trades to the next minute and none of the day`(
    _ seed: UInt64
  ) throws {
    let (recorder, market) = try day(seed: seed)
    let (observable, truth) = (recorder.observableLedger(), recorder.trueLedger())
    var moved: Int64 = 0
    var total: Int64 = 0
    for (place, symbol) in market.symbols.enumerated() where !market.traits[place].isIndex {
      var difference = 0 as Int64
      for candle in observable.candles(of: symbol) {
        let minute = try #require(
          Calculation.minute(openingAt: candle.openedAt.shanghaiSecondOfDay))
        let traded = try #require(truth.totals(of: symbol, minute: minute)).volume
        let apart = try candle.volume - traded
        difference += apart.units
        moved += max(apart.units, 0)
        total += traded.units
      }
      #expect(difference == 0, "seed \(seed), \(symbol)")
    }
    #expect(moved > 0 && moved * 50 < total, "seed \(seed): \(moved) of \(total)")
  }

  @Test func `stamps of shares lie in any second and those of indexes on the grid`() throws {
    var market = try Fixture.market(instruments: 300)
    market.advance(to: try Fixture.moment(10, 0))
    var phases: [Int32: Int] = [:]
    for place in market.symbols.indices where market.states[place].book.kind == .continuous {
      let stamp = market.states[place].stamp
      #expect(stamp % 3 == market.traits[place].phase)
      phases[stamp % 3, default: 0] += 1
    }
    #expect((0...2).allSatisfy { phases[$0, default: 0] > 50 })
    let indexes = market.symbols.indices.filter { market.traits[$0].isIndex }
    #expect(indexes.allSatisfy { market.states[$0].stamp % 3 == 0 })
  }

  @Test(arguments: [(60, 61), (1200, 1260), (5400, 5430)])
  func `an outage moves volume into one gap and loses none`(_ from: Int, _ to: Int) throws {
    let start = 36_000
    let (recorder, market) = try day(seed: 4) { (start + from..<start + from + to).contains($0) }
    let observable = recorder.observableLedger()
    for (place, symbol) in market.symbols.enumerated() {
      guard let certificate = observable.certificate(of: symbol) else { continue }
      #expect(certificate.exchangeVolume == ExactDecimal(market.states[place].volume))
      #expect(
        certificate.residualVolume?.isZero == true && certificate.residualTurnover?.isZero == true)
      #expect(observable.gaps(of: symbol).count == 1)
      let minutes =
        certificate.minutesTraded + certificate.minutesUntraded + certificate.minutesMissing
      #expect(minutes <= 240)
    }
  }

  @Test func `the edges of an outage are partial and its inside is missing`() throws {
    // Last seen 10:00:30, seen again 10:03:15.
    let silence = (36_031..<36_195)
    let (recorder, _) = try day(seed: 4) { silence.contains($0) }
    let observable = recorder.observableLedger()
    let symbol = try Fixture.symbol("sh000001")
    let gap = try #require(observable.gaps(of: symbol).first)
    #expect(gap.from.description == "2026-07-07T10:00:30+08:00")
    #expect(gap.to.description == "2026-07-07T10:03:15+08:00")
    #expect(gap.cause == .outage && gap.volume.isPositive)
    let partial = observable.candles(of: symbol).filter { $0.flags.contains(.partial) }
    #expect(
      partial.map(\.openedAt.description)
        == ["2026-07-07T10:00:00+08:00", "2026-07-07T10:03:00+08:00"])
    #expect(observable.candles(of: symbol).count == 238)
    #expect(observable.certificate(of: symbol)?.minutesMissing == 2)
  }

  @Test func `two outages with one answer between them are one gap`() throws {
    let silence = 36_031..<36_195
    let whole = try day(seed: 4) { silence.contains($0) }.recorder.observableLedger()
    let halved = try day(seed: 4) { silence.contains($0) && $0 != 36_120 }
      .recorder.observableLedger()
    for symbol in halved.symbols {
      #expect(halved.gaps(of: symbol) == whole.gaps(of: symbol))
      #expect(halved.gaps(of: symbol).count <= 1)
    }
    #expect(halved.gaps(of: try Fixture.symbol("sh000001")).count == 1)
  }

  @Test(arguments: [false, true])
  func `a symbol that begins every batch counts in the first one only`(
    _ isReversed: Bool
  ) throws {
    var market = try Fixture.market(4, instruments: 45)
    let recorder = DayRecorder(market)
    let silence = 36_031..<36_195
    // Reversed, the first batch is answered after the second.
    let batches = isReversed ? [23..<45, 1..<23] : [1..<23, 23..<45]
    for second in stride(from: 32_400, through: 56_400, by: 3) {
      market.advance(to: Timestamp(day: market.day, secondOfDay: second), watchedBy: recorder)
      for places in batches where !(places.contains(1) && silence.contains(second)) {
        recorder.observed([market.symbols[0]] + market.symbols[places], of: market)
      }
      // A part of the first batch.
      if second == 36_090 { recorder.observed(Array(market.symbols[0...3]), of: market) }
    }
    let observable = recorder.observableLedger()
    func hole(_ place: Int) -> [String] {
      let symbol = market.symbols[place]
      return observable.gaps(of: symbol).map { "\($0.from) to \($0.to), \($0.cause)" }
        + ["\(observable.certificate(of: symbol)?.minutesMissing ?? -1) minutes missing"]
    }
    // Place 1 was in the part as well, 4 only in the whole, 44 in the second batch.
    #expect(hole(0) == hole(1) && hole(0).count == 2)
    #expect(hole(0).last == "1 minutes missing" && hole(4).last == "2 minutes missing")
    #expect(hole(44) == ["0 minutes missing"])
  }

  @Test func `an outage behind a late start is a gap of its own`() throws {
    let (recorder, _) = try day(seed: 4) { $0 < 36_195 && $0 != 36_120 }
    let gaps = recorder.observableLedger().gaps(of: try Fixture.symbol("sh000001"))
    #expect(gaps.map(\.cause) == [.lateStart, .outage])
    #expect(gaps.first?.to == gaps.last?.from)
  }

  @Test func `a print stamped into a minute that nobody saw belongs to the gap before it`() throws {
    // Every second minute begins with an answer, after which rows with its stamp still come.
    let (recorder, _) = try day(seed: 4) {
      (34_320..<41_280).contains($0) && $0 % 120 >= 12
    }
    let observable = recorder.observableLedger()
    for symbol in observable.symbols {
      guard let certificate = observable.certificate(of: symbol) else { continue }
      #expect(certificate.isBalanced, "\(certificate)")
    }
  }

  @Test func `a silence of fifteen seconds is no gap`() throws {
    let (recorder, _) = try day(seed: 4) { (36_046..<36_060).contains($0) }
    let observable = recorder.observableLedger()
    let symbol = try Fixture.symbol("sh000001")
    #expect(observable.gaps(of: symbol).isEmpty && observable.candles(of: symbol).count == 240)
  }

  @Test func `a late start is a gap from the opening`() throws {
    let (recorder, _) = try day(seed: 5) { $0 < 37_830 }
    let symbol = try Fixture.symbol("sh600000")
    let gap = try #require(recorder.observableLedger().gaps(of: symbol).first)
    #expect(gap.cause == .lateStart && gap.from.description == "2026-07-07T09:30:00+08:00")
  }

  @Test func `a day whose end was not seen has no certificate of the exchange`() throws {
    let (recorder, _) = try day(seed: 5) { $0 > 50_000 }
    let observable = recorder.observableLedger()
    let symbol = try Fixture.symbol("sh600000")
    #expect(observable.certificate(of: symbol)?.exchangeVolume == nil)
    #expect(observable.gaps(of: symbol).last?.cause == .unseenClose)
  }

  @Test func `the halted and the unlisted have no candles`() throws {
    let (recorder, market) = try day(seed: 6)
    let observable = recorder.observableLedger()
    for behaviour in [Behaviour.haltedAllDay, .haltedUnmarked, .delisted, .notListed] {
      for symbol in Fixture.symbols(market, behaviour) {
        #expect(observable.candles(of: symbol).isEmpty)
      }
    }
    let late = try Fixture.first(market, .haltedAtOpening)
    #expect(observable.candles(of: late).first?.openedAt.description == "2026-07-07T10:30:00+08:00")
    let untraded = observable.candles(of: try Fixture.first(market, .untraded))
    #expect(untraded.count == 240 && untraded.allSatisfy { $0.flags == .noTrade })
  }

  @Test func `a node that lags brings nothing new`() throws {
    var market = try Fixture.market(8, instruments: 45)
    let plain = DayRecorder(market)
    let confused = DayRecorder(market)
    var lagging = market
    for second in stride(from: 32_400, through: 56_400, by: 3) {
      let moment = Timestamp(day: market.day, secondOfDay: second)
      var copy = market
      copy.advance(to: moment, watchedBy: confused)
      market.advance(to: moment, watchedBy: plain)
      plain.observedAll(of: market)
      confused.observedAll(of: market)
      lagging.advance(to: moment.adding(seconds: -45))
      confused.observedAll(of: lagging)
    }
    let ledger = plain.observableLedger()
    let rows = market.symbols.flatMap { ledger.candles(of: $0) }
    let certificates = market.symbols.compactMap { ledger.certificate(of: $0) }
    #expect(
      confused.observableLedger().differences(candles: rows, gaps: [], certificates: certificates)
        == [])
  }

  @Test func `a damaged row is known through its next good one`() throws {
    var market = try Fixture.market(9, instruments: 45)
    let recorder = DayRecorder(market)
    let place = Int32(try Fixture.place(market, Fixture.symbol("sh600000")))
    for second in stride(from: 32_400, through: 56_400, by: 3) {
      market.advance(to: Timestamp(day: market.day, secondOfDay: second), watchedBy: recorder)
      let damaged: Set<Int32> = (36_000..<36_300).contains(second) ? [place] : []
      _ = recorder.observed(ServedLines(places: Array(0..<45), invalid: damaged), of: market)
    }
    let observable = recorder.observableLedger()
    #expect(observable.gaps(of: try Fixture.symbol("sh600000")).count == 1)
    #expect(observable.gaps(of: try Fixture.symbol("sz000001")).isEmpty)
  }

  @Test func `differences are found and named`() throws {
    let (recorder, market) = try day(seed: 10, instruments: 40, stamps: .shared)
    let observable = recorder.observableLedger()
    var candles = market.symbols.flatMap { observable.candles(of: $0) }
    let certificates = market.symbols.compactMap { observable.certificate(of: $0) }
    #expect(observable.differences(candles: candles, gaps: [], certificates: certificates) == [])
    candles[5].volume = ExactDecimal(1)
    candles.remove(at: 700)
    let lines = observable.differences(candles: candles, gaps: [], certificates: certificates)
    #expect(lines.count == 2)
    #expect(lines.contains { $0.hasPrefix("sh000001 2026-07-07T09:35:00+08:00: volume 1, ") })
    #expect(lines.contains { $0.hasSuffix("candle missing") })
    #expect(recorder.trueLedger().differences(candles: candles).count == 2)
  }

  @Test func `a day has one digest and another seed another`() throws {
    let digests = try [1, 1, 2].map { try day(seed: $0, instruments: 45).recorder.digest }
    #expect(digests[0] == digests[1] && digests[0] != digests[2])
  }

  @Test func `what a server serves is what its recorder saw`() throws {
    let market = try Fixture.market(12)
    let server = try ExchangeServer(
      market: market, faults: FaultPlan(seed: 1, [Fault(.negative, chancePerMille: 20)]),
      recorder: DayRecorder(market))
    defer { server.stop() }
    let client = try RawClient(port: server.port)
    defer { client.close() }
    for second in stride(from: 34_200, through: 34_500, by: 3) {
      let moment = Timestamp(day: market.day, secondOfDay: second)
      _ = client.get(Fixture.path(market.symbols, at: moment))
    }
    let candles = server.withRecorder { recorder in
      recorder.observableLedger().candles(of: market.symbols[0])
    }
    #expect(candles?.count == 5)
  }
}
