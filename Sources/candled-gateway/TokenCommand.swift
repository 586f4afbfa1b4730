/// `candled-gateway token`: who may use the gateway.

import AppStore
import ArgumentParser
import Commands
import Market
import Operations
import Platform
import TerminalView

extension TokenScope: ExpressibleByArgument {}

struct TokenCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "token",
    abstract: "Create, list and revoke tokens of apps.",
    discussion: Help.discussion(
      """
      An app sends its token with each request: Authorization: Bearer cndl_…. The database keeps \
      only a hash. Running gateways take changes up at once.
      """,
      examples: [
        "candled-gateway token create --name phone --scope market": "print a new token, once",
        "candled-gateway token list": "all tokens, without their secrets",
        "candled-gateway token revoke 7": "refuse token 7 from now on",
      ]),
    subcommands: [Create.self, List.self, Revoke.self])

  struct Create: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Create a token and print it.",
      discussion: Help.discussion(
        """
        Prints the token to standard output, this once: it cannot be shown again. Scopes: market \
        (quotes and candles), account (watchlists, alerts, webhooks, and paper accounts to read), \
        trade (change paper accounts), admin (nothing yet).
        """,
        examples: [
          "candled-gateway token create --name phone --scope market": "for reading the market",
          "candled-gateway token create --name laptop --scope market --scope account":
            "and for watchlists and alerts",
          "candled-gateway token create --name ci --scope market --days 30": "for 30 days",
        ]))

    @OptionGroup var options: ConfigurationOptions

    @Option(help: "Which device or program has it.")
    var name: String

    @Option(help: "What it allows: market, account, trade or admin; may be repeated.")
    var scope: [TokenScope]

    @Option(help: "Whose watchlists, alerts and accounts it opens: a user's tokens share them.")
    var user = "default"

    @Option(help: "Days after which it expires. (default: never)")
    var days: Int?

    func validate() throws {
      guard days.map((1...36_500).contains) ?? true else {
        throw ValidationError("--days: expected 1 to 36500")
      }
      if scope.isEmpty { throw ValidationError("--scope: expected at least one") }
    }

    func run() throws {
      let table = try options.tokens()
      var generator = SystemRandomNumberGenerator()
      let secret = TokenSecret(using: &generator)
      let token = try table.create(
        secret, user: user, name: name, scopes: Set(scope),
        expiresAt: days.map {
          Timestamp(microseconds: SystemClock.realMicroseconds() + Int64($0) * 86_400_000_000)
        })
      try StandardOutput.write(secret.reveal() + "\n")
      StandardError.writeLine("token \(token.id) is in force; it is not shown again")
    }
  }

  struct List: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "List all tokens, without their secrets.",
      discussion: Help.discussion(
        "Also those that have expired or were revoked.",
        examples: [
          "candled-gateway token list": "as a table",
          "candled-gateway token list --json": "one JSON object per token",
        ]))

    @OptionGroup var options: ConfigurationOptions

    @Flag(help: "Print one JSON object per token.")
    var json = false

    func run() throws {
      let now = Timestamp(microseconds: SystemClock.realMicroseconds())
      let columns = ["id", "user", "name", "scopes", "created", "last_used", "state"]
      try StandardOutput.write(
        ResultWriter.text(
          format: json ? .jsonl : .table, columns: columns.map { ResultColumn($0) },
          rows: try options.tokens().list().map { token in
            [
              .text(String(token.id)), .text(token.user), .text(token.name),
              .text(token.scopes.map(\.rawValue).sorted().joined(separator: " ")),
              .text(token.createdAt.description),
              token.lastUsedDay.map { .text($0.description) } ?? .null,
              .text(token.state(at: now)),
            ]
          }))
    }
  }

  struct Revoke: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Revoke a token.",
      discussion: Help.discussion(
        "Gateways refuse it at once. Its row stays in the list.",
        examples: ["candled-gateway token revoke 7": "the number is in `token list`"]))

    @OptionGroup var options: ConfigurationOptions

    @Argument(help: "The number of the token.")
    var id: Int64

    func run() throws {
      try options.tokens().revoke(id)
      StandardError.writeLine("token \(id) is revoked")
    }
  }
}

extension ConfigurationOptions {
  fileprivate func tokens() throws -> TokenTable {
    TokenTable(try appConnection(of: "token"))
  }
}

extension Token {
  fileprivate func state(at now: Timestamp) -> String {
    if let revokedAt { return "revoked \(revokedAt)" }
    guard let expiresAt else { return "in force" }
    return expiresAt.microseconds <= now.microseconds
      ? "expired \(expiresAt)" : "in force until \(expiresAt)"
  }
}
