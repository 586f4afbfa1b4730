import ArgumentParser
import Foundation
import Hostile
import Trials

/// `script/trials`: the long proofs, each ending in a line that says PASS or FAIL.
@main
struct TrialRunner: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "candled-trials",
    abstract: "Prove the guarantees on simulated days.",
    subcommands: [
      Truth.self, Crash.self, Fanout.self, Quiet.self, Month.self, Backfill.self, Chaos.self,
      Kill.self, Terminate.self, Restart.self, Blackhole.self, Outage.self, Logs.self, Soak.self,
      Canary.self, Signals.self, Reload.self, Mutations.self, PairOfDaemons.self, Flips.self,
      Isolation.self, Clock.self, Pause.self, Disk.self, DatabaseFull.self, Listener.self,
      Readers.self,
    ])

  /// Says a line now, whatever buffers stand between.
  static func printLine(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
  }

  /// A section with thousands of complaints is understood from its first ones.
  private static let linesPerSectionMax = 20

  /// Ends a trial.
  static func conclude(_ name: String, _ complaints: [String]) throws {
    try conclude(name, sections: [complaints])
  }

  /// Ends a trial of several sections, and prints the first complaints of each.
  static func conclude(_ name: String, sections: [[String]]) throws {
    for line in sections.flatMap({ $0.prefix(linesPerSectionMax) }) { printLine("  \(line)") }
    let count = sections.reduce(0) { $0 + $1.count }
    printLine(count == 0 ? "PASS \(name)" : "FAIL \(name): \(count) complaints")
    if count > 0 { throw ExitCode.failure }
  }
}

/// Simulated days against the ledgers.
struct Truth: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Whole days, judged by the simulator's two ledgers.")

  @Option(help: "First and last seed.") var from: UInt64 = 1
  @Option var through: UInt64 = 20
  @Option var instruments = 5400
  @Option(help: "Instruments of the days with outages, late starts and lagging nodes.")
  var brokenInstruments = 600

  func run() throws {
    var sections: [[String]] = []
    for seed in from...through {
      let trials: [(String, TruthTrial)] = [
        ("whole", .quiet(seed: seed, instruments: instruments)),
        ("false rows", .deceived(seed: seed, instruments: instruments)),
        ("lagging nodes", .alternating(seed: seed, instruments: brokenInstruments)),
        ("odd", .odd(seed: seed, instruments: brokenInstruments)),
        ("outages", .broken(seed: seed, instruments: brokenInstruments)),
        ("late", .late(seed: seed, instruments: brokenInstruments)),
      ]
      for (name, trial) in trials {
        let start = Date()
        let verdict = try trial.run()
        let seconds = (Date().timeIntervalSince(start) * 10).rounded() / 10
        TrialRunner.printLine(
          "seed \(seed) \(name): \(verdict.candles) candles, \(verdict.gaps) gaps, "
            + "\(verdict.certificates) certificates, \(verdict.complaints.count) differences, "
            + "\(seconds) s" + verdict.remarks)
        sections.append(verdict.complaints.map { "seed \(seed) \(name): \($0)" })
      }
    }
    try TrialRunner.conclude("truth, seeds \(from)–\(through)", sections: sections)
  }
}

/// Days with kills against days without.
struct Crash: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "A day with kills leaves the tables of a day without.")

  @Option(help: "daemon or database.") var victim = "daemon"
  @Option var kills = 50
  @Option var instruments = 600
  @OptionGroup var options: DaemonOptions

  func run() throws {
    guard let victim = CrashTrial.Victim(rawValue: victim) else {
      throw ValidationError("--victim is daemon or database")
    }
    let start = Date()
    let verdict = try CrashTrial(
      binary: options.binary, victim: victim, kills: kills, instruments: instruments,
      seed: options.seed
    ).run()
    TrialRunner.printLine(
      "\(verdict.kills) kills of the \(victim.rawValue), \(verdict.rows) rows compared, "
        + "\(Int(Date().timeIntervalSince(start))) s")
    try TrialRunner.conclude("crash, \(victim.rawValue), seed \(options.seed)", verdict.complaints)
  }
}

/// Followers under fire.
struct Fanout: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Cut followers end with the table's state and see every final candle once.")

  @Option var cuts = 30
  @Option var instruments = 600
  @OptionGroup var options: DaemonOptions

  func run() async throws {
    let verdict = try await FanoutTrial(
      binary: options.binary, cuts: cuts, instruments: instruments, seed: options.seed,
      stop: 15 * 3600 + 37 * 60
    ).run()
    TrialRunner.printLine(
      "\(verdict.cuts) cuts, \(verdict.changes) changes, \(verdict.candles) candles in the table")
    try TrialRunner.conclude("fan-out, seed \(options.seed)", verdict.complaints)
  }
}

/// Polls that bring nothing new.
struct Quiet: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Identical sweeps write nothing: no row, no NOTIFY, no WAL.")

  @Option var sweeps = 50
  @Option var instruments = 5400

  func run() async throws {
    let verdict = try await QuietTrial(sweeps: sweeps, instruments: instruments).run()
    TrialRunner.printLine(
      "\(verdict.snapshots) snapshots in \(sweeps) sweeps: \(verdict.walBytes) bytes of WAL, "
        + "\(verdict.changes) changes, \(verdict.writtenRows) rows written")
    try TrialRunner.conclude("quiet", verdict.complaints)
  }
}

/// A month that heals.
struct Month: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "A month with outages ends with nothing missing that could be had.")

  @Option var days = 22
  @Option var instruments = 30
  @Option(help: "Of 1,000 instruments so many have false rows on a day.")
  var deceivedPerMille: Int64 = 50
  @OptionGroup var options: DaemonOptions

  func run() throws {
    let start = Date()
    var trial = MonthTrial(
      binary: options.binary, days: days, instruments: instruments, seed: options.seed)
    trial.deceivedPerMille = deceivedPerMille
    let verdict = try trial.run()
    TrialRunner.printLine(
      "\(days) days, \(instruments) instruments: \(verdict.candles) candles, "
        + "\(verdict.revised) revised, \(verdict.filled) filled in; \(verdict.gaps) gaps: "
        + "\(verdict.closed) closed, \(verdict.permanent) permanent, \(verdict.waiting) waiting; "
        + "\(verdict.certificates) certificates, \(verdict.totalsFromBars) from bars; "
        + "\(verdict.proven) instrument days equal to the truth; \(verdict.remarks), "
        + "\(Int(Date().timeIntervalSince(start))) s")
    try TrialRunner.conclude("month, seed \(options.seed)", verdict.complaints)
  }
}

/// History under fire.
struct Backfill: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "A backfill that is killed and resumed leaves every bar once, beside a live daemon.")

  @Option var kills = 20
  @Option var instruments = 150
  @Option(help: "Of the daemon.") var liveInstruments = 60
  @OptionGroup var options: DaemonOptions

  func run() async throws {
    let start = Date()
    let verdict = try await BackfillTrial(
      binary: options.binary, kills: kills, instruments: instruments,
      liveInstruments: liveInstruments, seed: options.seed
    ).run()
    TrialRunner.printLine(
      "\(verdict.kills) kills, \(verdict.chunks) chunks, \(verdict.requests) requests: "
        + "\(verdict.days) days, \(verdict.minutes) minutes; beside them \(verdict.liveMinutes) "
        + "live minutes; \(verdict.changes) changes followed, "
        + "\(Int(Date().timeIntervalSince(start))) s")
    try TrialRunner.conclude("backfill, seed \(options.seed)", verdict.complaints)
  }
}

/// A database out of space.
struct DatabaseFull: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "dbfull",
    abstract: "The database's disk is full for a while: the table is the ledger all the same.")

  @Option(help: "Simulated minutes without space.") var minutes = 20
  @Option var speed = 60
  @Option var instruments = 100
  @OptionGroup var options: ChaosOptions

  func run() async throws {
    guard FullDiskTrial.isPossible else {
      return TrialRunner.printLine("SKIPPED dbfull: a small disk is mounted by root only")
    }
    try await options.conclude("dbfull") {
      try FullDiskTrial(
        binary: options.binary, instruments: instruments, seed: options.seed, minutes: minutes,
        speed: speed
      ).run()
    }
  }
}

/// A consumer that does not read.
struct Listener: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "A listener idle in a transaction makes no commit slower, and is seen.")

  @Option(help: "Commits a turn; there are six.") var commits = 50
  @Option var instruments = 1_000
  @Option(help: "What a commit may take beside it, of one without.") var percent: Int64 = 125
  @OptionGroup var options: ChaosOptions

  func run() async throws {
    try await options.conclude("listener") {
      let found = try await ListenerTrial(commits: commits, instruments: instruments).run()
      var verdict = ChaosVerdict(
        figures: [
          "\(found.stored) commits, p50 \(found.freeMicroseconds) µs free, "
            + "\(found.stuckMicroseconds) µs beside it (\(found.percent) %), queue usage "
            + "\(found.usage)"
        ], complaints: found.complaints)
      if found.percent > percent {
        verdict.complaints.append("commits took \(found.percent) % of their time")
      }
      return verdict
    }
  }
}
