import ArgumentParser
import Ingest
import Logging
import Operations

/// `candled run`: the daemon, until a signal or, in a simulation, the end of its time.
struct Run: AsyncParsableCommand {
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

  @OptionGroup var configuration: ConfigurationOptions

  func run() async throws {
    let settings = try configuration.load()
    let mask = SecretMask()
    settings.register(in: mask)
    let log = Logger(label: "candled") { label in
      LineLogHandler(
        label: label, level: settings.logLevel, format: settings.logFormat, mask: mask)
    }
    let unsaved = try await CommandFailure.translating {
      try await Daemon(settings: settings, log: log).run { handle in
        log.notice("ready", metadata: ["look_inside": "\(handle.psqlLine)"])
        StopSignals.watch { handle.engine.stop() }
      }
    }
    log.notice("stopped", metadata: ["unsaved_candles": "\(unsaved)"])
  }
}

/// `--config` and `--set`, the same for every command that has a configuration.
struct ConfigurationOptions: ParsableArguments {
  @Option(name: .long, help: "A TOML file; without one, every setting has its default.")
  var config: String?

  @Option(
    name: .customLong("set"), parsing: .singleValue,
    help: ArgumentHelp("One setting in place of the file's.", valueName: "key=value"))
  var overrides: [String] = []

  func load() throws -> Settings {
    do throws(ConfigurationError) {
      return try ConfigurationFile.load(config, overrides: overrides)
    } catch {
      throw CommandFailure(status: error.exitCode, sentence: "\(error)")
    }
  }
}
