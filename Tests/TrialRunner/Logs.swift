import ArgumentParser
import Trials

struct Logs: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Everything away for an hour: what went and came back is logged, and little more.")

  @Option(help: "Simulated minutes of the outage.") var minutes = 60
  @Option var speed = 60
  @Option var instruments = 300
  @OptionGroup var options: ChaosOptions

  func run() async throws {
    try await options.conclude("logs") {
      try LogVolumeTrial(
        binary: options.binary, instruments: instruments, seed: options.seed, minutes: minutes,
        speed: speed
      ).run()
    }
  }
}
