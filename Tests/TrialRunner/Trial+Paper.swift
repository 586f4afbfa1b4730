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
      "Users who trade while gateways and PostgreSQL are killed: each command and alert once; "
        + "gateways that are stopped; a server's clock that jumps.",
      options: [
        "kills": "200", "database-kills": "50", "instruments": "60", "users": "16", "speed": "30",
        "alerts": "12000", "alert-milliseconds": "1000", "pauses": "10", "jumps": "3",
        "until": "\(TrialDay.stop / 60)",
      ]
    ) { options in
      var trial = BrokerTrial(
        binary: options.binary, kills: try options.number("kills"),
        databaseKills: try options.number("database-kills"), instruments: try options.instruments,
        users: try options.number("users"), seed: try options.seed,
        speed: try options.number("speed"))
      let until: Int = try options.number("until")
      trial.day = TrialDay.start..<(until * 60)
      trial.alerts = try options.number("alerts")
      trial.alertMillisecondsMax = try options.number("alert-milliseconds")
      var verdict = ChaosVerdict()
      if trial.kills + trial.databaseKills > 0 {
        verdict = try trial.run { printLine("  \($0)") }
      }
      let others = [
        try FrozenBrokerTrial(
          binary: options.binary, pauses: try options.number("pauses"), seed: trial.seed
        ).run { printLine("  \($0)") },
        try BrokerClockTrial(
          binary: options.binary, jumps: try options.number("jumps"), seed: trial.seed
        ).run { printLine("  \($0)") },
      ]
      for other in others {
        verdict.figures += other.figures
        verdict.complaints += other.complaints
      }
      return verdict
    },
  ]
}
