import Admin
import ArgumentParser
import Ingest
import Logging
import Operations

/// `candled run`: the daemon, until a signal or, in a simulation, the end of its time.
struct Run: AsyncParsableCommand, DrainsOnSignal {
  static let configuration = CommandConfiguration(
    abstract: "Run the daemon.",
    discussion: Help.discussion(
      """
      Polls the configured source, journals every answer, and writes candles until SIGTERM or \
      SIGINT; then saves what is pending and exits 0. Without store.url it runs a private \
      PostgreSQL in its state directory.
      """,
      examples: [
        "candled run --config config/candled.toml": "the configuration of this checkout",
        "candled run --set state_directory=/tmp/candled": "defaults but for one setting",
      ]))

  @OptionGroup var options: ConfigurationOptions

  func run() async throws {
    let configuration = try options.judged()
    // A daemon with nothing to ask for would look well and be of no use.
    // The calendar it asks for by itself.
    let problems = configuration.findings.filter { $0.status != .ok && $0.check != "calendar" }
    if let problem = problems.first {
      throw CommandFailure(
        status: problem.status, sentence: "\(problem.check): \(problem.detail)")
    }
    let settings = configuration.settings
    let mask = SecretMask()
    settings.register(in: mask)
    let log = Logger(label: "candled") { label in
      LineLogHandler(
        label: label, level: settings.logLevel, format: settings.logFormat, mask: mask)
    }
    let unsaved = try await CommandFailure.translating {
      let daemon = try Daemon(settings: settings, log: log)
      daemon.credentials.register(in: mask)
      ServiceSignals.watch { daemon.stop() }
      // Before anything that may take long or fail: whoever asks is told that it starts.
      let admin = settings.adminListen.flatMap { address in
        AdminServer(
          at: address,
          answering: AdminEndpoint(state: daemon.state, build: .current, mask: mask), log: log)
      }
      defer { admin?.stop() }
      return try await daemon.run { handle in
        log.notice("ready", metadata: ["look_inside": "\(handle.psqlLine)"])
      }
    }
    log.notice("stopped", metadata: ["unsaved_candles": "\(unsaved)"])
  }
}
