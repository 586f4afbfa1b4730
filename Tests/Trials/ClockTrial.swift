import Commits
import ExchangeSimulator
import Foundation
import Ingest
import Journal
import Ledgers
import Logging
import Market
import Polling
import Store
import TestSupport

/// Days on which somebody sets the machine's clock, an hour or a day forward or back, and perhaps
/// sets it right again, or on which the machine comes back in mid-session with a clock so wrong.
/// The exchange lives in true time and its ledger judges: the table is the ledger and the recorded
/// gaps, every certificate balances, and no minute sees more requests than an undisturbed one.
package struct ClockTrial: Sendable {
  /// When the clock is set.
  package enum Phase: String, Sendable, CaseIterable {
    case beforeOpen, morning, lunch, afternoon, afterClose
    /// It is wrong when the daemon comes back after ten minutes.
    case atStart

    var seconds: Range<Int> {
      switch self {
      case .beforeOpen: 7 * 3600 + 1800..<9 * 3600 + 900
      case .morning: 9 * 3600 + 1800..<11 * 3600 + 1800
      case .lunch: 11 * 3600 + 1860..<13 * 3600 - 120
      case .afternoon: 13 * 3600..<15 * 3600
      case .afterClose: 15 * 3600 + 120..<15 * 3600 + 2100
      case .atStart: 9 * 3600 + 1860..<11 * 3600
      }
    }
  }

  package var seed: UInt64
  package var instruments: Int
  package var phase: Phase
  /// By how much.
  package var seconds: Int64

  package static let secondsChoices: [Int64] = [3_600, -3_600, 86_400, -86_400]
  private static let start = 7 * 3600
  private static let downSeconds: Int64 = 600
  private static let end = 15 * 3600 + 45 * 60
  /// 20 slots of 3 s, a sweep that the start owes, and a retry of an empty answer.
  private static let sweepsPerMinuteMax = 22

  package init(seed: UInt64, instruments: Int, phase: Phase, seconds: Int64) {
    (self.seed, self.instruments, self.phase, self.seconds) = (seed, instruments, phase, seconds)
  }

  package struct Verdict: Sendable {
    package var candles = 0
    package var gaps = 0
    package var certificates = 0
    package var requestsPerMinuteMax = 0
    package var jumpsSeen = 0
    package var complaints: [String] = []
  }

  /// Half of the clocks are set right again after some minutes.
  private func jumps(on day: TradingDay) -> [WallClockJump] {
    var random = SplitMix(seed: seed)
    let second = Int.random(in: phase.seconds, using: &random)
    let jump = WallClockJump(at: Timestamp(day: day, secondOfDay: second), seconds: seconds)
    guard Bool.random(using: &random) else { return [jump] }
    let later = jump.at.adding(seconds: Int64.random(in: 5...3_000, using: &random))
    return [jump, WallClockJump(at: later, seconds: -seconds)]
  }

  package func run() async throws -> Verdict {
    let day = TradingDay(daysSince1970: 20_640)  // 2026-07-06
    let folder = try Leftovers.folder("clock")
    defer { Leftovers.remove(folder) }
    let world = ClockWorld(seed: seed, day: day, instruments: instruments)
    let sink = RowSink()
    let jumps = jumps(on: day)
    var start = Timestamp(day: day, secondOfDay: Self.start)
    let end = Timestamp(day: day, secondOfDay: Self.end)
    if phase == .atStart {
      // A life before, so that there is a day to be carried on.
      let cut = jumps[0].at.adding(seconds: -Self.downSeconds)
      try await live(world, from: start, to: cut, folder)
      await world.refuseNext()
      start = jumps[0].at
    }
    let engine = try await engine(
      world, sink, .stepped(start: start, jumps: jumps), stopAt: end, folder)
    let unsaved = try await engine.run()
    var verdict = try await verify(world, await sink.rows, await engine.status, end)
    if !unsaved.isNone { verdict.complaints.append("\(unsaved) were not saved") }
    let noticed = phase == .atStart ? await engine.status.clock.corrections : verdict.jumpsSeen
    if noticed == 0 { verdict.complaints.append("the jump went unnoticed") }
    // One that was set right is at one with us again; not one that is set right tomorrow.
    let isWrong = jumps.filter { $0.at < end }.reduce(0) { $0 + $1.seconds } != 0
    if await engine.status.clock.isRefused != isWrong {
      verdict.complaints.append("the alarm does not say what the wall clock does")
    }
    return verdict
  }

  /// A daemon that is gone afterwards, and whose journal is there.
  private func live(
    _ world: ClockWorld, from start: Timestamp, to end: Timestamp, _ folder: String
  ) async throws {
    let clock = EngineClock.stepped(start: start, jumps: [])
    _ = try await engine(world, RowSink(), clock, stopAt: end, folder).run()
    await world.follow(nil)
  }

  private func engine(
    _ world: ClockWorld, _ sink: RowSink, _ clock: EngineClock, stopAt: Timestamp, _ folder: String
  ) async throws -> Engine {
    let symbols = await world.symbols
    let quotes = QuotesConfiguration(
      source: .sina, poller: PollerConfiguration(referenceSymbol: symbols[0], seed: seed),
      schedule: PollSchedule(seed: seed, isTradingDay: TradingCalendar.shanghai.mayTrade),
      symbols: symbols)
    let parts = EngineParts(
      clock: clock, workers: SourceWorkers(quotes, upstream: world), store: sink,
      journal: try JournalWriter(directory: folder + "/journal"),
      journalDirectory: folder + "/journal",
      log: Logger(label: "clock", factory: { _ in SwiftLogNoOpLogHandler() }))
    var limits = EngineLimits()
    limits.stopAt = stopAt
    let engine = Engine(parts: parts, pipeline: Pipeline(), limits: limits)
    await world.follow(engine)
    return engine
  }

  private func verify(
    _ world: ClockWorld, _ rows: DayRows, _ status: EngineStatus, _ end: Timestamp
  ) async throws -> Verdict {
    var verdict = Verdict(
      candles: rows.candles.count, gaps: rows.gaps.count, certificates: rows.certificates.count,
      requestsPerMinuteMax: await world.requestsInOneMinuteMax,
      jumpsSeen: status.clock.jumps)
    verdict.complaints = await world.differences(rows, end: end)
    for certificate in rows.certificates.values where !certificate.isBalanced {
      verdict.complaints.append("\(certificate.symbol): the certificate does not balance")
    }
    if rows.certificates.isEmpty { verdict.complaints.append("no certificate was written") }
    let groups = (instruments + 798) / 799
    if verdict.requestsPerMinuteMax > Self.sweepsPerMinuteMax * groups {
      verdict.complaints.append(
        "\(verdict.requestsPerMinuteMax) requests in one minute: a burst")
    }
    // The exchange answers whenever it is asked: nothing may have moved.
    if phase != .atStart, status.clock.corrections > 0 {
      verdict.complaints.append("the jump was believed although the exchange contradicted it")
    }
    return verdict
  }
}
