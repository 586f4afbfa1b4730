/// `candled schema`: the database's side of the contract. The SQL itself is in Sources/Store.

import ArgumentParser
import Commits
import Feeds
import Market
import Operations
import Postgres
import Store
import TerminalView

struct SchemaCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "schema",
    abstract: "Print the database schema, apply it, or compare a database with it.",
    discussion: Help.discussion(
      """
      The schema is part of this program. `candled run` applies it to the embedded PostgreSQL; \
      apply it to any other database yourself, once, as its owner.
      """,
      examples: [
        "candled schema print > schema.sql": "save the schema to read it",
        "candled schema apply --config candled.toml": "create the tables, views and roles",
        "candled schema check": "compare the database with this version",
      ]),
    subcommands: [Print.self, Apply.self, Check.self])

  struct Print: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Print the schema as SQL.",
      discussion: Help.discussion(
        "Plain SQL for psql. It may be applied again without a change.",
        examples: ["candled schema print | psql -1 mydatabase": "apply it with psql"]))

    func run() throws {
      try StandardOutput.write(Schema.text)
    }
  }

  struct Apply: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Apply the schema to the configured database.",
      discussion: Help.discussion(
        """
        Runs in one transaction and may be repeated without a change. It waits for readers one \
        second at a time so that the daemon is never blocked for long, prints which session \
        blocks it, and gives up after a minute (exit status 75).
        """,
        examples: [
          "candled schema apply --config candled.toml":
            "apply it to the database of store.url"
        ]))

    @OptionGroup var options: ConfigurationOptions

    func run() throws {
      let address = try options.load().storeAddress(asOwner: true)
      try Schema.apply(url: address, sources: SourceRegistry.rows) { StandardError.writeLine($0) }
      StandardError.writeLine("schema version \(Schema.version) is in place")
    }
  }

  struct Check: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Compare the configured database with the schema.",
      discussion: Help.discussion(
        "Prints one line per difference and exits 65 if there is one.",
        examples: [
          "candled schema check && echo same": "in a script",
          "candled schema check --json": "version and differences as one JSON object",
        ]))

    @OptionGroup var options: ConfigurationOptions

    @Flag(help: "Print one JSON object.")
    var json = false

    func run() throws {
      let differences = try Schema.check(url: options.load().storeAddress())
      let object = JSONText.object([
        ("version", .integer(Int64(Schema.version))), ("differences", .list(differences)),
      ])
      try StandardOutput.write(lines: json ? [object] : differences)
      if !differences.isEmpty { throw CommandFailure.silent(.dataError) }
    }
  }
}
