import ArgumentParser
import Foundation
import Trials

/// `script/chaos`: every section a process of its own, so that none can harm the next.
struct Chaos: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Run the sections of the chaos runner, all or those named.",
    discussion: ChaosSection.all.map { $0.long.joined(separator: " ") }.joined(separator: "\n"))

  @Argument(help: "Sections; all if none is named.") var names: [String] = []
  @Flag(help: "The sizes of script/test.") var short = false
  @Flag(help: "Name the sections and end.") var list = false
  @Option(help: "Drawn if not given.") var seed: UInt64?

  func validate() throws {
    let known = Set(ChaosSection.all.map(\.name))
    for name in names where !known.contains(name) {
      throw ValidationError(
        "no section \(name); there are \(known.sorted().joined(separator: ", "))")
    }
  }

  func run() throws {
    // A section that is named and has no short form runs long, rather than not at all.
    let sections = ChaosSection.all.filter {
      names.isEmpty ? !short || $0.short != nil : names.contains($0.name)
    }
    if list {
      for section in sections { TrialRunner.printLine(section.long.joined(separator: " ")) }
      return
    }
    var failed: [String] = []
    for section in sections {
      let isShort = short && section.short != nil
      let run = SectionRun(section, isShort: isShort, seed: seed ?? .random(in: 1...1_000_000))
      let start = Date()
      if try !run.passes() { failed.append(section.name) }
      TrialRunner.printLine("  \(section.name) took \(Int(Date().timeIntervalSince(start))) s")
    }
    TrialRunner.printLine("\(sections.count - failed.count) passed, \(failed.count) failed")
    if !failed.isEmpty { throw ExitCode.failure }
  }
}

struct Kill: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "The daemon killed with SIGKILL again and again; the ledger judges.")

  @OptionGroup var options: InterruptOptions

  func run() async throws { try await options.run("kill", .kill) }
}

struct Terminate: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "The daemon told to stop again and again: exit 0 in 10 s; the ledger judges.")

  @OptionGroup var options: InterruptOptions

  func run() async throws { try await options.run("terminate", .terminate) }
}

struct Restart: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "PostgreSQL restarted under the daemon, half of the times its private one.")

  @Option var times = 50
  @Option var instruments = 300
  @OptionGroup var beginning: BeginningOption
  @Option(help: "Milliseconds to the first commit.") var within = 2_000
  @OptionGroup var options: ChaosOptions

  func run() async throws {
    try await options.conclude("restart") {
      var verdict = ChaosVerdict()
      for server in [RestartTrial.Server.external, .embedded] {
        var trial = RestartTrial(
          binary: options.binary, server: server,
          times: server == .external ? (times + 1) / 2 : times / 2, instruments: instruments,
          seed: options.seed)
        trial.start = beginning.secondOfDay
        trial.commitMillisecondsMax = within
        let part = try trial.run()
        verdict.figures += part.figures
        verdict.complaints += part.complaints.map { "\(server.rawValue): \($0)" }
      }
      return verdict
    }
  }
}

struct Blackhole: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "The database's connection falls silent: polling goes on, memory stays bounded.")

  @Option var times = 10
  @Option(help: "Real seconds of each silence.") var seconds = 60
  @Option(help: "Per cent of the usual polls that must go on.") var pace = 80
  @Option var speed = 10
  @Option var instruments = 300
  @OptionGroup var options: ChaosOptions

  func run() async throws {
    try await options.conclude("blackhole") {
      var trial = BlackholeTrial(
        binary: options.binary, times: times, instruments: instruments, seed: options.seed,
        seconds: seconds, speed: speed)
      trial.pacePercentMin = pace
      return try trial.run()
    }
  }
}

struct Outage: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "The database down for longer than memory holds.")

  @Option(help: "Simulated minutes of the outage.") var minutes = 45
  @Option var speed = 60
  @Option var instruments = 300
  @OptionGroup var options: ChaosOptions

  func run() async throws {
    try await options.conclude("outage") {
      try await OutageTrial(
        instruments: instruments, seed: options.seed, minutes: minutes, speed: speed
      ).run()
    }
  }
}

struct Soak: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "A day in minutes: memory, descriptors and threads must not grow.")

  @Option var hours = 24
  @Option var speed = 144
  @Option var instruments = 600
  @Option(help: "Real seconds until it is warm.") var warm = 120
  @Option(help: "Per cent by which memory may grow from there.") var growth = 5
  @Option(help: "K-lines a night.") var repairs = 200
  @Flag(help: "Record no Americans.") var noUSEquities = false
  @OptionGroup var options: ChaosOptions

  func run() async throws {
    try await options.conclude("soak") {
      var trial = SoakTrial(
        binary: options.binary, instruments: instruments, seed: options.seed, hours: hours,
        speed: speed, warmSeconds: warm)
      trial.growthPercentMax = growth
      trial.repairs = repairs
      trial.hasUSEquities = !noUSEquities
      return try trial.run { TrialRunner.printLine("  \($0)") }
    }
  }
}

struct Canary: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Secrets at trace level, before servers that repeat them: found nowhere.")

  @Option var instruments = 60
  @OptionGroup var options: ChaosOptions

  func run() async throws {
    try await options.conclude("canary") {
      try CanaryTrial(
        binary: options.binary, instruments: instruments, seed: options.seed
      ).run()
    }
  }
}

struct Signals: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "SIGTERM and SIGHUP in the first 50 ms: neither lost nor deadly.")

  @Option var times = 100
  @Option var instruments = 60
  @OptionGroup var options: ChaosOptions

  func run() async throws {
    try await options.conclude("signals") {
      try SignalTrial(
        binary: options.binary, instruments: instruments, seed: options.seed, times: times
      ).run()
    }
  }
}

struct Reload: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Valid reloads under load: each taken up, no slot missed.")

  @Option var times = 100
  @Option var instruments = 60
  @OptionGroup var beginning: BeginningOption
  @OptionGroup var options: ChaosOptions

  func run() async throws {
    try await options.conclude("reload") {
      var trial = ReloadTrial(
        binary: options.binary, times: times, instruments: instruments, seed: options.seed)
      trial.start = beginning.secondOfDay
      return try trial.run()
    }
  }
}

struct Mutations: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Damaged configurations: reload and check agree, the old one stays.")

  @Option var times = 1_000
  @Option var instruments = 12
  @OptionGroup var options: ChaosOptions

  func run() async throws {
    try await options.conclude("mutations") {
      try MutationTrial(
        binary: options.binary, times: times, instruments: instruments, seed: options.seed
      ).run()
    }
  }
}
