/// `candled-gateway check`: what would keep the gateway from serving, found before it starts.

import AppStore
import ArgumentParser
import Commands
import Market
import Operations
import Postgres

struct CheckCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract: "Check the configuration and the database.",
    discussion: Help.discussion(
      """
      Checks the configuration, the address to listen at, both schemas of the database and whether \
      any app could be let in. Exits 0 if all checks pass, else with the status of the first one \
      that fails.
      """,
      examples: [
        "candled-gateway check --config candled.toml": "before a restart of the gateway",
        "candled-gateway check --offline": "without the database",
        "candled-gateway check --json": "one JSON object per check",
      ]))

  @OptionGroup var options: ConfigurationOptions

  @Flag(help: "Do not connect to the database.")
  var offline = false

  @Flag(help: "Print one JSON object per check.")
  var json = false

  func run() throws {
    let settings = try options.load()
    var findings = [Finding.configuration(options.path), .listening(settings)]
    if !offline { findings += Finding.database(settings) }
    try Finding.report(findings, asJSON: json)
  }
}

extension Finding {
  fileprivate static func listening(_ settings: Settings) -> Finding {
    let address = settings[GatewaySettings.listen]
    if let obstacle = address?.obstacle {
      return Finding(check: "gateway.listen", status: .configuration, detail: obstacle)
    }
    return Finding(check: "gateway.listen", detail: address?.description ?? "nowhere")
  }

  fileprivate static func database(_ settings: Settings) -> [Finding] {
    var findings: [Finding] = []
    do {
      let address = try settings.gatewayAddress()
      try SchemaVersion.candled.require(
        PostgresConnection(url: address, application: "candled-gateway check"))
      findings.append(
        Finding(check: "database", detail: "schema version \(SchemaVersion.candled.current)"))
      let differences = try AppSchema.file.check(url: address)
      let version = "candled_app schema version \(AppSchema.version.current)"
      findings.append(
        Finding(
          check: "candled_app", status: differences.isEmpty ? .ok : .dataError,
          detail: differences.first ?? version))
      if differences.isEmpty { findings.append(try tokens(settings, address: address)) }
    } catch {
      let failure = CommandFailure(ofGateway: error)
      findings.append(
        Finding(
          check: findings.isEmpty ? "database" : "candled_app",
          status: failure?.status ?? .software, detail: failure?.sentence ?? "cannot be checked"))
    }
    return findings
  }

  private static func tokens(_ settings: Settings, address: String) throws -> Finding {
    let connection = try AppConnection(url: address, application: "candled-gateway check")
    let count = try TokenTable(connection).inForce().count
    guard count == 0, !settings[GatewaySettings.anonymous] else {
      let others = settings[GatewaySettings.anonymous] ? ", and the market without one" : ""
      return Finding(check: "tokens", detail: "\(count) in force\(others)")
    }
    return Finding(
      check: "tokens", status: .configuration,
      detail: "none in force: run `candled-gateway token create`, or set gateway.anonymous")
  }
}
