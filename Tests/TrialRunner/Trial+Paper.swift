import Trials

/// Trading on paper.
extension Trial {
  static let paper: [Trial] = [
    .chaos(
      "ledger", "Random commands of clients at once: all invariants after every step; canaries.",
      options: ["commands": "1000000", "clients": "16", "accounts": "64"]
    ) { options in
      var trial = LedgerTrial(
        commands: try options.number("commands"), clients: try options.number("clients"),
        seed: try options.seed)
      trial.accounts = try options.number("accounts")
      let found = try trial.run { printLine("  \($0)") }
      let canaries = try LedgerCanaries(seed: trial.seed).run()
      return ChaosVerdict(
        figures: found.figures + canaries.figures,
        complaints: found.complaints + canaries.complaints)
    },
    .chaos(
      "broker",
      "Users who trade while gateways and PostgreSQL are killed: each command and alert once.",
      options: [
        "kills": "200", "database-kills": "50", "instruments": "60", "users": "16", "speed": "30",
        "alerts": "12000", "alert-milliseconds": "1000",
      ]
    ) { options in
      var trial = BrokerTrial(
        binary: options.binary, kills: try options.number("kills"),
        databaseKills: try options.number("database-kills"), instruments: try options.instruments,
        users: try options.number("users"), seed: try options.seed,
        speed: try options.number("speed"))
      trial.alerts = try options.number("alerts")
      trial.alertMillisecondsMax = try options.number("alert-milliseconds")
      return try trial.run { printLine("  \($0)") }
    },
  ]
}
