import Commands
import DemoView
import Feeds
import Glibc
import Ingest
import Market
import Polling
import TerminalView

/// Keeps the demo's view up to date: a live frame on a terminal, a line a minute elsewhere.
actor DemoScreen {
  private let speed: Int
  private let symbols: [Symbol]
  private let gateway: [String]
  private let mode = Terminal.mode(of: STDOUT_FILENO)
  private var task: Task<Void, Never>?
  private var handle: DaemonHandle?

  /// How many instruments the view has room for.
  private static let sharesMax = 9
  private static let usEquitiesMax = 3
  private static let frameNanoseconds: UInt64 = 100_000_000

  /// - Parameter gateway: lines to try on a gateway, if there is one.
  init(speed: Int, symbols: [Symbol], gateway: [String]) {
    self.speed = speed
    self.symbols = symbols
    self.gateway = gateway
  }

  /// Begins showing.
  func show(_ handle: DaemonHandle) {
    self.handle = handle
    // The page's address comes first, and stays when the screen is given back.
    if let page = gateway.first { show(page + "\n") }
    // Unstructured: the daemon begins to run once this returns; `finish` ends it.
    task = Task {
      switch mode {
      case .live(let color): await drawFrames(handle, color: color)
      case .lines: await printLines(handle)
      }
    }
  }

  /// Gives the terminal back.
  /// - Returns: the last state; nil if it never came to one.
  func finish() async -> DemoSnapshot? {
    task?.cancel()
    await task?.value
    guard let handle else { return nil }
    return await snapshot(handle)
  }

  private func drawFrames(_ handle: DaemonHandle, color: Bool) async {
    show(Terminal.enterScreen)
    while !Task.isCancelled {
      let size = Terminal.size(of: STDOUT_FILENO)
      show(
        await snapshot(handle).render(width: size.width, height: size.height, color: color))
      try? await Task.sleep(nanoseconds: DemoScreen.frameNanoseconds)
    }
    show(Terminal.leaveScreen)
  }

  /// The first candle, then a line a minute.
  private func printLines(_ handle: DaemonHandle) async {
    show("look inside: \(handle.psqlLine)\n")
    for line in gateway.dropFirst() { show("gateway: \(line)\n") }
    var shownMinute: Int64 = -1
    while !Task.isCancelled {
      let minute = EngineClock.realNow().seconds / 60
      let snapshot = await snapshot(handle)
      if minute != shownMinute, snapshot.results.candles > 0 {
        shownMinute = minute
        show(snapshot.line() + "\n")
      }
      try? await Task.sleep(nanoseconds: DemoScreen.frameNanoseconds)
    }
    show("\(await snapshot(handle).line())\n")
  }

  /// A reader that left ends the showing, not the daemon.
  private func show(_ text: String) {
    do { try StandardOutput.write(text) } catch { task?.cancel() }
  }

  private func snapshot(_ handle: DaemonHandle) async -> DemoSnapshot {
    let report = await handle.engine.report(on: Array(symbols.prefix(DemoScreen.sharesMax)))
    var snapshot = DemoSnapshot(at: report.now, speed: speed, instruments: symbols.count)
    let status = report.status
    let commits = status.commits
    snapshot.polling.sweeps = status.quotes.sweeps
    snapshot.polling.sweepsPerMinute = ExactDecimal(
      Int64(status.quotes.sweepsInLastMinute(at: report.now)))
    if let quotes = report.quotes {
      snapshot.polling.requestsAnswered = quotes.requests - quotes.failures
      snapshot.polling.requestsFailed = quotes.failures
    }
    snapshot.storing.lagMicroseconds = commits.count > 0 ? commits.lag.microseconds : nil
    snapshot.storing.commitMicroseconds = commits.count > 0 ? commits.duration.microseconds : nil
    snapshot.storing.sequence = commits.sequence
    snapshot.polling.rows = report.counters.snapshots
    snapshot.results.candles = commits.rows.candles
    snapshot.results.gaps = report.counters.gaps
    snapshot.results.revisions = report.counters.revisions
    snapshot.results.rejected = report.counters.rejectedRows.values.reduce(0, +)
    snapshot.psql = handle.psqlLine
    snapshot.gateway = gateway
    snapshot.polling.source = condition(of: report.quotes)
    snapshot.storing.store =
      status.store.fault.map { .init("\($0.code)", health: .bad) } ?? .init("ok", health: .good)
    // Before the close none can be of this day.
    let isOver = report.now.shanghaiSecondOfDay >= Session.afternoonClose
    if isOver, report.counters.certificates > 0 {
      snapshot.conservation = .init(
        certificates: report.counters.certificates,
        balanced: report.counters.balancedCertificates)
    }
    snapshot.quotes =
      report.snapshots.map { DemoQuote($0, at: report.now) }
      + report.latestBars.prefix(DemoScreen.usEquitiesMax).map { DemoQuote($0) }
    return snapshot
  }

  private func condition(of quotes: SourceReport?) -> DemoSnapshot.Condition {
    guard let state = quotes?.state else { return .init("waiting", health: .waiting) }
    return .init("\(state.condition)", health: state.condition == .ok ? .good : .bad)
  }
}

extension DemoQuote {
  /// An American series has no quote: its last minute stands for it.
  fileprivate init(_ bar: Candle) {
    self.init(
      symbol: bar.symbol, name: "\(bar.source.name) bars", last: bar.close, previousClose: .zero,
      forming: bar)
  }

  /// Over lunch the book holds the afternoon's first minute ready, which has not begun.
  fileprivate init(_ instrument: EngineReport.Snapshot, at now: Timestamp) {
    self.init(
      symbol: instrument.quote.symbol, name: instrument.name, last: instrument.quote.last,
      previousClose: instrument.quote.previousClose,
      forming: instrument.forming.flatMap { $0.openedAt > now ? nil : $0 })
  }
}
