import Foundation
import Glibc
import Postgres
import TestSupport
import TestTraits
import Testing

@Suite(.ownThread) struct `candled-gateway` {
  private func run(_ arguments: [String], input: String = "") throws -> BuiltBinary.Run {
    try BuiltBinary.run(
      arguments, input: Array(input.utf8),
      under: BuiltBinary.Conditions(program: BuiltBinary.gateway))
  }

  /// Port 1 is reserved (tcpmux): nothing listens there.
  private static let away = ["--set", "gateway.store_url=postgres://127.0.0.1:1/x"]

  @Test func `prints its version`() throws {
    let text = try run(["--version"])
    #expect(text.status == 0 && text.output.hasPrefix("0."))
  }

  @Test(arguments: [
    [], ["run"], ["check"], ["token"], ["token", "create"], ["token", "list"],
    ["token", "revoke"], ["corporate-action"], ["corporate-action", "dividend"],
    ["corporate-action", "bonus"], ["corporate-action", "withdraw"], ["corporate-action", "list"],
    ["verify"], ["schema"], ["schema", "print"], ["schema", "apply"], ["schema", "check"],
  ])
  func `explains each command with examples`(command: [String]) throws {
    let help = try run(command + ["--help"])
    #expect(help.status == 0 && help.errors.isEmpty)
    #expect(help.output.contains("\nEXAMPLES:\n  candled-gateway "))
    let lines = help.output.split(separator: "\n").filter { !$0.hasPrefix("USAGE:") }
    #expect(lines.allSatisfy { $0.count <= 80 })
  }

  @Test(arguments: [["bake"], ["run", "--colour"], ["token", "create", "--scope", "market"]])
  func `exits 64 for a wrong command line`(arguments: [String]) throws {
    let wrong = try run(arguments)
    #expect(wrong.status == 64 && wrong.output.isEmpty && !wrong.errors.isEmpty)
  }

  @Test(arguments: ["run", "check"])
  func `names file, line, setting and what was expected, and exits 78`(command: String) throws {
    let wrong = try run(
      [command, "--config", "/dev/stdin", "--set", "gateway.anonymous=perhaps"],
      input: """
        [gateway]
        listen = "example.com:80"
        origin = ["https://a.example"]
        connections_max = 0
        """)
    #expect(wrong.status == 78 && wrong.output.isEmpty)
    let file = "candled-gateway: /dev/stdin"
    #expect(
      wrong.errors.split(separator: "\n").map(String.init) == [
        "\(file):2: gateway.listen: expected a numeric address and port such as "
          + "\"127.0.0.1:8466\", or a path, found \"example.com:80\"",
        "\(file):3: gateway.origin: unknown setting; did you mean gateway.origins?",
        "\(file):4: gateway.connections_max: expected an integer in 1…60000, found 0",
        "candled-gateway: --set: gateway.anonymous: expected true or false, found \"perhaps\"",
      ])
  }

  @Test(arguments: [
    ["run"], ["check"], ["token", "list"], ["schema", "apply"], ["schema", "check"],
  ])
  func `exits 66 without the file it was given`(command: [String]) throws {
    let missing = try run(command + ["--config", "/nonexistent.toml"])
    #expect(missing.status == 66 && missing.errors.contains("/nonexistent.toml"))
  }

  @Test(arguments: ["run", "verify"])
  func `reads the rules that fees are computed by, and exits 78 for a wrong one`(
    command: String
  ) throws {
    let wrong = try run(
      [command, "--set", "rules.file=/dev/stdin"] + Self.away,
      input: "cn,,,tick,free,2026-07-06,,test\n")
    #expect(wrong.status == 78 && wrong.output.isEmpty)
    #expect(wrong.errors.contains("/dev/stdin:1: value: expected a positive price"))
  }

  @Test(arguments: [
    ["run"], ["token", "list"], ["token", "revoke", "1"], ["schema", "apply"], ["schema", "check"],
  ])
  func `exits 69 where no database is configured or running`(command: [String]) throws {
    let none = try run(command + ["--set", "state_directory=/tmp/candled-none"])
    #expect(none.status == 69 && none.output.isEmpty)
    #expect(none.errors.contains("neither gateway.store_url nor store.url is set"))
  }

  @Test(arguments: [["token", "list"], ["schema", "apply"], ["schema", "check"]])
  func `exits 69 where the database cannot be reached`(command: [String]) throws {
    let none = try run(command + Self.away)
    #expect(none.status == 69 && none.output.isEmpty)
    #expect(none.errors.contains("cannot reach PostgreSQL: Connection refused"))
  }

  @Test func `check prints which check failed, and exits with its status`() throws {
    let none = try run(["check", "--json"] + Self.away)
    let checks = try Parsed.lines(none.output)
    #expect(none.status == 69)
    #expect(checks.map { $0["ok"] as? Bool } == [true, true, false])
    #expect(checks.last?["check"] as? String == "database")
    #expect(try run(["check", "--offline"] + Self.away).status == 0)
  }

  @Test func `check and schema print what a database lacks`() throws {
    let database = try StoreDatabase()
    func ask(_ arguments: String...) throws -> BuiltBinary.Run {
      try GatewayStand.run(arguments, on: database, role: nil)
    }
    let before = try ask("check", "--json")
    #expect(before.status == 65)
    #expect(before.output.contains("candled-gateway schema apply"), "\(before.output)")
    #expect(try ask("schema", "check").status == 65)
    let applied = try ask("schema", "apply")
    #expect(applied.status == 0 && applied.errors.contains("candled_app schema version 12"))
    #expect(try ask("schema", "apply").status == 0)
    let same = try ask("schema", "check", "--json")
    #expect(same.status == 0, "\(same.output) \(same.errors)")
    #expect(try Parsed.object(same.output)["version"] as? Int == 12)
    // Nobody could use it.
    let closed = try ask("check")
    #expect(closed.status == 78 && closed.output.contains("candled-gateway token create"))
    #expect(try ask("check", "--set", "gateway.anonymous=true").status == 0)
    try database.execute("alter table candled_app.token add column colour text")
    let other = try ask("schema", "check")
    #expect(other.status == 65 && other.output.contains("unexpected: column token.colour"))
    #expect(try ask("check").status == 65)
  }

  @Test func `a database without candled's schema is not touched`() throws {
    let cluster = try PrivateCluster.shared()
    let url = try cluster.freshDatabase(named: "empty")
    let names = try SQLProbe.run("select current_database(), current_user", url: url)[0]
    let address = cluster.server.url(database: names[0] ?? "", role: names[1] ?? "")
    for command in [["schema", "apply"], ["check"]] {
      let wrong = try run(command + ["--set", "gateway.store_url=\(address)"])
      #expect(wrong.status == 65, "\(wrong.errors)")
      #expect((wrong.output + wrong.errors).contains("candled schema apply"))
    }
    let schemas = try SQLProbe.run(
      "select count(*) from pg_namespace where nspname = 'candled_app'", url: url)
    #expect(schemas == [["0"]])
  }

  @Test func `creates, lists and revokes tokens, and shows a secret once`() async throws {
    let stand = try await GatewayStand()
    let phone = try stand.token("--name", "phone", "--scope", "market", "--scope", "account")
    let robot = try stand.token("--name", "robot", "--scope", "market", "--days", "30")
    #expect(phone.secret.hasPrefix("cndl_") && phone.secret != robot.secret)
    #expect(try stand.run("check").output.contains("2 in force"))
    let revoked = try stand.run("token", "revoke", phone.id)
    #expect(revoked.status == 0 && revoked.errors.contains("token \(phone.id) is revoked"))
    #expect(try stand.run("token", "revoke", phone.id).status == 0)
    let unknown = try stand.run("token", "revoke", "4711")
    #expect(unknown.status == 65 && unknown.errors.contains("there is no token 4711"))
    let table = try stand.run("token", "list")
    let rows = try Parsed.lines(try stand.run("token", "list", "--json").output)
    #expect(rows.map { $0["name"] as? String } == ["phone", "robot"])
    #expect(rows.map { $0["scopes"] as? String } == ["account market", "market"])
    let states = rows.compactMap { $0["state"] as? String }
    #expect(states.count == 2 && states[0].hasPrefix("revoked 20"))
    #expect(states.last?.hasPrefix("in force until 20") == true)
    let dump = try stand.database.execute("select t::text from candled_app.token t").joined()
    for text in [table.output] + dump.compactMap({ $0 }) {
      for secret in [phone.secret, robot.secret] { #expect(!text.contains(secret)) }
    }
  }

  @Test(arguments: [
    (["--days", "0"], 64, "--days: expected 1 to 36500"),
    (["--name", ""], 65, "name: expected 1 to 64 bytes"),
    (["--scope", "everything"], 64, "market, account, trade or admin"),
  ])
  func `refuses a token that cannot be`(
    options: [String], status: Int32, sentence: String
  ) async throws {
    let stand = try await GatewayStand()
    let given = ["token", "create", "--scope", "market"]
    let name = options.first == "--name" ? [] : ["--name", "test"]
    let run = try GatewayStand.run(given + name + options, on: stand.database)
    #expect(run.status == status && run.errors.contains(sentence), "\(run.errors)")
    #expect(run.output.isEmpty)
  }

  @Test func `posts corporate actions, each once, and lists them`() async throws {
    let stand = try await GatewayStand()
    let first = try stand.run("corporate-action", "dividend", "600519.SH", "2026-06-19", "27.673")
    #expect(first.status == 0 && first.errors.contains("corporate action 1 is posted"))
    let again = try stand.run("corporate-action", "dividend", "sh600519", "2026-06-19", "1")
    #expect(again.status == 65 && again.errors.contains("without a dividend of sh600519"))
    #expect(try stand.run("corporate-action", "bonus", "sh600519", "2026-06-19", "0.3").status == 0)
    let list = try stand.run("corporate-action", "list", "--json")
    let lines = list.output.split(separator: "\n").map { String($0) }
    #expect(list.status == 0 && lines.count == 2, "\(list.output)")
    let object = try Parsed.object(lines[0])
    #expect(object["symbol"] as? String == "sh600519" && object["per_share"] as? String == "27.673")
    #expect(object["booked"] is NSNull)
  }

  @Test func `withdraws a corporate action, and posts another one beside it`() async throws {
    let stand = try await GatewayStand()
    func post(_ options: String...) throws -> BuiltBinary.Run {
      try GatewayStand.run(
        ["corporate-action", "dividend", "sh600519", "2026-06-19", "1"] + options,
        on: stand.database)
    }
    #expect(try post().status == 0 && post("--another").status == 0)
    #expect(try post().status == 65)
    for id in ["1", "2"] {
      let gone = try stand.run("corporate-action", "withdraw", id)
      #expect(gone.status == 0 && gone.errors.contains("corporate action \(id) is withdrawn"))
    }
    let again = try stand.run("corporate-action", "withdraw", "1")
    #expect(again.status == 65 && again.errors.contains("an action that is not withdrawn"))
    #expect(try post().status == 0)
    let lines = try Parsed.lines(stand.run("corporate-action", "list", "--json").output)
    #expect(lines.map { $0["withdrawn"] is NSNull } == [false, false, true])
    #expect(lines.allSatisfy { $0["accounts"] as? String == "0" && $0["open"] as? String == "0" })
  }

  @Test func `posts a merger of shares before its ex-day alone`() throws {
    func post(on day: String) throws -> BuiltBinary.Run {
      try run(["corporate-action", "bonus", "sh600519", day] + Self.away + ["--", "-0.9"])
    }
    let early = try post(on: "2099-06-19")
    #expect(early.status != 64 && !early.errors.contains("EX-DAY"), "\(early.errors)")
    let late = try post(on: "2026-06-19")
    #expect(late.status == 64 && late.errors.contains("a merger must be posted before its ex-day"))
  }

  @Test(arguments: [
    ["dividend", "sh600519", "2026-06-19", "0"], ["dividend", "sh600519", "2026-06-31", "1"],
    ["dividend", "share", "2026-06-19", "1"], ["bonus", "sh600519", "2026-06-19", "0"],
    ["bonus", "sh600519", "2026-06-19", "--", "-1"],
  ])
  func `refuses a corporate action that cannot be`(arguments: [String]) throws {
    let refused = try run(["corporate-action"] + arguments)
    #expect(refused.status == 64 && refused.output.isEmpty, "\(refused.errors)")
  }
}
