import Foundation
import Trials

/// The long proofs of `script/trials`.
extension Trial {
  private static let daemon = DaemonProcess.besideThisProcess

  static let days = [
    Trial(
      "truth", "Whole days, judged by the simulator's two ledgers.",
      options: [
        "from": "1", "through": "20", "instruments": "5400", "broken-instruments": "600",
      ], run: truth),
    Trial(
      "failover", "Days on which live sources refuse us, judged by what whichever source served.",
      options: [
        "from": "1", "through": "10", "instruments": "5400", "kills": "0",
        "kill-instruments": "60", "binary": daemon,
      ], run: failover),
    Trial(
      "crash", "A day with kills of the daemon or the database leaves the tables of one without.",
      options: [
        "victim": "daemon", "kills": "50", "instruments": "600", "seed": "1", "binary": daemon,
      ], run: crash),
    Trial(
      "fanout", "Cut followers end with the table's state and see every final candle once.",
      options: ["cuts": "30", "instruments": "600", "seed": "1", "binary": daemon], run: fanout),
    Trial(
      "quiet", "Identical sweeps write nothing: no row, no NOTIFY, no WAL.",
      options: ["sweeps": "50", "instruments": "5400"], run: quiet),
    Trial(
      "fills", "Orders on paper against a real book: what is certain is never more than true.",
      options: ["queues": "10000", "passives": "10000", "seed": "1", "model": "2"], run: fills),
    Trial(
      "month", "A month with outages ends with nothing missing that could be had.",
      options: [
        "days": "22", "instruments": "30", "deceived-per-mille": "50", "seed": "1",
        "binary": daemon,
      ], run: month),
    Trial(
      "backfill", "A backfill that is killed and resumed leaves every bar once, beside a daemon.",
      options: [
        "kills": "20", "instruments": "150", "live-instruments": "60", "seed": "1",
        "binary": daemon,
      ], run: backfill),
    Trial(
      "decade",
      "2016 to 2026, and the same ten years later, with what happened on its day; --short: some.",
      options: [
        "seed": "1", "short": "false", "shift": "both", "years": "11", "events": "all",
      ], run: decade),
    .chaos(
      "recluster",
      "Closed months put in key order, killed and resumed, beside a daemon, readers and a writer.",
      options: ["kills": "20", "instruments": "250", "live-instruments": "600"]
    ) { options in
      try ReclusterTrial(
        binary: options.binary, kills: options.number("kills"), instruments: options.instruments,
        liveInstruments: options.number("live-instruments"), seed: options.seed
      ).run()
    },
  ]

  private static func truth(_ options: TrialOptions) throws {
    let (from, through): (UInt64, UInt64) = (
      try options.number("from"), try options.number("through")
    )
    guard from <= through else { throw UsageError("--from is not above --through") }
    let whole = try options.instruments
    let broken: Int = try options.number("broken-instruments")
    var sections: [[String]] = []
    for seed in from...through {
      let trials: [(String, TruthTrial)] = [
        ("whole", .quiet(seed: seed, instruments: whole)),
        ("false rows", .deceived(seed: seed, instruments: whole)),
        ("lagging nodes", .alternating(seed: seed, instruments: broken)),
        ("odd", .odd(seed: seed, instruments: broken)),
        ("outages", .broken(seed: seed, instruments: broken)),
        ("late", .late(seed: seed, instruments: broken)),
      ]
      for (name, trial) in trials {
        let start = Date()
        let verdict = try trial.run()
        let seconds = (Date().timeIntervalSince(start) * 10).rounded() / 10
        printLine(
          "seed \(seed) \(name): \(verdict.candles) candles, \(verdict.gaps) gaps, "
            + "\(verdict.certificates) certificates, \(verdict.complaints.count) differences, "
            + "\(seconds) s" + verdict.remarks)
        sections.append(verdict.complaints.map { "seed \(seed) \(name): \($0)" })
      }
    }
    try conclude("truth, seeds \(from)–\(through)", sections: sections)
  }

  private static func failover(_ options: TrialOptions) throws {
    let (from, through): (UInt64, UInt64) = (
      try options.number("from"), try options.number("through")
    )
    guard from <= through else { throw UsageError("--from is not above --through") }
    let kills: Int = try options.number("kills")
    var sections: [[String]] = []
    for seed in from...through {
      let start = Date()
      let verdict = try FailoverTrial(seed: seed, instruments: options.instruments).run()
      printLine(
        "seed \(seed): \(verdict.changes) changes of source, \(verdict.candles) candles, "
          + "\(verdict.coarse) coarse, \(verdict.gaps) gaps, \(verdict.certificates) "
          + "certificates, \(verdict.coarseCertificates) coarse, "
          + "\(verdict.complaints.count) differences, \(seconds(since: start)) s")
      sections.append(verdict.complaints.map { "seed \(seed): \($0)" })
    }
    if kills > 0 {
      let verdict = try FailoverKillTrial(
        binary: options.binary, kills: kills,
        instruments: options.number("kill-instruments"), seed: from
      ).run()
      for figure in verdict.figures { printLine("  \(figure)") }
      sections.append(verdict.complaints)
    }
    try conclude("failover, seeds \(from)–\(through)", sections: sections)
  }

  private static func crash(_ options: TrialOptions) throws {
    guard let victim = CrashTrial.Victim(rawValue: options.text("victim")) else {
      throw UsageError("--victim is daemon or database")
    }
    let start = Date()
    let verdict = try CrashTrial(
      binary: options.binary, victim: victim, kills: options.number("kills"),
      instruments: options.instruments, seed: options.seed
    ).run()
    printLine(
      "\(verdict.kills) kills of the \(victim.rawValue), \(verdict.rows) rows compared, "
        + "\(seconds(since: start)) s")
    try conclude("crash, \(victim.rawValue), seed \(options.seed)", verdict.complaints)
  }

  private static func decade(_ options: TrialOptions) async throws {
    let names = options.text("events").split(separator: ",").map(String.init)
    let numbers = Set(names.compactMap(Int.init))
    guard names == ["all"] || numbers.count == names.count else {
      throw UsageError("--events is numbers and commas")
    }
    let isShort = options.flag("short") || !numbers.isEmpty
    let shifts: [Int] = try options.text("shift") == "both" ? [0, 10] : [options.number("shift")]
    var sections: [[String]] = []
    for shift in shifts.prefix(isShort ? 1 : 2) {
      let start = Date()
      var trial = try DecadeTrial(shift: shift, seed: options.seed)
      trial.isShort = isShort
      trial.years = try options.number("years")
      if !numbers.isEmpty { trial.numbers = numbers }
      let verdict = try await trial.run { printLine("  \(seconds(since: start)) s: \($0)") }
      for figure in verdict.figures { printLine("  \(figure)") }
      sections.append(verdict.complaints)
    }
    try conclude("decade, seed \(options.seed)", sections: sections)
  }

  private static func fanout(_ options: TrialOptions) async throws {
    let verdict = try await FanoutTrial(
      binary: options.binary, cuts: options.number("cuts"), instruments: options.instruments,
      seed: options.seed, stop: 15 * 3600 + 37 * 60
    ).run()
    printLine(
      "\(verdict.cuts) cuts, \(verdict.changes) changes, \(verdict.candles) candles in the table")
    try conclude("fan-out, seed \(options.seed)", verdict.complaints)
  }

  private static func quiet(_ options: TrialOptions) async throws {
    let sweeps: Int = try options.number("sweeps")
    let verdict = try await QuietTrial(sweeps: sweeps, instruments: options.instruments).run()
    printLine(
      "\(verdict.snapshots) snapshots in \(sweeps) sweeps: \(verdict.walBytes) bytes of WAL, "
        + "\(verdict.changes) changes, \(verdict.writtenRows) rows written")
    try conclude("quiet", verdict.complaints)
  }

  private static func fills(_ options: TrialOptions) throws {
    let start = Date()
    var trial = FillsTrial(
      queues: try options.number("queues"), passives: try options.number("passives"),
      seed: try options.seed)
    let model: Int = try options.number("model")
    trial.isFormer = model == 1
    let verdict = trial.run()
    for line in verdict.table { printLine("  \(line)") }
    printLine("  \(seconds(since: start)) s")
    try conclude("fills, model \(model), seed \(options.seed)", verdict.complaints)
  }

  private static func month(_ options: TrialOptions) throws {
    let start = Date()
    let days: Int = try options.number("days")
    let instruments = try options.instruments
    var trial = MonthTrial(
      binary: options.binary, days: days, instruments: instruments, seed: try options.seed)
    trial.deceivedPerMille = try options.number("deceived-per-mille")
    let verdict = try trial.run()
    printLine(
      "\(days) days, \(instruments) instruments: \(verdict.candles) candles, "
        + "\(verdict.revised) revised, \(verdict.filled) filled in; \(verdict.gaps) gaps: "
        + "\(verdict.closed) closed, \(verdict.permanent) permanent, \(verdict.waiting) waiting; "
        + "\(verdict.certificates) certificates, \(verdict.totalsFromBars) from bars; "
        + "\(verdict.proven) instrument days equal to the truth; \(verdict.remarks), "
        + "\(seconds(since: start)) s")
    try conclude("month, seed \(options.seed)", verdict.complaints)
  }

  private static func backfill(_ options: TrialOptions) async throws {
    let start = Date()
    let verdict = try await BackfillTrial(
      binary: options.binary, kills: options.number("kills"), instruments: options.instruments,
      liveInstruments: options.number("live-instruments"), seed: options.seed
    ).run()
    printLine(
      "\(verdict.kills) kills, \(verdict.chunks) chunks, \(verdict.requests) requests: "
        + "\(verdict.days) days, \(verdict.minutes) minutes; beside them \(verdict.liveMinutes) "
        + "live minutes; \(verdict.changes) changes followed, \(seconds(since: start)) s")
    try conclude("backfill, seed \(options.seed)", verdict.complaints)
  }
}
