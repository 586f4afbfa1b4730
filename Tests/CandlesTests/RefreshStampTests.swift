import Market
import Testing

@testable import Candles

/// Rows of a source that stamps them when it writes them.
@Suite struct RefreshStampTests {
  private var tape = Tape()

  private mutating func see(
    _ clock: String, last: String, volume: Int64, status: QuoteStatus = .normal
  ) throws -> CandleBook.Verdict {
    var quote = try tape.rounded(
      clock, last: last, volume: volume, high: volume > 0 ? "10.50" : nil,
      low: volume > 0 ? "9.50" : nil)
    quote.status = status
    if status != .normal { (quote.bid, quote.ask) = (.zero, .zero) }
    tape.book.advance(to: quote.at.adding(seconds: 1))
    return tape.book.observe(
      quote, at: tape.book.index(of: tape.symbol), group: 0, watermark: quote.at,
      receivedAt: quote.at.adding(seconds: 1), hasRefreshStamp: true)
  }

  @Test mutating func `a new stamp alone changes nothing that a restart must know`() throws {
    #expect(try see("09:30:51", last: "10.00", volume: 1000) == .accepted(stateChanged: true))
    for clock in ["09:30:54", "09:30:57", "09:31:00", "09:31:03"] {
      #expect(try see(clock, last: "10.00", volume: 1000) == .accepted(stateChanged: false))
    }
    #expect(try see("09:31:06", last: "10.00", volume: 1100) == .accepted(stateChanged: true))
    #expect(tape.book.formingCandle(at: 0)?.row == "10.00 10.00 10.00 10.00 100 1000")
    #expect(tape.book.formingCandle(at: 0)?.openedAt == tape.moment("09:31:00"))
  }

  @Test mutating func `a new stamp alone is a proof of life`() throws {
    _ = try see("09:30:03", last: "10.00", volume: 1000)
    for second in stride(from: 6, to: 60, by: 3) {
      _ = try see("09:30:\(second < 10 ? "0" : "")\(second)", last: "10.00", volume: 1000)
    }
    _ = try see("09:31:00", last: "10.00", volume: 1000)
    _ = try see("09:31:03", last: "10.00", volume: 1100)
    #expect(tape.book.takeOutput().gaps.isEmpty)
  }

  @Test mutating func `an instrument that halts or trades again has another state`() throws {
    _ = try see("10:00:00", last: "10.00", volume: 1000)
    let halted = try see("10:00:03", last: "10.00", volume: 1000, status: .haltedTemporarily)
    #expect(halted == .accepted(stateChanged: true))
    let still = try see("10:00:06", last: "10.00", volume: 1000, status: .haltedTemporarily)
    #expect(still == .accepted(stateChanged: false))
    #expect(try see("10:00:09", last: "10.00", volume: 1000) == .accepted(stateChanged: true))
  }
}
