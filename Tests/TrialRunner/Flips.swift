import ArgumentParser
import Foundation
import Hostile
import Trials

/// Damaged bodies.
struct Flips: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Every prefix of the fixtures and many flipped bits, decoded and judged.")

  @Option(help: "Bodies with flipped bits.") var count = 1_000_000
  @OptionGroup var options: ChaosOptions

  func run() throws {
    Leftovers.endInTime(secondsMax: options.limit)
    let seed = options.seed
    let trial = try DamageTrial()
    let cut = report("prefixes of \(trial.bodies.count) bodies") { trial.prefixes() }
    let flipped = report("flips, seed \(seed)") { trial.flips(count: count, seed: seed) }
    try TrialRunner.conclude(
      "flips, \(cut.bodies) prefixes, \(flipped.bodies) flips",
      cut.complaints + flipped.complaints)
  }

  private func report(_ name: String, _ run: () -> DamageTrial.Tally) -> DamageTrial.Tally {
    let start = Date()
    let tally = run()
    let seconds = max(Date().timeIntervalSince(start), 0.001)
    TrialRunner.printLine(
      "\(name): \(tally.bodies) bodies in \((seconds * 10).rounded() / 10) s, "
        + "\(Int(Double(tally.bodies) / seconds)) a second; \(tally.rows) rows, "
        + "\(tally.refusedRows) refused one by one; \(tally.summary)")
    return tally
  }
}
