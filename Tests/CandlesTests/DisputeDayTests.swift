import Candles
import Market
import TestSupport
import Testing

extension DisputeTests {
  enum FalseRow: CaseIterable {
    case volumeTimes3, volumeTimes9, rowTimes10, pricesTimes2, highTimes5, lowBy5, highInBand
    case otherInstrument

    func made(of quote: Quote) throws -> Quote {
      var row = quote
      func times(_ factor: Int64, _ fields: [WritableKeyPath<Quote, ExactDecimal>]) throws {
        for field in fields {
          row[keyPath: field] = try row[keyPath: field] * ExactDecimal(factor)
        }
      }
      let prices: [WritableKeyPath<Quote, ExactDecimal>] = [\.open, \.high, \.low, \.last]
      switch self {
      case .volumeTimes3: try times(3, [\.volume, \.turnover])
      case .volumeTimes9: try times(9, [\.volume, \.turnover])
      case .rowTimes10: try times(10, prices + [\.volume, \.turnover])
      case .pricesTimes2: try times(2, prices)
      case .highTimes5: try times(5, [\.high])
      case .lowBy5: row.low = try row.low.divided(by: ExactDecimal(5), scale: 2)
      case .highInBand: row.high = try ExactDecimal("10.88")
      case .otherInstrument:
        try times(3, prices + [\.previousClose, \.volume])
        try times(7, [\.turnover])
      }
      return row
    }
  }

  /// A day as it is polled: every 3 s a row with a stamp of its own.
  private func rows(
    _ traded: TradedDay, from first: Int, through last: Int
  ) -> [Quote] {
    let seconds =
      Array(stride(from: first, through: Session.morningClose, by: 3))
      + Array(stride(from: Session.afternoonOpen + 1, through: last, by: 3))
    return seconds.map { second in
      var quote = traded.quote(at: second)
      quote.secondOfDay = Int32(second)
      return quote
    }
  }

  /// Whether the rows that follow show that the row is false: until they are three, none of them
  /// may be able to follow it.
  private func isSeen(_ row: Quote, by next: ArraySlice<Quote>) -> Bool {
    next.count == 4
      && next.allSatisfy {
        $0.volume < row.volume || $0.turnover < row.turnover || $0.high < row.high
          || $0.low > row.low || $0.previousClose != row.previousClose
      }
  }

  private func run(
    _ rows: [Quote], _ falseRows: [Int: Quote], restarts: Bool, _ random: inout SplitMix
  ) throws -> Tape {
    var tape = Tape()
    for (place, row) in rows.enumerated() {
      tape.take(falseRows[place] ?? row, seenAt: row.at)
      if restarts, Int.random(in: 0..<50, using: &random) == 0 {
        tape.book = try restarted(tape.book)
      }
    }
    tape.advance(to: "15:40:00")
    return tape
  }

  @Test(arguments: [
    3_740_792_211_689_908_093, 791_844_538_595_168_646, UInt64.random(in: 0...UInt64.max),
  ])
  func `a day with false rows ends as if they had never come`(seed: UInt64) throws {
    var random = SplitMix(seed: seed)
    var corrected = 0
    for _ in 0..<12 {
      let traded = try TradedDay(Tape(), tradesMax: 3000, random: &random)
      let rows = rows(
        traded, from: Session.auctionMatch + Int.random(in: 0..<3, using: &random),
        through: Session.afternoonClose + 120)
      var falseRows: [Int: Quote] = [:]
      for _ in 0..<Int.random(in: 1...20, using: &random) {
        let place = Int.random(in: 1..<rows.count - 10, using: &random)
        let kind = FalseRow.allCases.randomElement(using: &random) ?? .volumeTimes3
        let row = try kind.made(of: rows[place])
        let isAlone = (place - 6...place + 6).allSatisfy { falseRows[$0] == nil }
        if isAlone, rows[place].volume.isPositive, isSeen(row, by: rows[place + 1...place + 4]) {
          falseRows[place] = row
        }
      }
      var honest = rows
      // What a false row hid was not seen by anybody.
      for place in falseRows.keys { honest[place] = rows[place - 1] }
      let clean = try run(honest, [:], restarts: false, &random)
      let whole = try run(rows, falseRows, restarts: false, &random)
      let restarted = try run(rows, falseRows, restarts: true, &random)
      corrected += kinds(whole).count
      #expect(kinds(clean).isEmpty, "seed \(seed)")
      let (ours, theirs) = (KeptDay(whole.output), KeptDay(clean.output))
      #expect(
        differences(ours, theirs) == [],
        "seed \(seed), false rows \(falseRows.sorted { $0.key < $1.key }.map(\.value.at))")
      #expect(ours.gaps.map(\.gap) == theirs.gaps.map(\.gap), "seed \(seed)")
      #expect(ours.audit == theirs.audit && ours.audit?.isBalanced == true, "seed \(seed)")
      #expect(ours.dayCandle == theirs.dayCandle, "seed \(seed)")
      #expect(restarted.output.candles == whole.output.candles, "seed \(seed)")
      #expect(restarted.output.revisions == whole.output.revisions, "seed \(seed)")
      #expect(restarted.output.events == whole.output.events, "seed \(seed)")
      try expectConserved(whole)
    }
    #expect(corrected > 0, "seed \(seed)")
  }

  private func differences(_ ours: KeptDay, _ theirs: KeptDay) -> [String] {
    Set(ours.minutes.keys).union(theirs.minutes.keys).sorted().compactMap { openedAt in
      let (own, other) = (ours.minutes[openedAt], theirs.minutes[openedAt])
      // Held rows may prove a minute that was given up while they were held.
      var proven = other
      if own?.flags.contains(.partial) == false { proven?.flags.remove(.partial) }
      if own == other || own == proven { return nil }
      let rows = [own, other].map { $0.map { "\($0.row) \($0.flags.rawValue)" } ?? "none" }
      return "\(openedAt): \(rows[0]), expected \(rows[1])"
    }
  }

  /// Random walks between several readings: whatever is served, the account holds.
  @Test(arguments: [13_473_372_076_330_190_553, UInt64.random(in: 0...UInt64.max)])
  func `whatever readings are served, minutes and gaps add up to the certificate`(
    seed: UInt64
  ) throws {
    var random = SplitMix(seed: seed)
    for _ in 0..<20 {
      let traded = try TradedDay(Tape(), tradesMax: 800, random: &random)
      var tape = Tape()
      var second = Session.auctionMatch
      while second < Session.afternoonClose + 120 {
        second += [3, 3, 3, 3, 6, 33, 120].randomElement(using: &random) ?? 3
        if second > Session.morningClose, second < Session.afternoonOpen {
          second = Session.afternoonOpen + 1
        }
        var row = traded.quote(at: second)
        row.secondOfDay = Int32(second)
        if row.volume.isPositive, Int.random(in: 0..<6, using: &random) == 0 {
          let kind = FalseRow.allCases.randomElement(using: &random) ?? .volumeTimes3
          row = try kind.made(of: row)
        }
        tape.take(row, seenAt: row.at)
        if Int.random(in: 0..<60, using: &random) == 0 { tape.book = try restarted(tape.book) }
      }
      tape.advance(to: "15:40:00")
      try expectConserved(tape, "seed \(seed)")
    }
  }

  func restarted(_ book: CandleBook) throws -> CandleBook {
    var (book, copy) = (book, CandleBook())
    try copy.restore(sharedState: book.sharedState)
    try copy.restore(instrument: book.symbol(at: 0), state: book.instrumentState(at: 0))
    return copy
  }

  /// What a store would hold adds up to what the certificate says, whatever that is.
  func expectConserved(_ tape: Tape, _ comment: Comment = "") throws {
    let kept = KeptDay(tape.output)
    guard let audit = kept.audit else { return }
    let minutes = try kept.ordered.reduce(ExactDecimal.zero) { try $0 + $1.volume }
    let gaps = try kept.gaps.reduce(ExactDecimal.zero) { try $0 + $1.gap.volume }
    #expect(minutes == audit.minuteVolume, comment)
    #expect(gaps == audit.gapVolume, comment)
    #expect(audit.residualVolume ?? .zero == .zero, comment)
    #expect(kept.ordered.allSatisfy { !$0.volume.isNegative && $0.low <= $0.high }, comment)
  }
}
