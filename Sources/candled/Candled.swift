/// The command line: one file per subcommand, each thin. What a command does lives in the modules
/// below; here are only its words, its options and its exit status.
///
/// Results go to standard output, everything else to standard error, so that every command can
/// stand in a pipe. A subcommand is listed once it works, never before.

import ArgumentParser
import Commands
import Operations

struct Candled: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "candled",
    abstract: "Exact candles from market snapshots, in PostgreSQL, with change notification.",
    discussion: Help.discussion(
      """
      candled polls market-data sources, writes every response to a journal before it interprets \
      it, builds exact decimal candles and commits them to PostgreSQL together with the journal \
      position they came from. NOTIFY wakes consumers.

      Results go to standard output, messages to standard error.

      EXIT STATUS:
      """ + exitStatuses,
      examples: [
        "candled run --config candled.toml": "run the daemon",
        "candled query candles sh600519 --limit 10": "the newest ten minutes",
        "candled-demo": "a simulated market day in six minutes, without network",
      ]),
    version: BuildVersion.current,
    subcommands: [
      Run.self, Check.self, Doctor.self, Status.self, Query.self, Watch.self,
      Gaps.self, BackfillCommand.self, Replay.self, InstrumentCommand.self, SchemaCommand.self,
      DatabaseCommand.self, Config.self,
    ]
  )

  private static var exitStatuses: String {
    Operations.ExitCode.allCases.map { "\n  \($0.rawValue)  \($0.meaning)" }.joined()
  }
}
