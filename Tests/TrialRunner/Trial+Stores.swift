import Trials

/// The database away, silent, full, or full of others.
extension Trial {
  static let stores: [Trial] = [
    .chaos(
      "restart", "PostgreSQL restarted under the daemon, half of the times its private one.",
      options: [
        "times": "50", "instruments": "300", "from": "\(TrialDay.start / 60)", "within": "2000",
      ]
    ) { options in
      var verdict = ChaosVerdict()
      let times = try options.times
      for server in [RestartTrial.Server.external, .embedded] {
        var trial = RestartTrial(
          binary: options.binary, server: server,
          times: server == .external ? (times + 1) / 2 : times / 2,
          instruments: try options.instruments, seed: try options.seed)
        trial.start = try options.start
        trial.commitMillisecondsMax = try options.number("within")
        let part = try trial.run()
        verdict.figures += part.figures
        verdict.complaints += part.complaints.map { "\(server.rawValue): \($0)" }
      }
      return verdict
    },
    .chaos(
      "blackhole", "The database's connection falls silent: polling goes on, memory is bounded.",
      options: [
        "times": "10", "seconds": "60", "pace": "80", "speed": "10", "instruments": "300",
      ]
    ) { options in
      var trial = BlackholeTrial(
        binary: options.binary, times: try options.times, instruments: try options.instruments,
        seed: try options.seed, seconds: try options.number("seconds"),
        speed: try options.number("speed"))
      trial.pacePercentMin = try options.number("pace")
      return try trial.run()
    },
    .chaos(
      "outage", "The database down for longer than memory holds.",
      options: ["minutes": "45", "speed": "60", "instruments": "300"]
    ) { options in
      try await OutageTrial(
        instruments: options.instruments, seed: options.seed, minutes: options.number("minutes"),
        speed: options.number("speed")
      ).run()
    },
    .chaos(
      "dbfull", "The database's disk is full for a while: the table is the ledger all the same.",
      options: ["minutes": "20", "speed": "60", "instruments": "100"]
    ) { options in
      guard FullDiskTrial.isPossible else {
        printLine("SKIPPED dbfull: a small disk is mounted by root only")
        return nil
      }
      return try FullDiskTrial(
        binary: options.binary, instruments: options.instruments, seed: options.seed,
        minutes: options.number("minutes"), speed: options.number("speed")
      ).run()
    },
    .chaos(
      "upgrade",
      "PostgreSQL's majors one after the other under a daemon: killed, full, programs gone.",
      options: ["kills": "12", "instruments": "60", "speed": "10"]
    ) { options in
      guard UpgradeTrial.isPossible else {
        printLine("SKIPPED upgrade: script/bootstrap --tests installs the other majors")
        return nil
      }
      return try UpgradeTrial(
        binary: options.binary, instruments: options.instruments, seed: options.seed,
        kills: options.number("kills"), speed: options.number("speed")
      ).run()
    },
    .chaos(
      "replica",
      "A standby and a logical replica: killed, cut off, promoted, the same rows and lines.",
      options: [
        "commits": "600", "instruments": "300", "kills": "10", "cut": "60", "percent": "110",
        "visible": "50",
      ]
    ) { options in
      var trial = ReplicaTrial(
        binary: options.binary, commits: try options.number("commits"),
        instruments: try options.instruments, kills: try options.number("kills"),
        cutSeconds: try options.number("cut"), seed: try options.seed)
      trial.commitPercentMax = try options.number("percent")
      trial.visibleMillisecondsMax = try options.number("visible")
      return try await trial.run()
    },
    .chaos(
      "listener", "A listener idle in a transaction makes no commit slower, and is seen.",
      options: ["commits": "50", "instruments": "1000", "percent": "125"], run: listener),
    .chaos(
      "readers", "Readers fill connections and locks, and do not read: commits and starts go on.",
      options: ["commits": "50", "instruments": "1000", "percent": "200"], run: readers),
  ]

  private static func listener(_ options: TrialOptions) async throws -> ChaosVerdict {
    let found = try await ListenerTrial(
      commits: options.number("commits"), instruments: options.instruments
    ).run()
    var verdict = ChaosVerdict(
      figures: [
        "\(found.stored) commits, p50 \(found.freeMicroseconds) µs free, "
          + "\(found.stuckMicroseconds) µs beside it (\(found.percent) %), queue usage "
          + "\(found.usage)"
      ], complaints: found.complaints)
    if found.percent > (try options.number("percent")) {
      verdict.complaints.append("commits took \(found.percent) % of their time")
    }
    return verdict
  }

  private static func readers(_ options: TrialOptions) async throws -> ChaosVerdict {
    let found = try await ReadersTrial(
      commits: options.number("commits"), instruments: options.instruments
    ).run()
    var verdict = ChaosVerdict(
      figures: [
        "\(found.stored) commits, p99 \(found.freeMicroseconds) µs free, "
          + "\(found.besideMicroseconds) µs beside \(found.sessionsMax) sessions of readers "
          + "(\(found.percent) %)",
        "\(found.starts) starts, the longest after \(found.startMillisecondsMax) ms; "
          + "\(found.ended) sessions ended, \(found.locksRefused) attempts on the lock table "
          + "refused",
      ], complaints: found.complaints)
    if found.percent > (try options.number("percent")) {
      verdict.complaints.append("commits took \(found.percent) % of their time")
    }
    return verdict
  }
}
