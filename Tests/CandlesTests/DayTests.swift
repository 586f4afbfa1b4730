import Market
import TestSupport
import Testing

@testable import Candles

@Suite struct DayTests {
  @Test func `the day is certified with residual zero, gap and late prints included`() throws {
    var tape = Tape()
    try tape.see("09:30:30", last: "10.00", volume: 100)
    try tape.see("10:30:30", last: "10.20", volume: 1100)
    try tape.see("14:59:58", last: "10.10", volume: 5000)
    try tape.see("15:00:03", last: "10.15", volume: 6000, seenAt: "15:01:00")
    tape.advance(to: "15:36:00")
    let certificate = try #require(tape.output.certificates.first)
    #expect(certificate.exchangeVolume == ExactDecimal(6000))
    #expect(
      certificate.minuteVolume == ExactDecimal(1100) && certificate.gapVolume == ExactDecimal(4900))
    #expect(certificate.residualVolume == .zero && certificate.residualTurnover == .zero)
    #expect(tape.day1?.row == "10.00 10.20 10.00 10.15 6000 60000")
    #expect(tape.output.events.last == .dayComplete(day: tape.day, instruments: 1, residuals: 0))
  }

  @Test func `the fixed-price session is a candle of its own`() throws {
    var tape = Tape()
    try tape.see("09:30:30", last: "10.00", volume: 100)
    var quote = try tape.quote("15:30:00", last: "10.00", volume: 100, high: "10.00", low: "10.00")
    quote.afterHours = AfterHours(volume: ExactDecimal(40), turnover: ExactDecimal(400))
    tape.take(quote, seenAt: quote.at)
    tape.advance(to: "15:36:00")
    let candle = try #require(tape.output.candles.first { $0.timeframe == .afterHours })
    #expect(candle.row == "10.00 10.00 10.00 10.00 40 400")
    #expect(tape.output.certificates.first?.afterHoursVolume == ExactDecimal(40))
  }

  @Test func `a correction after the certificate is a revision and a new certificate`() throws {
    var tape = Tape()
    try tape.see("14:59:58", last: "10.00", volume: 100)
    try tape.see("15:00:03", last: "10.00", volume: 200, seenAt: "15:01:00")
    tape.advance(to: "15:36:00")
    try tape.see("15:40:00", last: "10.00", volume: 230)
    #expect(
      tape.output.certificates.map(\.exchangeVolume) == [ExactDecimal(200), ExactDecimal(230)])
    #expect(tape.output.certificates.allSatisfy { $0.residualVolume == .zero })
    #expect(Set(tape.output.revisions.map(\.candle.timeframe)) == [.minute1, .day1])
  }

  @Test func `a day whose end was never seen gets a certificate without totals`() throws {
    var tape = Tape()
    try tape.see("14:00:30", last: "10.00", volume: 100)
    tape.output = CandleOutput()
    var next = try tape.quote("09:03:00", last: "0.00", volume: 0)
    next.tradingDay = tape.day.advanced(by: 1)
    tape.take(next, seenAt: next.at)
    #expect(tape.output.certificates.map(\.exchangeVolume) == [nil])
    #expect(tape.output.gaps.map(\.cause) == [.unseenClose])
  }

  @Test func `a book restored at any moment goes on exactly like the one that was never stopped`()
    throws
  {
    let seed = UInt64.random(in: .min ... .max)
    var random = SplitMix(seed: seed)
    for _ in 0..<40 {
      var whole = Tape()
      var restarted = Tape()
      var clock = 9 * 3600 + 1800
      var volume: Int64 = 0
      while clock < 15 * 3600 + 2400 {
        clock += [3, 3, 3, 6, 30, 200].randomElement(using: &random) ?? 3
        volume += [0, 0, 100, 300].randomElement(using: &random) ?? 0
        let stamp = "\(clock / 3600):\(clock / 60 % 60):\(clock % 60)"
        let last = "10.\(10 + Int.random(in: 0...20, using: &random))"
        if volume > 0 {
          try whole.see(stamp, last: last, volume: volume, high: "10.50", low: "9.90")
          try restarted.see(stamp, last: last, volume: volume, high: "10.50", low: "9.90")
        }
        if Int.random(in: 0..<20, using: &random) == 0 {
          restarted.book = try restart(restarted.book)
        }
      }
      whole.advance(to: "15:50:00")
      restarted.advance(to: "15:50:00")
      #expect(whole.output.candles == restarted.output.candles, "seed \(seed)")
      #expect(whole.output.gaps == restarted.output.gaps, "seed \(seed)")
      #expect(whole.output.certificates == restarted.output.certificates, "seed \(seed)")
      #expect(whole.output.events == restarted.output.events, "seed \(seed)")
      #expect(whole.output.certificates.allSatisfy { $0.residualVolume == .zero }, "seed \(seed)")
    }
  }

  @Test func `a code whose prefix becomes known has a band and a tick from then on`() throws {
    var tape = Tape("sz309001")
    try tape.see("10:00:00", last: "10.00", volume: 100)
    #expect(tape.book.isOfNoKind(0) && tape.book.tick(at: 0) == nil)
    let share = Instrument.classify(try #require(Symbol("sz300001")))
    let changed = [tape.book.classify { _ in share }, tape.book.classify { _ in share }]
    #expect(changed == [[0], []])
    try tape.see("10:00:03", last: "10.01", volume: 200)
    #expect(!tape.book.isOfNoKind(0))
    #expect(tape.book.tick(at: 0)?.description == "0.01")
  }

  @Test func `a close whose print may still be pending is not certified`() throws {
    var tape = Tape()
    try tape.see("14:59:57", last: "10.00", volume: 100)
    tape.output = CandleOutput()
    // The auction has not reached this row, though another of its answer is stamped after it.
    try tape.see("14:59:57", last: "10.00", volume: 100, seenAt: "15:00:06")
    tape.advance(to: "15:36:00")
    #expect(tape.output.certificates.isEmpty)
    try tape.see("15:00:03", last: "10.00", volume: 900, seenAt: "15:36:03")
    #expect(tape.output.certificates.map(\.exchangeVolume) == [ExactDecimal(900)])
    #expect(tape.output.certificates.allSatisfy { $0.residualVolume == .zero })
  }

  @Test func `the day of an instrument that is asked for no more ends with the next`() throws {
    var tape = Tape()
    try tape.see("10:00:30", last: "10.00", volume: 100)
    _ = tape.book.missed(0)
    tape.output = CandleOutput()
    var other = try tape.quote("15:01:00", last: "10.00", volume: 100)
    other.symbol = try #require(Symbol("sh600000"))
    other.tradingDay = tape.day.advanced(by: 1)
    tape.take(other, seenAt: other.at)
    #expect(tape.output.certificates.isEmpty)
    tape.take(other, seenAt: other.at.adding(seconds: 40 * 60))
    let certificates = tape.output.certificates.filter { $0.symbol == tape.symbol }
    #expect(certificates.map(\.exchangeVolume) == [nil])
    #expect(certificates.map(\.minutesMissing) == [239])
    let gaps = tape.output.gaps.filter { $0.symbol == tape.symbol }
    #expect(gaps.map(\.cause) == [.unseenClose])
    tape.book = try restart(tape.book)
    // It comes back, with its last line first.
    let reported = tape.output.certificates.count
    try tape.see("15:00:03", last: "10.00", volume: 300, seenAt: "15:01:00")
    #expect(tape.output.certificates.count == reported + 1)
    #expect(tape.output.certificates.last?.minutesMissing == 239)
    #expect(tape.output.certificates.last?.residualVolume == .zero)
  }

  @Test func `a late first print of a minute that was halted makes its candle, no revision`()
    throws
  {
    var tape = Tape()
    var halted = try tape.quote("09:30:30", last: "0.00", volume: 0)
    halted.status = .haltedOneHour
    halted.bid = .zero
    halted.ask = .zero
    tape.take(halted, seenAt: tape.moment("09:30:45"))
    tape.take(halted, seenAt: tape.moment("09:31:00"))
    tape.advance(to: "09:31:06")
    #expect(tape.output.candles.isEmpty)
    tape.book = try restart(tape.book)
    try tape.see("09:30:59", last: "10.00", volume: 100, seenAt: "09:31:08")
    #expect(tape.output.candles.map(\.row) == ["10.00 10.00 10.00 10.00 100 1000"])
    #expect(tape.output.candles.map(\.flags) == [[]])
    #expect(tape.output.revisions.isEmpty && tape.output.gaps.isEmpty)
    tape.book = try restart(tape.book)
    try tape.see("09:30:59", last: "10.00", volume: 100, seenAt: "15:01:00")
    tape.advance(to: "15:36:00")
    let certificate = try #require(tape.output.certificates.first)
    #expect(certificate.minutesTraded == 1 && certificate.minutesUntraded == 1)
    #expect(certificate.residualVolume == .zero)
  }

  @Test func `more minutes than a day has are refused in stored state`() throws {
    var tape = Tape()
    try tape.see("09:33:30", last: "10.00", volume: 100)
    let state = tape.book.instrumentState(at: 0)
    var book = CandleBook()
    let refusals = state.indices.filter { place in
      var damaged = state
      // 32767; the sign is the lowest bit.
      damaged.replaceSubrange(place...place, with: [0xFE, 0xFF, 0x03])
      let missing = BookStateError.corrupt(
        field: "day.minutes_missing", expected: "a whole number of 0…240", at: place)
      do throws(BookStateError) {
        try book.restore(instrument: tape.symbol, state: damaged)
        return false
      } catch {
        return error == missing
      }
    }
    #expect(!refusals.isEmpty)
  }

  @Test func `days that passed wholly unseen stand in the ledger, weekends do not`() throws {
    var tape = Tape()
    try tape.see("09:30:30", last: "10.00", volume: 100)
    try tape.see("15:00:03", last: "10.00", volume: 200, seenAt: "15:01:00")
    tape.advance(to: "15:40:00")
    let gaps = tape.output.gaps.count
    let next = tape.day.advanced(by: 8)  // the Tuesday after
    var quote = try tape.quote("09:30:30", last: "10.00", volume: 50)
    quote.tradingDay = next
    tape.take(quote, seenAt: Timestamp(day: next, secondOfDay: 9 * 3600 + 1830))
    let missed = tape.output.gaps.dropFirst(gaps).filter { $0.tradingDay < next }
    #expect(missed.map { $0.tradingDay.weekday } == [2, 3, 4, 5, 1])
    #expect(missed.allSatisfy { $0.cause == .unseenClose && $0.volume.isZero })
    let certificates = tape.output.certificates.filter { $0.tradingDay != tape.day }
    #expect(certificates.map(\.tradingDay) == missed.map(\.tradingDay))
    #expect(certificates.allSatisfy { $0.exchangeVolume == nil && $0.minutesMissing == 240 })
  }

  private func restart(_ book: CandleBook) throws -> CandleBook {
    var (book, fresh) = (book, CandleBook())
    try fresh.restore(sharedState: book.sharedState)
    for index in 0..<book.count {
      try fresh.restore(instrument: book.symbol(at: index), state: book.instrumentState(at: index))
    }
    return fresh
  }

  @Test func `stored state that is damaged is refused with its field and what was due there`()
    throws
  {
    var tape = Tape()
    try tape.see("09:30:30", last: "10.00", volume: 100)
    let state = tape.book.instrumentState(at: 0)
    var book = CandleBook()
    // Version, group, then whether it is in step.
    var odd = state
    odd[2] = 7
    #expect(throws: BookStateError.corrupt(field: "is_in_step", expected: "0 or 1", at: 2)) {
      try book.restore(instrument: tape.symbol, state: odd)
    }
    let longer = BookStateError.corrupt(field: "end", expected: "nothing more", at: state.count)
    #expect(throws: longer) { try book.restore(instrument: tape.symbol, state: state + [0]) }
    // A day further than any is: the sign is the lowest bit.
    let late: [UInt8] = [5, 0, 1, 1] + [0xFE, 0xFF, 0xFF, 0xFF, 0x0F]
    let day = BookStateError.corrupt(
      field: "day", expected: "a whole number of 0…100000", at: 4)
    #expect(throws: day) { try book.restore(instrument: tape.symbol, state: late) }
    #expect(
      throws: BookStateError.corrupt(
        field: "timers_done_through", expected: "microseconds since 1970", at: 1)
    ) { try book.restore(sharedState: [5, 0x01]) }
  }

  /// A trap ends the process: the seed stands in the line that says that this began.
  @Test(arguments: [UInt64.random(in: .min ... .max)])
  func `no flipped bits of a stored state trap, in its reader or later in the day`(
    seed: UInt64
  ) throws {
    var tape = Tape()
    try tape.see("09:30:30", last: "10.00", volume: 100)
    try tape.see("09:31:30", last: "10.10", volume: 300)
    let (shared, state) = (tape.book.sharedState, tape.book.instrumentState(at: 0))
    var random = SplitMix(seed: seed)
    var refused = 0
    for _ in 0..<3_000 {
      var (shared, state) = (shared, state)
      for _ in 0...Int.random(in: 0...2, using: &random) {
        let bit = UInt8(1) << UInt8.random(in: 0..<8, using: &random)
        if Int.random(in: 0..<4, using: &random) == 0 {
          shared[Int.random(in: shared.indices, using: &random)] ^= bit
        } else {
          state[Int.random(in: state.indices, using: &random)] ^= bit
        }
      }
      var book = CandleBook()
      do throws(BookStateError) {
        try book.restore(sharedState: shared)
        try book.restore(instrument: tape.symbol, state: state)
      } catch {
        refused += 1
        continue
      }
      let quote = try tape.quote("09:32:30", last: "10.20", volume: 400)
      let at = tape.moment("09:32:31")
      let index = book.index(of: tape.symbol)
      _ = book.observe(quote, at: index, group: 0, watermark: at, receivedAt: at)
      book.advance(to: tape.moment("15:40:00"))
      _ = book.takeOutput()
    }
    #expect(refused > 100, "seed \(seed)")
  }

  @Test func `stored state of another version or cut short is refused`() throws {
    var tape = Tape()
    try tape.see("09:30:30", last: "10.00", volume: 100)
    let state = tape.book.instrumentState(at: 0)
    var book = CandleBook()
    #expect(throws: BookStateError.unknownVersion(9)) {
      try book.restore(instrument: tape.symbol, state: [9] + state.dropFirst())
    }
    for length in 0..<state.count {
      #expect(throws: BookStateError.self) {
        try book.restore(instrument: tape.symbol, state: Array(state.prefix(length)))
      }
    }
  }
}
