/// `candled-gateway schema`: what apps keep in the database. The SQL itself is in Sources/AppStore.

import AppStore
import ArgumentParser
import Commands
import Operations
import Postgres

struct AppSchemaCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "schema",
    abstract: "Print the schema candled_app, apply it, or compare a database with it.",
    discussion: Help.discussion(
      """
      Tokens and what users keep, paper accounts too, are in a schema of their own, candled_app, \
      in the database that candled writes. Apply it once, after `candled schema apply`, and after \
      an upgrade.
      """,
      examples: [
        "candled-gateway schema apply --config candled.toml": "create the tables and the role",
        "candled-gateway schema check": "compare the database with this version",
        "candled-gateway schema print": "read it as SQL",
      ]),
    subcommands: [Print.self, Apply.self, Check.self])

  struct Print: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Print the schema as SQL.",
      discussion: Help.discussion(
        "Plain SQL for psql. It may be applied again without a change.",
        examples: ["candled-gateway schema print | psql -1 mydatabase": "apply it with psql"]))

    func run() throws {
      try StandardOutput.write(AppSchema.text)
    }
  }

  struct Apply: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Apply the schema to the configured database.",
      discussion: Help.discussion(
        """
        Runs in one transaction and may be repeated without a change. It prints which session \
        blocks it, and gives up after a minute (exit status 75).
        """,
        examples: [
          "candled-gateway schema apply --set gateway.store_url=postgres:///market":
            "as a user who may create roles"
        ]))

    @OptionGroup var options: ConfigurationOptions

    func run() throws {
      let address = try options.load().gatewayAddress(asOwner: true)
      try SchemaVersion.candled.require(
        PostgresConnection(url: address, application: "candled-gateway schema"))
      try AppSchema.file.apply(url: address, waiting: { StandardError.writeLine($0) })
      StandardError.writeLine(
        "candled_app schema version \(AppSchema.version.current) is in place")
    }
  }

  struct Check: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Compare the configured database with the schema.",
      discussion: Help.discussion(
        "Prints one line per difference and exits 65 if there is one.",
        examples: [
          "candled-gateway schema check && echo same": "in a script",
          "candled-gateway schema check --json": "version and differences as one JSON object",
        ]))

    @OptionGroup var options: ConfigurationOptions

    @Flag(help: "Print one JSON object.")
    var json = false

    func run() throws {
      let differences = try AppSchema.file.check(url: options.load().gatewayAddress())
      try SchemaDifferences.report(
        differences, version: AppSchema.version.current, asJSON: json)
    }
  }
}
