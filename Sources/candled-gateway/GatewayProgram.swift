/// The command line of the gateway: one file a subcommand, each thin. As with candled, results go
/// to standard output and messages to standard error.

import AppStore
import ArgumentParser
import Commands
import Gateway
import Glibc
import Operations
import Platform

@main
enum Program {
  /// Event loops and Swift's runtime want one a processor each; beside them are those for signals,
  /// for the tokens, for what apps keep, for the feed, for queries, and for the broker.
  private static let threadsMin = 13 + 2 * max(sysconf(Int32(_SC_NPROCESSORS_ONLN)), 1)

  static func main() {
    Allocator.limit()
    CommandProgram(threadsMin: threadsMin, failure: CommandFailure.init(ofGateway:))
      .run(CandledGateway.self)
  }
}

struct CandledGateway: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "candled-gateway",
    abstract: "Candles and quotes of a candled database by REST, WebSocket and SSE.",
    discussion: Help.discussion(
      """
      candled-gateway stands between PostgreSQL and apps. It keeps no files; several of them can \
      serve the same database. Its settings are in the section [gateway] of candled.toml.

      Results go to standard output, messages to standard error.

      EXIT STATUS:
      """ + ExitCode.allCases.map { "\n  \($0.rawValue)  \($0.meaning)" }.joined(),
      examples: [
        "candled-gateway schema apply": "create what tokens and users need, once",
        "candled-gateway token create --name phone --scope market": "let an app in",
        "candled-gateway run --config candled.toml": "serve",
      ]),
    version: BuildVersion.current,
    subcommands: [
      RunCommand.self, CheckCommand.self, TokenCommand.self, AppSchemaCommand.self,
      CorporateActionCommand.self, VerifyCommand.self,
    ])
}

/// The exit statuses of what only the gateway meets.
extension CommandFailure {
  /// nil for an error that no module throws, such as ArgumentParser's.
  init?(ofGateway error: any Error) {
    if let error = error as? ListenError {
      self.init(status: error.exitCode, sentence: error.description)
      return
    }
    guard let error = error as? AppStoreError else {
      self.init(ofShared: error)
      return
    }
    if case .store(let cause) = error {
      self.init(ofShared: cause)
    } else {
      self.init(status: .dataError, sentence: error.description)
    }
  }
}
