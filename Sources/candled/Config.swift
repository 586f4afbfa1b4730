/// `candled config`: what can be set, and what is set.

import ArgumentParser
import Commands
import Ingest
import Operations
import TerminalView

struct Config: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Print the configuration in force, or an example with every setting.",
    discussion: Help.discussion(
      """
      Later layers win: defaults, the file, the files in conf.d/ beside it by name, --set.
      """,
      examples: [
        "candled config example > candled.toml": "start a configuration file",
        "candled config print --config candled.toml":
          "the settings in force, and where each one was set",
      ]),
    subcommands: [Print.self, Example.self])

  struct Print: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Print the effective settings and where each one was set.",
      discussion: Help.discussion(
        "Secrets are masked. An invalid configuration is reported line by line (exit status 78).",
        examples: [
          "candled config print": "the settings of /etc/candled/candled.toml",
          "candled config print --set quotes.cadence=6s": "the same with one setting changed",
          "candled config print --json": "one JSON object per setting",
        ]))

    @OptionGroup var options: ConfigurationOptions

    @Flag(help: "Print one JSON object per setting.")
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
        "The output is a valid configuration; settings at their defaults are commented out.",
        examples: ["candled config example > candled.toml": "start a configuration file"]))

    func run() throws {
      try StandardOutput.write(SettingTable.candled.example)
    }
  }
}
