import ArgumentParser
import Trials

struct Clock: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "The machine's clock set an hour or a day off, in every part of the day.")

  @Option var instruments = 60
  @Option(help: "One part of the day alone.") var phase: String?
  @OptionGroup var options: ChaosOptions

  func run() async throws {
    try await options.conclude("clock") {
      var verdict = ChaosVerdict()
      for phase in ClockTrial.Phase.allCases where phase.rawValue == self.phase ?? phase.rawValue {
        for seconds in ClockTrial.secondsChoices {
          let found = try await ClockTrial(
            seed: options.seed, instruments: instruments, phase: phase, seconds: seconds
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
  }
}

struct Pause: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "The daemon stopped by SIGSTOP for ten minutes: a gap, and no burst.")

  @Option var speed = 60
  @Option var instruments = 60
  @OptionGroup var options: ChaosOptions

  func run() async throws {
    try await options.conclude("pause") {
      try PauseTrial(
        binary: options.binary, instruments: instruments, seed: options.seed, speed: speed
      ).run()
    }
  }
}

struct Disk: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "The journal's disk full, again and again: gaps, and no restart.")

  @Option var times = 10
  @Option var instruments = 60
  @OptionGroup var options: ChaosOptions

  func run() async throws {
    try await options.conclude("disk") {
      guard DiskTrial.isPossible else {
        throw ValidationError("no file system of our own may be mounted here: be root")
      }
      return try DiskTrial(
        binary: options.binary, times: times, instruments: instruments, seed: options.seed
      ).run()
    }
  }
}

/// Readers who take all they can get.
struct Readers: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Readers fill connections and locks, and do not read: commits and starts go on.")

  @Option(help: "Commits a turn; there are six.") var commits = 50
  @Option var instruments = 1_000
  @Option(help: "What a commit may take beside them, p99, of one without.") var percent: Int64 = 200
  @OptionGroup var options: ChaosOptions

  func run() async throws {
    try await options.conclude("readers") {
      let found = try await ReadersTrial(commits: commits, instruments: instruments).run()
      var verdict = ChaosVerdict(
        figures: [
          "\(found.stored) commits, p99 \(found.freeMicroseconds) µs free, "
            + "\(found.besideMicroseconds) µs beside \(found.sessionsMax) sessions of readers "
            + "(\(found.percent) %)",
          "\(found.starts) starts, the longest after \(found.startMillisecondsMax) ms; "
            + "\(found.ended) sessions ended, \(found.locksRefused) attempts on the lock table "
            + "refused",
        ], complaints: found.complaints)
      if found.percent > percent {
        verdict.complaints.append("commits took \(found.percent) % of their time")
      }
      return verdict
    }
  }
}
