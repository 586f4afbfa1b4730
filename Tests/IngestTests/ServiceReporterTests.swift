import Commits
import Logging
import Market
import Operations
import Platform
import Polling
import Postgres
import Store
import Synchronization
import TestSupport
import Testing
import Transport

@testable import Ingest

/// Turns of a loop, in place of pauses: each is counted, and the last one ends it.
private final class Turns: Sendable {
  private let count = Atomic(0)
  private let most: Int
  private let act: @Sendable (Int) -> Void

  init(_ most: Int, _ act: @escaping @Sendable (Int) -> Void) {
    self.most = most
    self.act = act
  }

  func next() {
    let turn = count.wrappingAdd(1, ordering: .relaxed).newValue
    act(turn)
    if turn >= most { withUnsafeCurrentTask { $0?.cancel() } }
  }
}

private final class Clock: Sendable {
  private let time = Atomic<Int64>(1_000_000_000_000)
  var now: Int64 { time.load(ordering: .relaxed) }
  func pass(_ nanoseconds: UInt64) { time.wrappingAdd(Int64(nanoseconds), ordering: .relaxed) }
}

private let silence = Logger(label: "service", factory: { _ in SwiftLogNoOpLogHandler() })

@Suite struct ServiceReporterTests {
  @Test func `an engine that stops turning gets no sign of life until it turns again`() async throws
  {
    let socket = try NotifySocket()
    let notifier = try #require(
      ServiceNotifier(path: socket.name, watchdogMicroseconds: 20_000_000))
    let clock = Clock()
    let state = DaemonState(heartbeats: Heartbeats(nanoseconds: { clock.now }))
    let engine = state.heartbeats.begin("engine", ageSecondsMax: 30)
    // 2 s a look. The engine turns for 20 s, hangs for 60 s, and turns again.
    let seen = Locked<[Int: Int]>([:])
    let turns = Turns(60) { turn in
      if turn <= 10 || turn > 40 { engine.beat() }
      let signs = socket.waiting().count { $0 == "WATCHDOG=1" }
      seen.withLock { $0[turn] = signs }
    }
    let reporter = ServiceReporter(
      notifier, state: state, log: silence, nanoseconds: { clock.now },
      pause: { nanoseconds in
        turns.next()
        clock.pass(nanoseconds)
      })
    await Task { await reporter.giveSigns() }.value
    let signs = seen.withLock { $0 }.filter { $0.value > 0 }.keys.sorted()
    // Stale 30 s after its last beat, which is the 10th look's, and never while it hangs.
    #expect(signs.filter { (27...41).contains($0) } == [])
    #expect(signs.contains { $0 < 27 } && signs.contains { $0 > 41 })
  }

  @Test func `sends READY once, then the status every 10 s and on each change of role`()
    async throws
  {
    let socket = try NotifySocket()
    let notifier = try #require(ServiceNotifier(path: socket.name))
    let clock = Clock()
    let state = DaemonState(heartbeats: Heartbeats(nanoseconds: { clock.now }))
    let turns = Turns(90) { turn in
      if turn == 4 { state.role = .standby(leader: "host-a") }
      if turn == 60 { state.role = .leading(term: 2) }
      if turn == 65 { state.role = .draining }
    }
    let reporter = ServiceReporter(
      notifier, state: state, log: silence, nanoseconds: { clock.now },
      pause: { nanoseconds in
        turns.next()
        clock.pass(nanoseconds)
      })
    await Task { await reporter.reportStatus() }.value
    #expect(
      socket.waiting() == [
        "STATUS=starting", "EXTEND_TIMEOUT_USEC=30000000",
        "READY=1\nSTATUS=standby behind host-a",
        "STATUS=standby behind host-a", "STATUS=leading", "STATUS=draining",
        "EXTEND_TIMEOUT_USEC=15000000", "STATUS=draining",
      ])
  }

  @Test func `a reload is announced and concluded`() async throws {
    let socket = try NotifySocket()
    let notifier = try #require(ServiceNotifier(path: socket.name))
    let state = DaemonState()
    state.role = .leading(term: 1)
    let reporter = ServiceReporter(notifier, state: state, log: silence)
    await reporter.reloading {
      state.reloaded(at: EngineClock.realNow(), problem: "candled.toml:12: no")
    }
    let messages = socket.waiting()
    #expect(messages.first?.hasPrefix("RELOADING=1\nMONOTONIC_USEC=") == true)
    #expect(messages.last == "READY=1\nSTATUS=leading · reload refused: candled.toml:12: no")
  }
}

@Suite struct StatusLineTests {
  private func report(_ change: (inout EngineReport) -> Void) -> DaemonReport {
    let at = Timestamp(day: TradingDay(daysSince1970: 20_640), secondOfDay: 10 * 3_600)
    var engine = EngineReport(now: at, status: EngineStatus(), counters: PipelineCounters())
    engine.symbols = 5_400
    engine.status.quotes.lastSweepAt = at.adding(seconds: -2)
    engine.status.commits.count = 7
    engine.status.commits.duration.microseconds = 12_400
    var quotes = SourceReport(source: .sina, endpoint: "quotes")
    quotes.state = SourceState(.ok, since: at)
    quotes.freshness = .init(isInSession: true, stalenessSeconds: 2, limitSeconds: 15)
    engine.sources = [quotes]
    change(&engine)
    return DaemonReport(at: at, startedAt: at, role: .leading(term: 1), engine: engine)
  }

  @Test func `says how a good morning goes`() {
    #expect(
      report { _ in }.statusLine
        == "leading · morning session · 5400 instruments · sina ok, last sweep 2 s ago · "
        + "commit 12 ms, nothing pending")
  }

  @Test func `says why a source is not well, in place of its last sweep`() {
    let line = report {
      $0.sources[0].state = SourceState(.degraded, since: $0.now)
      $0.sources[0].fault = SourceFault(.transport(.resolve), host: "hq.sinajs.cn", since: $0.now)
    }.statusLine
    #expect(
      line.contains(
        " · sina degraded: cannot resolve hq.sinajs.cn (1 attempt since 10:00) · "), "\(line)")
  }

  @Test func `says when a closed market opens again`() throws {
    func line(_ day: String, _ hour: Int, _ minute: Int) throws -> String {
      let day = try #require(TradingDay(day))
      return report {
        $0.now = Timestamp(day: day, secondOfDay: hour * 3_600 + minute * 60)
        $0.calendar.nextSession = TradingCalendar.shanghai.nextSession(after: $0.now)
        $0.sources[0].freshness?.isInSession = false
      }.statusLine
    }
    let closed = "leading · market closed, next session "
    #expect(try line("2026-07-04", 10, 0).hasPrefix(closed + "Mon 09:15 Shanghai · "))
    #expect(try line("2026-07-06", 9, 14).hasPrefix(closed + "Mon 09:15 Shanghai · "))
    #expect(try line("2026-07-06", 9, 20).hasPrefix("leading · opening auction · "))
    #expect(try line("2026-07-06", 12, 0).hasPrefix(closed + "Mon 13:00 Shanghai · "))
    #expect(try line("2026-07-06", 15, 0).hasPrefix(closed + "Tue 09:15 Shanghai · "))
    // The week of the national holiday.
    #expect(try line("2026-09-30", 16, 0).hasPrefix(closed + "Thu 2026-10-08 09:15 Shanghai · "))
  }

  @Test func `says since when the store is away, and that nothing is lost`() {
    let line = report {
      $0.status.store.fault = .init(
        code: .connectionLost, since: $0.now.adding(seconds: -19 * 60))
      $0.backlog.lastPosition = JournalPosition(412)
      $0.status.journal.committed = JournalPosition(100)
    }.statusLine
    #expect(line.hasSuffix(" · no commits since 09:41, journal holds 312 entries"))
  }

  @Test func `says that the store is away also where nothing is to be committed`() {
    var idle = report { _ in }
    idle.storeAwaySince = idle.at.adding(seconds: -19 * 60)
    #expect(idle.statusLine.contains(" · no commits since "))
    #expect(!idle.statusLine.contains("nothing pending"))
  }

  @Test func `says what waits, what lags and which source is not well`() {
    let line = report {
      $0.backlog.pendingCandles = 12
      $0.backlog.isCatchingUp = true
      $0.backlog.entries = 90
      $0.sources[0].state = SourceState(.banned, since: $0.now)
      $0.sources[0].freshness?.isInSession = false
      var bars = SourceReport(source: .alpacaIEX, endpoint: "bars")
      bars.state = SourceState(.unauthorised, since: $0.now)
      bars.freshness = .init(isInSession: true, stalenessSeconds: 0, limitSeconds: 180)
      $0.sources.append(bars)
    }.statusLine
    #expect(
      line == "leading · market closed · 5400 instruments · sina banned, last sweep 2 s ago · "
        + "alpaca_iex bars unauthorised · commit 12 ms, 12 candles pending · "
        + "catching up, 90 entries behind")
  }

  @Test func `says that today is recorded without a calendar, and what is waited for`() {
    let line = report {
      ($0.calendar.daysLeft, $0.calendar.isTodaySupposed) = (-1, true)
    }.statusLine
    #expect(
      line.hasPrefix(
        "leading · waiting for the trading calendar, which ended on 2026-07-05: today is recorded "
          + "as a trading day, morning session · 5400 instruments · "), "\(line)")
  }

  @Test func `says which loop hangs`() {
    var report = report { _ in }
    report.engine = nil
    report.loops = [.init(name: "engine", ageMicroseconds: 31_000_000, isStale: true)]
    #expect(report.statusLine == "leading · no progress: engine")
  }
}
