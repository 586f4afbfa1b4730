/// `candled check`: everything that would keep the daemon from its work, found before it starts.

import ArgumentParser
import Commands
import EmbeddedPostgres
import Ingest
import Market
import Operations
import Postgres
import Store

struct Check: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Check the configuration and what it needs.",
    discussion: Help.discussion(
      """
      Checks the configuration, the symbols, the trading calendar, the state directory and the \
      database. Sends no request to a source. Exits 0 if all checks pass, else with the status of \
      the first one that fails.
      """,
      examples: [
        "candled check --config candled.toml": "before a restart of the daemon",
        "candled check --offline": "without the database",
        "candled check --json": "one JSON object per check",
      ]))

  @OptionGroup var options: ConfigurationOptions

  @Flag(help: "Do not connect to the database.")
  var offline = false

  @Flag(help: "Print one JSON object per check.")
  var json = false

  func run() throws {
    let configuration = try options.validated()
    var findings = configuration.findings
    if !offline { findings.append(.database(configuration.settings)) }
    try Finding.report(findings, asJSON: json)
  }
}

extension Finding {
  fileprivate static func database(_ settings: Settings) -> Finding {
    if settings[StoreSettings.url] == nil, !settings.embeddedServer.isRunning {
      return serverBinaries(of: settings.embeddedServer)
    }
    do {
      let differences = try Schema.check(url: settings.storeAddress())
      guard let first = differences.first else {
        return Finding(check: "database", detail: "schema version \(Schema.version)")
      }
      return Finding(check: "database", status: .dataError, detail: first)
    } catch let error as StoreError {
      return Finding(
        check: "database", status: error.exitCode, detail: error.description)
    } catch {
      return Finding(check: "database", status: .unavailable, detail: "not running")
    }
  }

  /// The private cluster is made by the first run; all it needs is a server, and later that of the
  /// version that made it.
  private static func serverBinaries(of server: EmbeddedServer) -> Finding {
    guard server.hasBinaries,
      let major = server.major ?? ServerBinaries.installed().first?.major
    else {
      return Finding(
        check: "database", status: .unavailable,
        detail: "no PostgreSQL server programs: run \(server.installCommand)")
    }
    return Finding(
      check: "database",
      detail: "embedded PostgreSQL \(major), not running: `candled run` starts it")
  }
}
