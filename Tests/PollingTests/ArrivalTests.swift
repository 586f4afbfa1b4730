import Market
import TestSupport
import Testing

@testable import Polling

/// When sweeps begin, against sources whose rows become visible at known moments.
@Suite struct ArrivalTests {
  private static let seeds = (0..<4).map { _ in UInt64.random(in: .min ... .max) }

  /// A row: stamped, and to be seen from a moment on.
  private struct Row {
    var stamp: Timestamp
    var visibleAt: Timestamp
  }

  /// What polling saw of a day.
  private struct Seen {
    /// By slot.
    var phases: [Int] = []
    /// Rows that were replaced before they were seen, by slot.
    var lost: [Int] = []

    var isForwardOnly: Bool { zip(phases, phases.dropFirst()).allSatisfy { $0 <= $1 } }
  }

  private static func schedule(phase: Int) -> PollSchedule {
    PollSchedule(phaseMilliseconds: phase, spreadMilliseconds: 0, seed: 1) { !$0.isWeekend }
  }

  /// The grid moments of a morning and an afternoon.
  private static let grids = (0..<4_800).map { slot in
    moment(slot < 2_400 ? 9 : 10, 30).adding(seconds: Int64(slot) * 3 + (slot < 2_400 ? 0 : 1_800))
  }

  /// A convertible bond as one was recorded: rows 460–500 ms after the grid, 30 of 4,800 wanting.
  private static func bond(_ random: inout SplitMix) -> [Row] {
    grids.compactMap { grid in
      guard Int.random(in: 0..<160, using: &random) > 0 else { return nil }
      let delay = Int64.random(in: 460_000...500_000, using: &random)
      return Row(stamp: grid, visibleAt: grid.after(delay))
    }
  }

  /// Polls each instrument's rows for a day.
  private static func poll(_ instruments: [[Row]], phase: Int) -> Seen {
    var configuration = PollerConfiguration(referenceSymbol: referenceSymbol(), seed: 1)
    configuration.batchSymbolsMax = 800
    let symbols = symbols(instruments.count)
    var poller = Poller(configuration, schedule: schedule(phase: phase), symbols: symbols)
    var next = [Int](repeating: 0, count: instruments.count)
    var seen = Seen()
    for grid in grids {
      let askedAt = grid.adding(milliseconds: Int64(poller.schedule.phaseMilliseconds))
      var stamps: [Timestamp?] = [grid]
      var lost = 0
      for (place, rows) in instruments.enumerated() {
        let before = next[place]
        while next[place] < rows.count, rows[next[place]].visibleAt <= askedAt { next[place] += 1 }
        lost += max(next[place] - before - 1, 0)
        stamps.append(next[place] > 0 ? rows[next[place] - 1].stamp : nil)
      }
      seen.phases.append(poller.schedule.phaseMilliseconds)
      seen.lost.append(lost)
      _ = poller.arrived(
        ArrivedRows(askedAt: askedAt, stamps: stamps), for: [referenceSymbol()] + symbols, group: 0)
    }
    return seen
  }

  @Test(arguments: seeds)
  func `wherever the phase begins, the recorded bond loses no row once the phase has settled`(
    _ seed: UInt64
  ) {
    var random = SplitMix(seed: seed)
    let rows = Self.bond(&random)
    for phase in Array(stride(from: 400, to: 700, by: 13)) + [459, 460, 495, 500] {
      let seen = Self.poll([rows], phase: phase)
      #expect(seen.lost.suffix(2_400).reduce(0, +) == 0, "seed \(seed), phase \(phase)")
      #expect(seen.isForwardOnly, "seed \(seed), phase \(phase)")
      #expect((seen.phases.last ?? 0) <= 700 + 50, "seed \(seed), phase \(phase)")
      #expect(Self.poll([rows], phase: phase).phases == seen.phases, "seed \(seed)")
    }
  }

  @Test(arguments: seeds)
  func `within the arrivals a phase moves in minutes`(_ seed: UInt64) {
    var random = SplitMix(seed: seed)
    let seen = Self.poll([Self.bond(&random)], phase: 480)
    #expect(seen.phases.first == 480 && seen.phases[200] > 500, "seed \(seed)")
  }

  @Test(arguments: seeds)
  func `an answer that comes late now and then moves nothing`(_ seed: UInt64) {
    var random = SplitMix(seed: seed)
    var rows = Self.bond(&random)
    for place in stride(from: Int.random(in: 0..<300, using: &random), to: 4_700, by: 300) {
      rows[place].visibleAt = rows[place].stamp.adding(milliseconds: 2_900)
    }
    #expect(Set(Self.poll([rows], phase: 600).phases) == [600], "seed \(seed)")
  }

  /// Shanghai's stamps: each stock at its own moment of the three seconds, shown by the second.
  @Test(arguments: seeds)
  func `stocks whose stamps are spread over the slot move nothing`(_ seed: UInt64) {
    var random = SplitMix(seed: seed)
    let stocks = (0..<60).map { _ in
      let offset = Int64.random(in: 0..<3_000_000, using: &random)
      let share = Int.random(in: 30...100, using: &random)
      return Self.grids.compactMap { grid -> Row? in
        guard Int.random(in: 0..<100, using: &random) < share else { return nil }
        let published = grid.after(offset)
        let delay = Int64.random(in: 460_000...500_000, using: &random)
        return Row(
          stamp: Timestamp(seconds: published.seconds),
          visibleAt: published.after(delay))
      }
    }
    for phase in [400, 480, 650] {
      #expect(Set(Self.poll(stocks, phase: phase).phases) == [phase], "seed \(seed)")
    }
  }

  @Test(arguments: seeds)
  func `a market that arrives together moves the phase, its quiet part with it`(_ seed: UInt64) {
    var random = SplitMix(seed: seed)
    let delays = Self.grids.map { _ in Int64.random(in: 460_000...540_000, using: &random) }
    let stocks = (0..<60).map { stock in
      zip(Self.grids, delays).compactMap { grid, delay -> Row? in
        guard Int.random(in: 0..<60, using: &random) >= stock else { return nil }
        return Row(stamp: grid, visibleAt: grid.after(delay))
      }
    }
    let seen = Self.poll(stocks, phase: 500)
    #expect(seen.lost.prefix(200).reduce(0, +) > 0, "seed \(seed)")
    #expect(seen.lost.suffix(2_400).reduce(0, +) == 0, "seed \(seed)")
    #expect(seen.phases.last == 550, "seed \(seed)")
  }

  @Test func `rows that never come in time move the phase to its bound and no further`() {
    let rows = Self.grids.map { grid in
      Row(stamp: grid, visibleAt: grid.adding(milliseconds: 2_500))
    }
    let seen = Self.poll([rows], phase: 400)
    #expect(seen.phases.last == 1_400 && seen.isForwardOnly)
    #expect(Self.poll([rows], phase: 2_000).phases.last == 2_400)
    #expect(Self.poll([rows], phase: 2_990).phases.last == 2_990)
  }

  @Test func `a reload keeps the phase that was learnt, unless it names another`() {
    var poller = poller(symbols: 1, schedule: Self.schedule(phase: 400))
    let isMoved = poller.schedule.beginLater()
    #expect(isMoved)
    func reload(_ phase: Int) -> Int {
      _ = poller.reconfigured(
        poller.configuration, schedule: Self.schedule(phase: phase), symbols: symbols(1),
        at: moment(10, 0))
      return poller.schedule.phaseMilliseconds
    }
    #expect(reload(400) == 450)
    #expect(reload(600) == 600)
  }
}

extension Timestamp {
  fileprivate func after(_ more: Int64) -> Timestamp {
    Timestamp(microseconds: microseconds + more)
  }
}
