import Market
import TestSupport
import Testing

@testable import Candles

/// What a day may go back to, against a memory that keeps whole days.
@Suite struct DayMemoryTests {
  /// The model: each day as it was, the newest first.
  private struct WholeDays {
    var checkpoints: [Checkpoint] = []

    mutating func remember(_ day: InstrumentDay, gaps: GapChanges) {
      checkpoints.insert(Checkpoint(state: day, gaps: gaps), at: 0)
      checkpoints = Array(checkpoints.prefix(DayMemory.countMax))
    }
  }

  private func expectSame(
    _ book: CandleBook, _ model: [Checkpoint], _ comment: @autoclosure () -> Comment
  ) throws {
    let day = try #require(book.instruments[0].state)
    let known = book.memories[0].checkpoints(before: day, hours: .mainlandChina)
    let isSame =
      known.map(\.state) == model.map(\.state) && known.map(\.gaps) == model.map(\.gaps)
    if !isSame { Issue.record(comment()) }
  }

  /// What the exchange shows at a second, as one of the sources serves it after a row.
  private func row(
    of traded: TradedDay, at second: Int, after known: Int, isRounded: Bool,
    random: inout SplitMix
  ) -> Quote {
    var quote = traded.quote(at: second)
    if second >= Session.afternoonClose + 300 {
      let lots = Int64(second - Session.afternoonClose) / 60
      quote.afterHours = AfterHours(
        volume: ExactDecimal(lots * 200), turnover: ExactDecimal(lots * 2000))
    }
    // Stamped when it is served, or with its last trade.
    let isRefreshed = Bool.random(using: &random)
    quote.secondOfDay = Int32(isRefreshed ? second : max(Int(quote.secondOfDay), known))
    guard isRounded else { return quote }
    quote.volume = ExactDecimal((quote.volume.units + 50) / 100 * 100)
    quote.turnover = quote.turnover.rounded(places: 0)
    quote.rounding = .coarsest
    return quote
  }

  /// One row of a tape: how it moves the book, and what the model then holds.
  private func take(
    _ quote: Quote, at second: Int, into book: inout CandleBook, _ model: inout WholeDays
  ) throws {
    let at = Timestamp(day: quote.tradingDay, secondOfDay: second)
    let receivedAt = at.adding(seconds: 1)
    book.advance(to: receivedAt)
    let index = book.index(of: quote.symbol)
    let before =
      book.instruments[index].state
      ?? InstrumentDay(
        symbol: quote.symbol, day: quote.tradingDay, basis: quote.previousClose,
        hours: .mainlandChina)
    let (opened, closed) = (book.output.gaps.count, book.output.closedGaps.count)
    let row = before.bounded(quote, of: .stock)
    let verdict = book.observe(
      quote, at: index, group: 0, watermark: at, receivedAt: receivedAt)
    guard case .accepted = verdict else { return }
    let gaps = GapChanges(book.output, openedAfter: opened, closedAfter: closed)
    if before.isMoved(by: row) || !gaps.isEmpty { model.remember(before, gaps: gaps) }
  }

  @Test(arguments: [12, 300, 3000])
  func `after each row and each timer the days before are the whole ones`(
    tradesMax: Int
  ) throws {
    let seed = UInt64.random(in: .min ... .max)
    var random = SplitMix(seed: seed)
    for round in 0..<6 {
      let tape = Tape("sh688981")
      let traded = try TradedDay(tape, tradesMax: tradesMax, random: &random)
      let isRounded = Bool.random(using: &random)
      var (book, model) = (CandleBook(), WholeDays())
      var second = Session.auctionMatch
      while second < Session.afternoonClose + 2_400 {
        second += [3, 3, 3, 3, 6, 20, 33, 120].randomElement(using: &random) ?? 3
        if second > Session.morningClose, second < Session.afternoonOpen {
          second = Session.afternoonOpen + 1
        }
        let known = book.count > 0 ? book.instruments[0].state?.booked.stamp ?? 0 : 0
        let quote = row(
          of: traded, at: second, after: known, isRounded: isRounded, random: &random)
        try take(quote, at: second, into: &book, &model)
        let place: Comment = "seed \(seed), round \(round), second \(second)"
        try expectSame(book, model.checkpoints, place)
        if Int.random(in: 0..<8, using: &random) == 0 { try restart(&book, &model, place) }
      }
      #expect(book.output.events.allSatisfy { if case .dispute = $0 { false } else { true } })
    }
  }

  /// A restart knows the same days, but for those that are too old to go back to.
  private func restart(
    _ book: inout CandleBook, _ model: inout WholeDays, _ comment: Comment
  ) throws {
    let kept = book.checkpoints(of: 0).count
    let state = book.instrumentState(at: 0)
    var copy = CandleBook()
    try copy.restore(sharedState: book.sharedState)
    try copy.restore(instrument: book.symbol(at: 0), state: state)
    #expect(copy.instruments[0].state == book.instruments[0].state, comment)
    #expect(copy.instrumentState(at: 0) == state, comment)
    model.checkpoints = Array(model.checkpoints.prefix(kept))
    try expectSame(copy, model.checkpoints, comment)
    copy.output = book.output
    book = copy
  }

  @Test func `a day that stood longer than a dispute lasts is not kept`() throws {
    var tape = Tape()
    try tape.see("09:30:30", last: "10.00", volume: 1000)
    try tape.see("09:30:33", last: "10.00", volume: 3000)
    let fresh = tape.book.instrumentState(at: 0)
    #expect(tape.book.memories[0].count == 2)
    for minute in 31...32 {
      for second in stride(from: 0, to: 60, by: 12) {
        try tape.see(
          "09:30:33", last: "10.00", volume: 3000, seenAt: "09:\(minute):\(second)")
      }
    }
    #expect(tape.book.instrumentState(at: 0).count < fresh.count)
    #expect(tape.book.memories[0].count == 0)
  }

  @Test func `readings served in turn take nothing out that stood longer than a dispute lasts`()
    throws
  {
    var tape = Tape()
    try tape.see("09:30:30", last: "10.00", volume: 1000)
    try tape.see("09:30:33", last: "10.00", volume: 3000)
    for second in stride(from: 0, to: 180, by: 12) {
      try tape.see(
        "09:30:33", last: "10.00", volume: 3000, seenAt: "09:\(31 + second / 60):\(second % 60)")
    }
    for second in stride(from: 0, to: 48, by: 6) {
      try tape.see("09:34:\(second)", last: "10.00", volume: 1100)
      try tape.see("09:34:\(second + 3)", last: "10.00", volume: 3000)
    }
    #expect(tape.disputes == [.disputed])
    #expect(tape.book.instruments[0].state?.booked.volume == ExactDecimal(3000))
    #expect(tape.output.gaps.allSatisfy { $0.volume.isZero || $0.cause == .lateStart })
  }
}
