import Foundation

/// `script/trials` and `script/chaos`: the long proofs, each ending in a line that says PASS or
/// FAIL.
@main
struct TrialRunner {
  static func main() async {
    do {
      try await run(Array(CommandLine.arguments.dropFirst()))
    } catch is HasFailed {
      exit(EXIT_FAILURE)
    } catch let error as UsageError {
      say("candled-trials: \(error)")
      exit(EX_USAGE)
    } catch {
      say("candled-trials: \(error)")
      exit(EXIT_FAILURE)
    }
  }

  private static func run(_ arguments: [String]) async throws {
    guard let name = arguments.first, name != "--help", name != "-h" else {
      return printLine(
        "candled-trials NAME [options]: prove the guarantees on simulated days.\n\n"
          + Trial.all.map(\.help).joined(separator: "\n"))
    }
    guard let trial = Trial.all.first(where: { $0.name == name }) else {
      let names = Trial.all.map(\.name).joined(separator: ", ")
      throw UsageError("no trial \(name); there are \(names)")
    }
    if arguments.contains("--help") || arguments.contains("-h") { return printLine(trial.help) }
    try await trial.run(TrialOptions(Array(arguments.dropFirst()), of: trial))
  }

  private static func say(_ line: String) {
    FileHandle.standardError.write(Data((line + "\n").utf8))
  }
}
