import Admin
import ArgumentParser
import Commands
import DaemonCommands
import Ingest
import Logging
import Operations
import Platform

/// `candled run`: the daemon, until a signal or, in a simulation, the end of its time.
struct Run: AsyncParsableCommand, DrainsOnSignal {
  static let configuration = CommandConfiguration(
    abstract: "Run the daemon.",
    discussion: Help.discussion(
      """
      Polls the configured sources, journals every response and writes candles until SIGTERM or \
      SIGINT; then saves what is pending and exits 0. Without store.url it runs a private \
      PostgreSQL in its state directory.
      """,
      examples: [
        "candled run --config config/candled.toml": "the configuration of this checkout",
        "candled run --set quotes.symbols=sh600519 --set state_directory=/tmp/candled":
          "defaults, two settings changed",
      ]))

  @OptionGroup var options: ConfigurationOptions

  /// Of the whole end: the drain's 8 s, and what hangs on a database that does not answer.
  private static let stopSecondsMax = 9
  /// The private PostgreSQL gets its 60 s beside that.
  private static let serverStopSecondsMax = 65

  func run() async throws {
    let mask = SecretMask()
    let notifier = ServiceNotifier.fromEnvironment(mask: mask)
    do {
      try await run(masking: mask, notifying: notifier)
    } catch {
      if let sentence = CommandFailure(of: error)?.sentence { notifier?.status(sentence) }
      throw error
    }
  }

  private func run(
    masking mask: SecretMask, notifying notifier: ServiceNotifier?
  ) async throws {
    let configuration = try accepted()
    let settings = configuration.settings
    try FolderOwner.become(of: settings[StateSettings.directory])
    configuration.register(in: mask)
    let control = LogControl(settings)
    let log = Logger(label: "candled") { label in
      LineLogHandler(label: label, control: control, mask: mask)
    }
    let daemon = Daemon(configuration: configuration, log: log)
    let reporter = notifier.map { ServiceReporter($0, state: daemon.state, log: log) }
    // Several reloads that wait are one.
    let (reloads, inbox) = AsyncStream.makeStream(
      of: Void.self, bufferingPolicy: .bufferingNewest(1))
    try watch(daemon, reporter: reporter, reloads: inbox, log: log)
    async let _: Void? = reporter?.run()
    async let _: Void = Allocator.keepTrimming()
    async let _: Void = reload(
      daemon, on: reloads, reporter: reporter, mask: mask, control: control)
    // Before anything that may take long or fail: whoever asks is told that it starts.
    let admin = settings[AdminSettings.listen].map { address in
      AdminServer(
        at: address,
        answering: AdminEndpoint(state: daemon.state, mask: mask), log: log)
    }
    defer { admin?.stop() }
    let unsaved = try await daemon.run { handle in
      log.notice("ready", metadata: ["look_inside": "\(handle.psqlLine)"])
    }
    let end: Logger.Metadata = [
      "unsaved_candles": "\(unsaved.candles)", "unsaved_entries": "\(unsaved.entries)",
    ]
    if unsaved.isNone {
      log.notice("stopped", metadata: end)
    } else {
      log.warning(
        "stopped with entries not yet in the database, the next start saves them", metadata: end)
    }
  }

  /// A daemon without instruments would look healthy and be of no use.
  private func accepted() throws -> ValidatedConfiguration {
    let configuration = try options.validated()
    guard let problem = configuration.problem else { return configuration }
    throw CommandFailure(
      status: problem.status, sentence: "\(problem.check): \(problem.detail)")
  }

  /// From here on signals are requests. One that came before the daemon was up is not lost: a stop
  /// ends the start, and a reload is made once there is something to reload.
  private func watch(
    _ daemon: Daemon, reporter: ServiceReporter?, reloads: AsyncStream<Void>.Continuation,
    log: Logger
  ) throws(CommandFailure) {
    try ServiceSignals.watch(
      hangup: .reload { reloads.yield() },
      secondsMax: daemon.hasPrivateServer ? Self.serverStopSecondsMax : Self.stopSecondsMax,
      late: {
        log.error(
          "stopped before the database confirmed the last commit, the next start saves the rest")
      },
      stop: {
        reporter?.stopping()
        log.notice("stopping, saving what is pending")
        daemon.stop()
      })
  }

  /// Until cancelled.
  private func reload(
    _ daemon: Daemon, on orders: AsyncStream<Void>, reporter: ServiceReporter?, mask: SecretMask,
    control: LogControl
  ) async {
    let reload = { @Sendable () async in
      let verdict = await daemon.reload { () throws(ConfigurationError) in
        let new = try ValidatedConfiguration(path: options.path, overrides: options.overrides)
        new.register(in: mask)
        return new
      }
      let present = SecretMask()
      daemon.register(in: present)
      mask.renew(with: present)
      if verdict.isAccepted { daemon.applyLog(to: control) }
    }
    for await _ in orders {
      await daemon.state.up()
      if Task.isCancelled { return }
      if let reporter { await reporter.reloading(reload) } else { await reload() }
    }
  }
}
