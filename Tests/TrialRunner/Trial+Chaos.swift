import Foundation
import Trials

/// `script/chaos`: every section a process of its own, so that none can harm the next.
extension Trial {
  static let chaosRunner = Trial(
    "chaos",
    "The sections of the chaos runner, all or those named; --short runs the sizes of script/test, "
      + "--list names them.\n"
      + ChaosSection.all.map { "  " + $0.long.joined(separator: " ") }.joined(separator: "\n"),
    options: ["short": "false", "list": "false", "seed": "drawn"], run: chaos)

  private static func chaos(_ options: TrialOptions) throws {
    let known = Set(ChaosSection.all.map(\.name))
    for name in options.names where !known.contains(name) {
      throw UsageError("no section \(name); there are \(known.sorted().joined(separator: ", "))")
    }
    let short = options.flag("short")
    // A section that is named and has no short form runs long, rather than not at all.
    let sections = ChaosSection.all.filter {
      options.names.isEmpty ? !short || $0.short != nil : options.names.contains($0.name)
    }
    if options.flag("list") {
      for section in sections { printLine(section.long.joined(separator: " ")) }
      return
    }
    var failed: [String] = []
    for section in sections {
      let isShort = short && section.short != nil
      let isDrawn = options.text("seed") == "drawn"
      let seed = isDrawn ? UInt64.random(in: 1...1_000_000) : try options.seed
      let start = Date()
      if try !SectionRun(section, isShort: isShort, seed: seed).passes() {
        failed.append(section.name)
      }
      printLine("  \(section.name) took \(seconds(since: start)) s")
    }
    printLine("\(sections.count - failed.count) passed, \(failed.count) failed")
    if !failed.isEmpty { throw HasFailed() }
  }

  /// The daemon ended, stopped, told to do otherwise.
  static let interruptions: [Trial] = [
    interrupt(
      "kill", "The daemon killed with SIGKILL again and again; the ledger judges.", .kill),
    interrupt(
      "terminate", "The daemon told to stop again and again: exit 0 in 10 s; the ledger judges.",
      .terminate),
    .chaos(
      "signals", "SIGTERM and SIGHUP in the first 50 ms: neither lost nor deadly.",
      options: ["times": "100", "instruments": "60"]
    ) { options in
      try SignalTrial(
        binary: options.binary, instruments: options.instruments, seed: options.seed,
        times: options.times
      ).run()
    },
    .chaos(
      "reload", "Valid reloads under load: each taken up, no slot missed.",
      options: ["times": "100", "instruments": "60", "from": startMinute]
    ) { options in
      var trial = ReloadTrial(
        binary: options.binary, times: try options.times, instruments: try options.instruments,
        seed: try options.seed)
      trial.start = try options.start
      return try trial.run()
    },
    .chaos(
      "mutations", "Damaged configurations: reload and check agree, the old one stays.",
      options: ["times": "1000", "instruments": "12"]
    ) { options in
      try MutationTrial(
        binary: options.binary, times: options.times, instruments: options.instruments,
        seed: options.seed
      ).run()
    },
    .chaos(
      "pause", "The daemon stopped by SIGSTOP for ten minutes: a gap, and no burst.",
      options: ["speed": "60", "instruments": "60"]
    ) { options in
      try PauseTrial(
        binary: options.binary, instruments: options.instruments, seed: options.seed,
        speed: options.number("speed")
      ).run()
    },
    .chaos(
      "pair", "Two daemons on one database, the leader killed or stopped past its lease.",
      options: [
        "kills": "50", "pauses": "10", "instruments": "60", "speed": "20", "from": startMinute,
      ]
    ) { options in
      var trial = PairTrial(
        binary: options.binary, kills: try options.number("kills"),
        pauses: try options.number("pauses"), instruments: try options.instruments,
        seed: try options.seed)
      trial.speed = try options.number("speed")
      trial.start = try options.start
      return try trial.run()
    },
  ]

  private static let startMinute = "\(TrialDay.start / 60)"

  private static func interrupt(
    _ name: String, _ about: String, _ manner: InterruptTrial.Manner
  ) -> Trial {
    .chaos(
      name, about, options: ["times": "200", "instruments": "300", "from": startMinute]
    ) { options in
      var trial = InterruptTrial(
        binary: options.binary, manner: manner, times: try options.times,
        instruments: try options.instruments, seed: try options.seed)
      trial.start = try options.start
      return try trial.run()
    }
  }
}
