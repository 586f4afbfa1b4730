import ArgumentParser
import Foundation
import Trials

/// One source in trouble, the others asked on.
struct Isolation: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Whatever one source does, the others are answered as before.")

  @Option(help: "Of each trouble at each source.") var seconds: Int64 = 3
  @OptionGroup var options: ChaosOptions

  func run() async throws {
    Leftovers.endInTime(secondsMax: options.limit)
    let trial = try IsolationTrial()
    defer { trial.close() }
    _ = await trial.run(seconds: 1)
    report("nobody suffers", await trial.run(seconds: seconds), nil)
    let (_, before) = IsolationTrial.memory()
    var complaints: [String] = []
    for station in IsolationTrial.Station.allCases {
      for (name, trouble) in IsolationTrial.troubles {
        let found = await trial.run(trouble, at: station, seconds: seconds)
        report("\(station.rawValue): \(name)", found, station)
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
    TrialRunner.printLine("RSS \(before) MiB before, \(after) after, \(peak) at most")
    try TrialRunner.conclude("isolation", complaints)
  }

  private func report(
    _ name: String, _ found: [IsolationTrial.Station: IsolationTrial.Lateness],
    _ suffering: IsolationTrial.Station?
  ) {
    let parts = IsolationTrial.Station.allCases.map { station in
      let lateness = found[station] ?? .init()
      let times = [50, 99].map { Double(lateness.percentile($0) / 100) / 10 }
      return "\(station.rawValue)\(station == suffering ? "*" : "") \(lateness.answered) in "
        + "\(times[0])/\(times[1]) ms, \(lateness.missed) missed, \(lateness.failed) failed"
    }
    TrialRunner.printLine(name + ": " + parts.joined(separator: "; "))
  }
}
