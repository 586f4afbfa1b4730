import Foundation
import Hostile
import Trials

/// The world in trouble: sources, clocks, disks, time itself.
extension Trial {
  static let troubles: [Trial] = [
    .chaos(
      "logs", "Everything away for an hour: what went and came back is logged, and little more.",
      options: ["minutes": "60", "speed": "60", "instruments": "300"]
    ) { options in
      try LogVolumeTrial(
        binary: options.binary, instruments: options.instruments, seed: options.seed,
        minutes: options.number("minutes"), speed: options.number("speed")
      ).run()
    },
    .chaos(
      "soak", "A day in minutes: memory, descriptors and threads must not grow.",
      options: [
        "hours": "24", "speed": "144", "instruments": "600", "warm": "120", "growth": "5",
        "repairs": "200", "no-us-equities": "false",
      ]
    ) { options in
      var trial = SoakTrial(
        binary: options.binary, instruments: try options.instruments, seed: try options.seed,
        hours: try options.number("hours"), speed: try options.number("speed"),
        warmSeconds: try options.number("warm"))
      trial.growthPercentMax = try options.number("growth")
      trial.repairs = try options.number("repairs")
      trial.hasUSEquities = !options.flag("no-us-equities")
      return try trial.run { printLine("  \($0)") }
    },
    .chaos(
      "canary", "Secrets at trace level, before servers that repeat them: found nowhere.",
      options: ["instruments": "60"]
    ) { options in
      try CanaryTrial(
        binary: options.binary, instruments: options.instruments, seed: options.seed
      ).run()
    },
    .chaos(
      "clock", "The machine's clock set an hour or a day off, in every part of the day.",
      options: ["instruments": "60", "phase": "all"], run: clock),
    .chaos(
      "disk", "The journal's disk full, again and again: gaps, and no restart.",
      options: ["times": "10", "instruments": "60"]
    ) { options in
      guard DiskTrial.isPossible else {
        return ChaosVerdict(
          complaints: ["no file system of our own may be mounted here: be root"])
      }
      return try DiskTrial(
        binary: options.binary, times: options.times, instruments: options.instruments,
        seed: options.seed
      ).run()
    },
    Trial(
      "flips", "Every prefix of the fixtures and many flipped bits, decoded and judged.",
      options: ["count": "1000000", "seed": "1", "binary": "", "limit": "1800"], run: flips),
    Trial(
      "isolation", "Whatever one source does, the others are answered as before.",
      options: ["seconds": "3", "seed": "1", "binary": "", "limit": "1800"], run: isolation),
  ]

  private static func clock(_ options: TrialOptions) async throws -> ChaosVerdict {
    var verdict = ChaosVerdict()
    let wanted = options.text("phase")
    for phase in ClockTrial.Phase.allCases where wanted == "all" || phase.rawValue == wanted {
      for seconds in ClockTrial.secondsChoices {
        let found = try await ClockTrial(
          seed: options.seed, instruments: options.instruments, phase: phase, seconds: seconds
        ).run()
        verdict.figures.append(
          "\(seconds) s, \(phase): \(found.candles) candles, \(found.gaps) gaps, "
            + "\(found.certificates) certificates, \(found.requestsPerMinuteMax) requests in a "
            + "minute at most, \(found.jumpsSeen) jumps seen")
        verdict.complaints += found.complaints.map { "\(seconds) s, \(phase): \($0)" }
      }
    }
    return verdict
  }

  private static func flips(_ options: TrialOptions) throws {
    Leftovers.endInTime(secondsMax: try options.number("limit"))
    let seed = try options.seed
    let count: Int = try options.number("count")
    let trial = try DamageTrial()
    let cut = report("prefixes of \(trial.bodies.count) bodies") { trial.prefixes() }
    let flipped = report("flips, seed \(seed)") { trial.flips(count: count, seed: seed) }
    try conclude(
      "flips, \(cut.bodies) prefixes, \(flipped.bodies) flips",
      cut.complaints + flipped.complaints)
  }

  private static func report(_ name: String, run: () -> DamageTrial.Tally) -> DamageTrial.Tally {
    let start = Date()
    let tally = run()
    let seconds = max(Date().timeIntervalSince(start), 0.001)
    printLine(
      "\(name): \(tally.bodies) bodies in \((seconds * 10).rounded() / 10) s, "
        + "\(Int(Double(tally.bodies) / seconds)) a second; \(tally.rows) rows, "
        + "\(tally.refusedRows) refused one by one; \(tally.summary)")
    return tally
  }

  /// One source in trouble, the others asked on.
  private static func isolation(_ options: TrialOptions) async throws {
    Leftovers.endInTime(secondsMax: try options.number("limit"))
    let seconds: Int64 = try options.number("seconds")
    let trial = try IsolationTrial()
    defer { trial.close() }
    _ = await trial.run(seconds: 1)
    report("nobody suffers", await trial.run(seconds: seconds), suffering: nil)
    let (_, before) = IsolationTrial.memory()
    var complaints: [String] = []
    for station in IsolationTrial.Station.allCases {
      for (name, trouble) in IsolationTrial.troubles {
        let found = await trial.run(trouble, at: station, seconds: seconds)
        report("\(station.rawValue): \(name)", found, suffering: station)
        for (other, lateness) in found where other != station {
          guard lateness.missed > 0 || lateness.failed > 0 || lateness.answered == 0 else {
            continue
          }
          complaints.append(
            "\(station.rawValue), \(name): \(other.rawValue) missed \(lateness.missed), "
              + "failed \(lateness.failed)")
        }
      }
    }
    let (peak, after) = IsolationTrial.memory()
    printLine("RSS \(before) MiB before, \(after) after, \(peak) at most")
    try conclude("isolation", complaints)
  }

  private static func report(
    _ name: String, _ found: [IsolationTrial.Station: IsolationTrial.Lateness],
    suffering: IsolationTrial.Station?
  ) {
    let parts = IsolationTrial.Station.allCases.map { station in
      let lateness = found[station] ?? .init()
      let times = [50, 99].map { Double(lateness.percentile($0) / 100) / 10 }
      return "\(station.rawValue)\(station == suffering ? "*" : "") \(lateness.answered) in "
        + "\(times[0])/\(times[1]) ms, \(lateness.missed) missed, \(lateness.failed) failed"
    }
    printLine(name + ": " + parts.joined(separator: "; "))
  }
}
