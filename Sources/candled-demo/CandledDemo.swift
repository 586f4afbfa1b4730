import ArgumentParser
import Commands
import Commits
import DaemonCommands
import DemoView
import EmbeddedPostgres
import ExchangeSimulator
import Feeds
import Glibc
import Ingest
import Logging
import Market
import Operations
import Platform
import Store

/// `candled-demo`: a market day on this machine, with nothing to configure.
struct CandledDemo: AsyncParsableCommand, DrainsOnSignal {
  static let configuration = CommandConfiguration(
    commandName: "candled-demo",
    abstract: "Run a simulated market day into a private PostgreSQL.",
    discussion: Help.discussion(
      """
      Starts a private PostgreSQL and the daemon, faster than a real day. A simulated exchange in \
      the same process answers in the formats of the sources, so it needs no network and no keys. \
      The days behind it are filled in first, as `candled backfill` does it: day candles and \
      factors of all of them, minutes of the last five; with a dividend, a split, a suspension, \
      a listing and a delisting among them. Then the day begins, with the bars of New York's last \
      session; after the close, K-lines confirm its minutes. It ends with the simulated day or \
      with Ctrl-C and saves what is pending; the exit status is 75 if something was not saved.
      """,
      examples: [
        "candled-demo": "300 instruments at 60 times the speed",
        "candled-demo --instruments 5400 --speed 10": "the whole market",
        "candled-demo --days 250": "with a year behind it",
        "candled-demo --date 2026-07-03 --keep /tmp/day": "another day, and keep its database",
        "candled-demo --gateway": "with candled-gateway beside it, for curl and browsers",
        "candled-demo --open /tmp/day": "open the database of a kept demo, without polling",
      ]),
    version: BuildVersion.current)

  @Option(
    help: "Simulated seconds per real second; 0: as fast as the machine can, with nothing missed.")
  var speed = 60

  @Option(help: "Number of instruments.")
  var instruments = 300

  @Option(help: ArgumentHelp("The trading day to simulate.", valueName: "yyyy-mm-dd"))
  var date = "2026-07-06"

  @Option(help: "Trading days behind it; 0 for none.")
  var days = 30

  @Option(help: "The seed of the simulation: the same seed and date give the same days.")
  var seed: UInt64 = 1

  @Option(help: ArgumentHelp("Keep database and journal in this folder.", valueName: "folder"))
  var keep: String?

  @Option(
    help: ArgumentHelp("Open the database of a kept demo until Ctrl-C.", valueName: "folder"))
  var open: String?

  /// Half a minute before the opening auction's match: the first candle is 7 s away at 60×.
  private static let startSecondOfDay = Session.auctionMatch - 30
  /// When the day's certificates have been written and its minutes confirmed.
  private static let stopSecondOfDay = Session.afterHoursClose + 15 * 60
  private static let usEquities = "AAPL,MSFT,NVDA"
  /// Nobody waits for this process to end as systemd does for the daemon's.
  private static let drainMillisecondsMax: Int64 = 20_000

  @Flag(help: "Start candled-gateway beside it, on a port of loopback.")
  var gateway = false

  func validate() throws {
    guard open == nil || keep == nil else {
      throw ValidationError("--open and --keep exclude each other")
    }
    guard (0...1000).contains(speed) else {
      throw ValidationError("--speed takes a number from 0 to 1000")
    }
    guard (10...6000).contains(instruments) else {
      throw ValidationError("--instruments takes a number from 10 to 6000")
    }
    guard (0...DemoPast.daysMax).contains(days) else {
      throw ValidationError("--days takes a number from 0 to \(DemoPast.daysMax)")
    }
    guard let day = TradingDay(date) else {
      throw ValidationError("--date \(date): expected a date such as 2026-07-06")
    }
    guard TradingCalendar.shanghai.status(of: day) == .trading else {
      throw ValidationError("--date \(date): not a trading day")
    }
  }

  func run() async throws {
    if let open { return try await KeptDemo(open).serve() }
    guard let day = TradingDay(date) else { return }
    if let keep, KeptDemo(keep).isThere {
      throw CommandFailure(
        status: .cannotCreate,
        sentence: "\(keep) already holds a demo: open it with `candled-demo --open \(keep)`, or "
          + "name another folder")
    }
    let folder = try DemoFolder(keep)
    let (summary, unsaved): (DemoSummary?, Unsaved)
    do {
      (summary, unsaved) = try await play(day, in: folder)
    } catch {
      folder.remove()
      throw error
    }
    folder.remove()
    if let summary {
      if folder.isKept { _ = try folder.write(summary.text, to: KeptDemo.summaryName) }
      try StandardOutput.write(summary.text)
    }
    if unsaved.isNone { return }
    throw CommandFailure(status: .temporaryFailure, sentence: "not saved: \(unsaved)")
  }

  private func play(
    _ day: TradingDay, in folder: DemoFolder
  ) async throws -> (DemoSummary?, Unsaved) {
    StandardError.writeLine("starting a private PostgreSQL in \(folder.path) …")
    let server = EmbeddedServer(directory: folder.path + "/postgres")
    defer { try? server.stop() }
    // Before the simulated clock starts: it would run on while a cluster is made.
    try server.start()
    try Schema.apply(url: server.ownerConnectionString, sources: SourceRegistry.rows)
    // It has no configuration to read again; but a terminal that goes takes its demo with it.
    let stop = Latch<Void>()
    try ServiceSignals.watch(hangup: isatty(STDERR_FILENO) == 1 ? .stop : .ignore) {
      stop()
    }
    let past = DemoPast(days, before: day)
    let market = SimulatedMarket(
      seed: seed, day: day, instruments: instruments, previousDay: past.days.last)
    let time = Locked(EngineClock.stepped(start: past.now))
    let now = { @Sendable in time.withLock { $0.now } }
    let exchange = MemoryUpstream(
      SimulatedHistory(market, earlierDays: past.days, earlierMinuteDays: DemoPast.minuteDaysMax),
      clock: speed == 0 ? nil : now)
    let world = World(exchange: exchange, symbols: market.symbols, folder: folder)
    // In silence but for what fails.
    let session = try BackfillSession(
      settings(
        in: world,
        adding: "clock.mode=scaled", "clock.start=\(past.now)", "log.level=error"),
      upstream: exchange)
    if folder.isKept {
      _ = try folder.write("demo of \(day): not ended\n", to: KeptDemo.summaryName)
    }
    guard try await past.fill(market.symbols, by: session, until: stop) else {
      return (nil, Unsaved())
    }
    try server.gatherStatistics()
    let gateway = try await gateway ? DemoGateway(folder: folder) : nil
    defer { gateway?.stop() }
    let start = Timestamp(day: day, secondOfDay: Self.startSecondOfDay)
    let clock: EngineClock =
      speed == 0 ? .stepped(start: start) : .scaled(from: start, speed: Int64(speed))
    time.withLock { $0 = clock }
    let settings = try settings(
      in: world, adding: "clock.stop=\(Timestamp(day: day, secondOfDay: Self.stopSecondOfDay))")
    let share = market.symbols.first { $0.description.hasPrefix("sh6") } ?? market.symbols[0]
    return try await live(
      settings, clock: clock, in: world,
      showing: gateway?.lines(symbol: share.description) ?? [], until: stop)
  }

  /// The daemon, through the day.
  private func live(
    _ settings: Settings, clock: EngineClock, in world: World, showing lines: [String],
    until stop: Latch<Void>
  ) async throws -> (DemoSummary?, Unsaved) {
    let log = Logger(label: "candled") { label in
      LineLogHandler(
        label: label, control: LogControl(level: .warning, format: .text), mask: SecretMask())
    }
    let view = DemoScreen(speed: speed, symbols: world.symbols, gateway: lines)
    let begun = ContinuousClock.now
    var daemon = try Daemon(
      settings: settings, clock: clock, upstream: world.exchange, log: log)
    daemon.limits.drainMilliseconds = Self.drainMillisecondsMax
    let unsaved = try await daemon.run { handle in
      stop.whenSet { _ in handle.engine.stop() }
      await view.show(handle)
    }
    let seconds = Int((ContinuousClock.now - begun).components.seconds)
    let summary = await view.finish().map { last in
      DemoSummary(
        last: last, seconds: seconds, unsaved: unsaved.isNone ? nil : "\(unsaved)",
        folder: world.folder.isKept ? world.folder.path : nil)
    }
    return (summary, unsaved)
  }

  /// A demo's exchange, and where its data are.
  private struct World {
    let exchange: MemoryUpstream
    let symbols: [Symbol]
    let folder: DemoFolder
  }

  /// Dow Jones, NASDAQ and S&P 500. Shanghai and Shenzhen are instruments.
  private static let worldIndexes = "gb_$dji,gb_$ixic,gb_$inx"

  private func settings(in world: World, adding settings: String...) throws -> Settings {
    let list = world.symbols.map(\.description).joined(separator: ",")
    // At this speed a busy machine is silent for 12 s at once: the second would serve by chance.
    let live = SourceRegistry.liveSources(of: .live).prefix(1).map(\.name).joined()
    let own = [
      "state_directory=\(world.folder.path)", "quotes.symbols=\(list)",
      "quotes.overview=\(Self.worldIndexes)",
      "quotes.sources=\(live)",
    ]
    let sources = try SourceRegistry.all.flatMap { try overrides(of: $0, in: world) }
    return try ConfigurationFile.load(nil, overrides: own + settings + sources, table: .candled)
  }

  /// A source as the simulated exchange plays it.
  private func overrides(
    of source: any SourceDefinition, in world: World
  ) throws -> [String] {
    let budgets = [source.quotes?.requestsPerMinute, source.pace.requestsPerMinute]
    var overrides = budgets.compactMap { $0.map { "\($0.key)=600" } }
    if let symbols = source.bars?.recording?.symbols {
      overrides.append("\(symbols.key)=\(Self.usEquities)")
      if let declared = source.credentials {
        let key = (1...declared.words).map { "demo-key-\($0)" }.joined(separator: " ")
        let path = try world.folder.write(key + "\n", to: source.name + ".key")
        overrides.append("\(declared.file.key)=\(path)")
      }
    }
    return overrides
  }
}
