/// The command line of the gateway: one file a subcommand, each thin.

import ArgumentParser
import Gateway
import Operations

@main
struct GatewayProgram: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "candled-gateway",
    abstract: "Candles of a candled database by REST, WebSocket and SSE.",
    version: BuildVersion.current)
}
