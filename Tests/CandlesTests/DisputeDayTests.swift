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

  /// A day as it is polled, each row with a stamp of its own.
  private func rows(
    _ traded: TradedDay, from first: Int, through last: Int, every seconds: Int
  ) -> [Quote] {
    let moments =
      Array(stride(from: first, through: Session.morningClose, by: seconds))
      + Array(stride(from: Session.afternoonOpen + 1, through: last, by: seconds))
    return moments.map { second in
      var quote = traded.quote(at: second)
      quote.secondOfDay = Int32(second)
      return quote
    }
  }

  /// Nobody looks for a while, a few times a day.
  private func silence(_ rows: inout [Quote], _ random: inout SplitMix) {
    for _ in 0..<Int.random(in: 0...5, using: &random) {
      let first = Int32.random(in: 34_000...52_000, using: &random)
      let seconds: Int32 = [20, 40, 70, 200, 1500].randomElement(using: &random) ?? 20
      rows.removeAll { (first..<first + seconds).contains($0.secondOfDay) }
    }
  }

  /// Rows that the rows after them show to be false, by their places; many are beside an outage.
  private func falseRows(
    among rows: [Quote], every seconds: Int, _ random: inout SplitMix
  ) throws -> [Int: Quote] {
    let known = rows.map { Session.tradingSeconds(before: Int($0.secondOfDay)) }
    let edges = (1..<rows.count - 10).filter { known[$0] - known[$0 - 1] > seconds }
    var falseRows: [Int: Quote] = [:]
    for _ in 0..<Int.random(in: 1...20, using: &random) {
      var place = Int.random(in: 1..<rows.count - 10, using: &random)
      if Bool.random(using: &random), let edge = edges.randomElement(using: &random) {
        place = edge - Int.random(in: 0...1, using: &random)
      }
      let kind = FalseRow.allCases.randomElement(using: &random) ?? .volumeTimes3
      let row = try kind.made(of: rows[place])
      let isAlone = (place - 6...place + 6).allSatisfy { falseRows[$0] == nil }
      // Rows that lie further apart are no three in a row.
      let isWatched = known[place + 4] - known[place + 1] <= 3 * seconds
      if isAlone, isWatched, rows[place].volume.isPositive,
        isSeen(row, by: rows[place + 1...place + 4]),
        !seemsToReturn(row, among: rows[(place + 4)...])
      {
        falseRows[place] = row
      }
    }
    return falseRows
  }

  /// Whether the rows that follow show that the row is false: until they are three, none of them
  /// may be able to follow it.
  private func isSeen(_ row: Quote, by next: ArraySlice<Quote>) -> Bool {
    next.count == 4 && next.allSatisfy { contradicts($0, row) }
  }

  private func contradicts(_ next: Quote, _ row: Quote) -> Bool {
    next.volume < row.volume || next.turnover < row.turnover || next.high < row.high
      || next.low > row.low || next.previousClose != row.previousClose
  }

  /// Whether one honest trade leaps to where the false row was, or a little beyond, while that may
  /// still undo its correction: what is served then cannot be known from the false row's return.
  private func seemsToReturn(_ row: Quote, among next: ArraySlice<Quote>) -> Bool {
    guard let first = next.first else { return false }
    return zip(next, next.dropFirst()).contains { last, leap in
      leap.secondOfDay <= first.secondOfDay + 60 && !contradicts(leap, row)
        && distance(last, to: row) > distance(first, to: last)
        && distance(last, to: row) >= distance(row, to: leap)
    }
  }

  private func distance(_ row: Quote, to next: Quote) -> ExactDecimal {
    // Safe: no tape's volume comes near the bounds of a decimal.
    try! next.volume - row.volume
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
    3_740_792_211_689_908_093, 791_844_538_595_168_646, 1_586_527_284_458_687_931,
    9_290_756_016_757_746_555, UInt64.random(in: 0...UInt64.max),
  ])
  func `a day with false rows ends as if they had never come`(seed: UInt64) throws {
    var random = SplitMix(seed: seed)
    var corrected = 0
    for _ in 0..<12 {
      let traded = try TradedDay(Tape(), tradesMax: 3000, random: &random)
      let seconds = [3, 6, 12].randomElement(using: &random) ?? 3
      var rows = rows(
        traded, from: Session.auctionMatch + Int.random(in: 0..<3, using: &random),
        through: Session.afternoonClose + 120, every: seconds)
      silence(&rows, &random)
      let falseRows = try falseRows(among: rows, every: seconds, &random)
      var honest = rows
      // What a false row hid was not seen by anybody.
      for place in falseRows.keys { honest[place] = rows[place - 1] }
      let clean = try run(honest, [:], restarts: false, &random)
      let whole = try run(rows, falseRows, restarts: false, &random)
      let restarted = try run(rows, falseRows, restarts: true, &random)
      corrected += kinds(whole).count
      #expect(kinds(clean).isEmpty, "seed \(seed)")
      try expectSame(
        KeptDay(whole.output), KeptDay(clean.output),
        "seed \(seed), false rows \(falseRows.sorted { $0.key < $1.key }.map(\.value.at))")
      #expect(restarted.output.candles == whole.output.candles, "seed \(seed)")
      #expect(restarted.output.revisions == whole.output.revisions, "seed \(seed)")
      #expect(restarted.output.events == whole.output.events, "seed \(seed)")
      try expectConserved(whole)
    }
    #expect(corrected > 0, "seed \(seed)")
  }

  private func expectSame(_ ours: KeptDay, _ theirs: KeptDay, _ comment: Comment) throws {
    #expect(differences(ours, theirs) == [], comment)
    #expect(Set(ours.gaps.map(\.gap)) == Set(theirs.gaps.map(\.gap)), comment)
    #expect(ours.dayCandle == theirs.dayCandle, comment)
    var certificate = try #require(ours.certificate)
    let other = try #require(theirs.certificate)
    #expect(certificate.isBalanced, comment)
    #expect(
      certificate.minutesTraded + certificate.minutesUntraded + certificate.minutesMissing == 240,
      comment)
    let emptied = Int16(ours.minutes.count - theirs.minutes.count)
    certificate.minutesUntraded -= emptied
    certificate.minutesMissing += emptied
    #expect(certificate == other, comment)
  }

  private func differences(_ ours: KeptDay, _ theirs: KeptDay) -> [String] {
    Set(ours.minutes.keys).union(theirs.minutes.keys).sorted().compactMap { openedAt in
      let (own, other) = (ours.minutes[openedAt], theirs.minutes[openedAt])
      // A minute of which only a false row was seen was handed out, and stays.
      if other == nil, let own, own.volume.isZero, own.flags == .partial { return nil }
      // What is proven after lunch of the minute before it was given up meanwhile.
      var proven = other
      if other?.closedAt.shanghaiSecondOfDay == Session.morningClose {
        proven?.flags = own?.flags ?? []
      }
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
    guard let certificate = kept.certificate else { return }
    let minutes = try kept.ordered.reduce(ExactDecimal.zero) { try $0 + $1.volume }
    let gaps = try kept.gaps.reduce(ExactDecimal.zero) { try $0 + $1.gap.volume }
    #expect(minutes == certificate.minuteVolume, comment)
    #expect(gaps == certificate.gapVolume, comment)
    #expect(certificate.residualVolume ?? .zero == .zero, comment)
    #expect(kept.ordered.allSatisfy { !$0.volume.isNegative && $0.low <= $0.high }, comment)
  }
}
