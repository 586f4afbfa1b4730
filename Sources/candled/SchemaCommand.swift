/// `candled schema`: the database's side of the contract. The SQL itself is in Sources/Store.

import ArgumentParser
import Commands
import Commits
import Feeds
import Ingest
import Market
import Operations
import Postgres
import Store

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
    subcommands: [Print.self, Apply.self, Check.self, Recluster.self])

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
            "apply it to the database of store.url",
          "candled schema apply --replica --config replica.toml":
            "prepare an empty database for a subscription",
        ]))

    @OptionGroup var options: ConfigurationOptions

    @Flag(help: "For a logical replica: leave out the rows that come from its primary.")
    var replica = false

    func run() throws {
      let address = try options.load().storeAddress(asOwner: true)
      if replica {
        try Schema.applyForReplica(url: address) { StandardError.writeLine($0) }
        StandardError.writeLine(
          "schema version \(Schema.version) is in place for a logical replica: "
            + "create its subscription now")
        return
      }
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
      try SchemaDifferences.report(differences, version: Schema.version, asJSON: json)
    }
  }

  struct Recluster: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Put the candles of closed months in key order now.",
      discussion: Help.discussion(
        """
        The daemon does the same while no market trades. The minutes of an instrument then lie \
        beside each other, so that reading a year of them takes a fraction of the pages. Readers \
        and writers go on meanwhile; none waits for more than a second. It may be stopped or \
        killed: the next run continues. For a while the database takes 1.3 times a month more; \
        without that space nothing is begun. Exits 75 if a month is left.
        """,
        examples: [
          "candled schema recluster --config candled.toml": "after an import of old candles"
        ]))

    @OptionGroup var options: ConfigurationOptions

    func run() async throws {
      let settings = try options.load()
      let reclustering = Reclustering(
        url: try settings.storeAddress(), folder: settings.databaseFolder)
      let day = Reclustering.closedBy(EngineClock(settings).now)
      let isDone = try await reclustering.run(
        closedBy: day, mayGoOn: { true },
        report: { event in
          if case .moved = event { return }
          StandardError.writeLine("\(event)")
        })
      if !isDone { throw CommandFailure.silent(.temporaryFailure) }
    }
  }
}
