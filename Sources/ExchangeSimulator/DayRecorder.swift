import Market

/// Watches a simulated day for the ledgers: every trade, every state a line had, and what of it was
/// served to whom.
///
/// Recording is append-only and cheap; the ledgers are computed once, at the end, from the whole
/// day. Not safe for several threads at once: `ExchangeServer` holds its lock around it.
package final class DayRecorder {
  package let day: TradingDay
  private var truth: TrueLedger
  private var tape: DayTape
  private var log: ObservationLog
  private var digestState: DayDigest
  private var falseRows: FalseRowSchedule?
  /// When each answer was asked for, by its sequence.
  private var askedAt: [Int32: Timestamp] = [:]

  /// One answer that was noted, to be withdrawn if it never arrived.
  package struct Ticket: Sendable, Hashable {
    let day: TradingDay
    let sequence: Int32
  }

  /// Begins before the day does: `market` must not have been advanced into it yet.
  /// - Parameter falseRows: those to mix among the lines; none if nil.
  package init(_ market: SimulatedMarket, falseRows plan: FalseRowPlan? = nil) {
    precondition(market.second < Grid.dayReset, "a recorder must see the day from its beginning")
    day = market.day
    truth = TrueLedger(market)
    tape = DayTape(market)
    log = ObservationLog(instruments: market.symbols.count)
    digestState = DayDigest(seed: market.seed)
    falseRows = plan.map { FalseRowSchedule($0, market) }
  }

  /// Called by the market after each step.
  func stepped(_ market: SimulatedMarket) {
    truth.add(market.trades)
    truth.takeBack(market.takenBack)
    tape.add(market)
    digestState.add(market)
  }
}

/// What was served.
extension DayRecorder {
  /// Notes that a client saw the lines of `symbols` as `market` shows them now: for use without a
  /// server. Unknown symbols are passed over.
  @discardableResult
  package func observed(_ symbols: [Symbol], of market: SimulatedMarket) -> Ticket {
    observed(symbols.compactMap { market.place(of: $0) }, of: market, except: [])
  }

  /// The lines of `symbols` with the false rows that are due among them, noted as seen by a client:
  /// for use without a server.
  package func serve(_ symbols: [Symbol], of market: inout SimulatedMarket) -> [UInt8] {
    var batch = SinaBatch(faults: [], recorder: self)
    for symbol in symbols { batch.append(symbol, of: &market) }
    return batch.response(of: market).body
  }

  /// The false row that takes the place of an instrument's line now; nil if none does.
  func falseRow(at place: Int32, of market: SimulatedMarket) -> FalseRowDraft? {
    falseRows?.next(at: place, of: market, served: lastServedStamp(at: place))
  }

  /// Notes that a client saw every line, in `market.symbols`' order.
  @discardableResult
  package func observedAll(of market: SimulatedMarket) -> Ticket {
    observed(log.everything, of: market, except: [])
  }

  /// Notes the lines at `places`; those in `invalid` were damaged beyond belief, false or missing.
  func observed(
    _ places: [Int32], of market: SimulatedMarket, except invalid: Set<Int32>,
    falseRows: [FalseRowNote] = []
  ) -> Ticket {
    var watermark: Int32 = 0
    for place in places {
      let state = market.states[Int(place)]
      if state.isPreviousSession || (!invalid.isEmpty && invalid.contains(place)) { continue }
      watermark = max(watermark, state.stamp)
    }
    let sequence = log.record(
      places, asOf: Int32(market.second), watermark: watermark, except: invalid,
      stamps: market.states)
    log.record(falseRows, in: sequence)
    return Ticket(day: day, sequence: sequence)
  }

  /// The answer did not reach its client after all.
  package func withdraw(_ ticket: Ticket) { log.withdraw(ticket.sequence) }

  /// Notes the moment a question named.
  func asked(_ ticket: Ticket, at moment: Timestamp) { askedAt[ticket.sequence] = moment }

  /// Withdraws the answers to questions of other moments than these: a client that was killed has
  /// them no more, and will not ask for those moments again.
  /// - Returns: how many they were.
  package func withdrawResponses(exceptAskedAt moments: Set<Timestamp>) -> Int {
    let lost = askedAt.filter { !moments.contains($0.value) }.keys
    for sequence in lost { log.withdraw(sequence) }
    return lost.count
  }

  /// The latest stamp an instrument's valid lines were served with; 0 if never.
  func lastServedStamp(at place: Int32) -> Int32 { log.servedStamps[Int(place)] }
}

/// The ledgers.
extension DayRecorder {
  /// What really happened.
  package func trueLedger() -> TrueLedger { truth }

  /// What the answers served determine, by the rules of a candle.
  package func observableLedger() -> ObservableLedger { ObservableLedger(tape: tape, log: log) }

  /// A number that two runs of one seed share, over every state of every instrument.
  package var digest: UInt64 { digestState.value }
}
