import ArgumentParser
import Trials

/// Who leads, under fire.
struct PairOfDaemons: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pair",
    abstract: "Two daemons on one database, the leader killed or stopped past its lease.")

  @Option var kills = 50
  @Option var pauses = 10
  @Option var instruments = 60
  @Option(help: "Simulated seconds in a real one.") var speed = 20
  @OptionGroup var beginning: BeginningOption
  @OptionGroup var options: ChaosOptions

  func run() async throws {
    try await options.conclude("pair") {
      var trial = PairTrial(
        binary: options.binary, kills: kills, pauses: pauses, instruments: instruments,
        seed: options.seed)
      trial.speed = speed
      trial.start = beginning.secondOfDay
      return try trial.run()
    }
  }
}
