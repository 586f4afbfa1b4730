/// Options that several commands share. How many instruments, times and at which speed is each
/// command's own: the defaults are what its proof needs.

import ArgumentParser
import Trials

/// What every trial of a built daemon is told.
struct DaemonOptions: ParsableArguments {
  @Option var seed: UInt64 = 1
  @Option(help: "The built candled.") var binary = DaemonProcess.besideThisProcess
}

/// When a trial's day begins.
struct BeginningOption: ParsableArguments {
  @Option(help: "Minute of the day at which it begins.") var from = TrialDay.start / 60

  var secondOfDay: Int { from * 60 }
}

/// What every trial of chaos is told.
struct ChaosOptions: ParsableArguments {
  @OptionGroup var daemon: DaemonOptions
  @Option(help: "Seconds after which it has failed.") var limit = 1_800

  var seed: UInt64 { daemon.seed }
  var binary: String { daemon.binary }

  func conclude(_ name: String, _ trial: () async throws -> ChaosVerdict) async throws {
    Leftovers.endInTime(secondsMax: limit)
    do {
      let verdict = try await trial()
      for figure in verdict.figures { TrialRunner.printLine("  \(figure)") }
      try TrialRunner.conclude("\(name), seed \(seed)", verdict.complaints)
    } catch let failure as ExitCode {
      throw failure
    } catch {
      try TrialRunner.conclude("\(name), seed \(seed)", ["\(error)"])
    }
  }
}

/// How a daemon that is ended again and again is tried, whatever ends it.
struct InterruptOptions: ParsableArguments {
  @Option var times = 200
  @Option var instruments = 300
  @OptionGroup var beginning: BeginningOption
  @OptionGroup var chaos: ChaosOptions

  func run(_ name: String, _ manner: InterruptTrial.Manner) async throws {
    try await chaos.conclude(name) {
      var trial = InterruptTrial(
        binary: chaos.binary, manner: manner, times: times, instruments: instruments,
        seed: chaos.seed)
      trial.start = beginning.secondOfDay
      return try trial.run()
    }
  }
}
