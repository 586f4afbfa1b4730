import ExchangeSimulator
import Market
import TestExchange

/// Watches a simulated day for the ledgers: every trade, every state a line had, and what of it was
/// served to whom.
///
/// Recording is append-only and cheap; the ledgers are computed once, at the end, from the whole
/// day. Not safe for several threads at once: `ExchangeServer` holds its lock around it.
package final class DayRecorder: DayObserver {
  package let day: TradingDay
  private var truth: TrueLedger
  private var tape: DayTape
  private var log: ObservationLog
  private var digestState: DayDigest
  private var falseRows: FalseRowSchedule?
  /// The false rows that were written, by their numbers.
  private var written: [FalseRowNote] = []
  /// When each answer was asked for, by its sequence.
  private var askedAt: [Int32: Timestamp] = [:]

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
  package func stepped(_ market: SimulatedMarket) {
    truth.add(market.events.trades)
    if let oddities = market.oddities as? DayOddities { truth.takeBack(oddities.takenBack) }
    tape.add(market)
    digestState.add(market)
  }
}

/// What was served.
extension DayRecorder {
  /// Notes that a client saw the lines of `symbols` as `market` shows them now: for use without a
  /// server. Unknown symbols are passed over.
  @discardableResult
  package func observed(_ symbols: [Symbol], of market: SimulatedMarket) -> ResponseTicket {
    observed(ServedLines(places: symbols.compactMap { market.place(of: $0) }), of: market)
  }

  /// The lines of `symbols` with the false rows that are due among them, noted as seen by a client:
  /// for use without a server.
  package func serve(_ symbols: [Symbol], of market: inout SimulatedMarket) -> [UInt8] {
    market.body(for: symbols, shownTo: self)
  }

  package func replaceLine(
    at place: Int32, of market: inout SimulatedMarket, in body: inout [UInt8], from start: Int
  ) -> Int? {
    let served = lastServedStamp(at: place)
    guard let draft = falseRows?.next(at: place, of: market, served: served) else { return nil }
    draft.write(over: &body, from: start, &market)
    written.append(draft.note)
    return written.count - 1
  }

  /// Notes that a client saw every line, in `market.symbols`' order.
  @discardableResult
  package func observedAll(of market: SimulatedMarket) -> ResponseTicket {
    observed(ServedLines(places: log.everything), of: market)
  }

  package func observed(_ lines: ServedLines, of market: SimulatedMarket) -> ResponseTicket {
    let stamps =
      (lines.refreshed as? RefreshedLines.Response)?.stamps
      ?? lines.places.map { place in
        let state = market.states[Int(place)]
        return state.isPreviousSession ? 0 : state.stamp
      }
    let sequence = log.record(lines, stamps: stamps, asOf: Int32(market.second))
    log.record(lines.replaced.map { written[$0] }, in: sequence)
    return ResponseTicket(day: day, sequence: sequence)
  }

  package func withdraw(_ ticket: ResponseTicket) { log.withdraw(ticket.sequence) }

  package func asked(_ ticket: ResponseTicket, at moment: Timestamp) {
    askedAt[ticket.sequence] = moment
  }

  /// How often a client asked at a moment and has the answer: to book it, or only as a probe.
  package struct AskedMoments {
    package var booked: [Timestamp: Int] = [:]
    package var probed: [Timestamp: Int] = [:]

    package init() {}
  }

  /// Withdraws the other answers: a client that was killed has them no more. Of answers to one
  /// moment it has the last ones: one that starts again lives through its last seconds again.
  /// - Parameter refreshed: the moments of the source whose lines have stamps of their own.
  /// - Returns: how many they were.
  package func withdrawResponses(
    except moments: AskedMoments, refreshed: AskedMoments = AskedMoments()
  ) -> Int {
    var left = [false: moments, true: refreshed]
    var lost = 0
    for (sequence, moment) in askedAt.sorted(by: { $0.key > $1.key }) {
      let source = log.refreshed.contains(sequence)
      if let count = left[source]?.booked[moment], count > 0 {
        left[source]?.booked[moment] = count - 1
        continue
      }
      log.withdraw(sequence)
      // Of one moment the probe is the first: what it shows may make its source serve at once.
      if let count = left[source]?.probed[moment], count > 0 {
        left[source]?.probed[moment] = count - 1
      } else {
        lost += 1
      }
    }
    return lost
  }

  package func lastServedStamp(at place: Int32) -> Int32 { log.servedStamps[Int(place)] }
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
