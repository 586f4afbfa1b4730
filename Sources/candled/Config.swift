/// `candled config`: what can be set, and what is set.

import ArgumentParser
import Ingest
import Operations
import TerminalView

struct Config: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Print the configuration in force, or an example with every setting.",
    discussion: Help.discussion(
      """
      Later layers win: the default, the file, the files conf.d/*.toml beside it by name, --set.
      """,
      examples: [
        "candled config example > candled.toml": "begin a configuration",
        "candled config print --config candled.toml":
          "the settings in force, and where each was set",
      ]),
    subcommands: [Print.self, Example.self])

  struct Print: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Print every setting in force and where it was set.",
      discussion: Help.discussion(
        "Secrets are masked. A wrong configuration is reported line by line and exits 78.",
        examples: [
          "candled config print": "the settings of /etc/candled/candled.toml",
          "candled config print --set quotes.cadence=6s": "what an override would change",
          "candled config print --json": "one JSON object a setting",
        ]))

    @OptionGroup var options: ConfigurationOptions

    @Flag(help: "Print one JSON object a setting.")
    var json = false

    func run() throws {
      let settings = try options.load()
      guard json else { return try StandardOutput.write(settings.inForce) }
      try StandardOutput.write(
        lines: settings.rows.map { row in
          JSONText.object([
            ("key", .text(row.key)), ("value", row.value.map { .text($0) } ?? .null),
            ("origin", .text(row.origin)), ("line", row.line.map { .integer(Int64($0)) } ?? .null),
          ])
        })
    }
  }

  struct Example: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Print a commented configuration with every setting.",
      discussion: Help.discussion(
        "It is valid as it stands; settings at their defaults are commented out.",
        examples: ["candled config example > candled.toml": "begin a configuration"]))

    func run() throws {
      try StandardOutput.write(SettingTable.candled.example)
    }
  }
}
