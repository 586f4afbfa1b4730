/// `candled doctor`: whether each source still answers as candled expects, found in a minute.

import ArgumentParser
import Commands
import Feeds
import Ingest
import Market
import Operations

struct Doctor: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Check that each source still answers as expected.",
    discussion: Help.discussion(
      """
      Sends at most \(SourceCheck.requestsMax) of the daemon's own requests to each configured \
      source, within its rate limit, and decodes the responses as the daemon does. A response is \
      broken where it is refused, more than 1 % of its rows are, its quotes are not in the order \
      of the request, or its time stamps are not of now. Writes nothing to the database or the \
      journal.

      Exits 0 if all responses are sound, 65 if one is broken, 69 if a source cannot be reached.
      """,
      examples: [
        "candled doctor": "all sources that are configured",
        "candled doctor --source \(SourceRegistry.all[0].name)": "one source",
        "candled doctor --bundle report.jsonl": "with the responses in a file, for a report",
      ]))

  @OptionGroup var options: ConfigurationOptions

  @Option(name: .customLong("source"), help: "Check this source only; may be repeated.")
  var sources: [SourceName] = []

  @Option(
    help: ArgumentHelp(
      "Write requests and responses to a new file, without keys.", valueName: "file"),
    completion: .file())
  var bundle: String?

  @Flag(help: "Print one JSON object per request.")
  var json = false

  func run() async throws {
    let configuration = try options.validated()
    let credentials = try SourceCredentials(configuration.settings)
    var report = DoctorReport()
    var chosen: [any SourceDefinition] = []
    for source in SourceRegistry.all where isWanted(source) {
      guard let declared = source.credentials, credentials.keys(of: source).isEmpty else {
        chosen.append(source)
        continue
      }
      let reason = "no \(declared.noun): set \(declared.file.key)"
      guard sources.isEmpty else {
        throw CommandFailure(status: .configuration, sentence: "\(source.name) has \(reason)")
      }
      report.findings.append(
        CheckFinding(source: source.name, request: "any", verdict: .untried(reason)))
    }
    // Before any request: a name that is taken must not cost them.
    let file = try bundle.map { try DoctorBundle(creating: $0, hiding: configuration) }
    let run = try DoctorRun(chosen, configuration: configuration, credentials: credentials)
    try await run.run { try file?.add($0) }
    report.add(run)
    try StandardOutput.write(json ? report.jsonLines : report.text)
    if let bundle { StandardError.writeLine("the requests and responses are in \(bundle)") }
    if report.status != .ok { throw CommandFailure.silent(report.status) }
  }

  private func isWanted(_ source: any SourceDefinition) -> Bool {
    sources.isEmpty || sources.contains { $0.value == source.name }
  }
}

/// A source by the name of its section in the configuration.
struct SourceName: ExpressibleByArgument {
  let value: String

  init?(argument: String) {
    guard Self.allValueStrings.contains(argument) else { return nil }
    value = argument
  }

  static var allValueStrings: [String] { SourceRegistry.all.map(\.name) }
}
