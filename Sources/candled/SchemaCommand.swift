/// `candled schema`: the database's side of the contract. The SQL itself is in Sources/Store.

import ArgumentParser
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
      The schema is part of this binary. Where the embedded PostgreSQL is used, `candled run` \
      applies it; elsewhere whoever owns the database does, once.
      """,
      examples: [
        "candled schema print > schema.sql": "read it first",
        "candled schema apply --config candled.toml": "make the tables, views and roles",
        "candled schema check": "is the database as this version needs it?",
      ]),
    subcommands: [Print.self, Apply.self, Check.self])

  struct Print: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Print the schema as SQL.",
      discussion: Help.discussion(
        "Plain SQL for psql: everything in one transaction, and a second time changes nothing.",
        examples: ["candled schema print | psql -1 mydatabase": "apply it by hand"]))

    func run() throws {
      try StandardOutput.write(Schema.text)
    }
  }

  struct Apply: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Apply the schema to the configured database.",
      discussion: Help.discussion(
        """
        In one transaction. A second time changes nothing. It waits for readers a second at a \
        time, so that the daemon never waits long behind it, names who is in the way, and gives up \
        after a minute (exit 75).
        """,
        examples: [
          "candled schema apply --config candled.toml":
            "apply it to the database of store.url"
        ]))

    @OptionGroup var options: ConfigurationOptions

    func run() throws {
      let address = try options.load().storeAddress(asOwner: true)
      do throws(StoreError) {
        try Schema.apply(url: address) { StandardError.writeLine($0) }
      } catch {
        throw CommandFailure(error)
      }
      StandardError.writeLine("schema version \(Schema.version) is in place")
    }
  }

  struct Check: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Compare the configured database with the schema.",
      discussion: Help.discussion(
        "Prints one line a difference and exits 65 if there is one.",
        examples: [
          "candled schema check && echo fit": "in a script",
          "candled schema check --json": "version and differences as one JSON object",
        ]))

    @OptionGroup var options: ConfigurationOptions

    @Flag(help: "Print one JSON object.")
    var json = false

    func run() throws {
      let differences = try self.differences(at: options.load().storeAddress())
      let object = JSONText.object([
        ("version", .integer(Int64(Schema.version))), ("differences", .list(differences)),
      ])
      try StandardOutput.write(lines: json ? [object] : differences)
      if !differences.isEmpty { throw CommandFailure.silent(.dataError) }
    }

    private func differences(at address: String) throws(CommandFailure) -> [String] {
      do throws(StoreError) {
        return try Schema.check(url: address)
      } catch {
        throw CommandFailure(error)
      }
    }
  }
}
