/// `candled-gateway run`: serves until a signal.

import ArgumentParser
import Commands
import Gateway
import Logging
import Operations

struct RunCommand: AsyncParsableCommand, DrainsOnSignal {
  static let configuration = CommandConfiguration(
    commandName: "run",
    abstract: "Serve apps.",
    discussion: Help.discussion(
      """
      Listens at gateway.listen until SIGTERM or SIGINT. It needs the schemas of `candled schema \
      apply` and `candled-gateway schema apply`; while the database cannot be reached it goes on \
      with the tokens that it has read.
      """,
      examples: [
        "candled-gateway run --config config/candled.toml": "the configuration of this checkout",
        "candled-gateway run --set gateway.listen=127.0.0.1:8080": "another port",
      ]))

  @OptionGroup var options: ConfigurationOptions

  /// Of open connections; then the process ends all the same, for it keeps nothing.
  private static let stopSecondsMax = 9

  func run() async throws {
    let mask = SecretMask()
    let notifier = ServiceNotifier.fromEnvironment(mask: mask)
    do {
      try await run(masking: mask, notifying: notifier)
    } catch {
      if let sentence = CommandFailure(ofGateway: error)?.sentence { notifier?.status(sentence) }
      throw error
    }
  }

  private func run(masking mask: SecretMask, notifying notifier: ServiceNotifier?) async throws {
    let settings = try options.load()
    settings.register(in: mask)
    let url = try settings.gatewayAddress()
    mask.register(url: Secret(url))
    if let obstacle = settings.gatewayListen?.obstacle {
      throw CommandFailure(status: .configuration, sentence: "gateway.listen: \(obstacle)")
    }
    let control = LogControl(level: settings.logLevel, format: settings.logFormat)
    let log = Logger(label: "gateway") { label in
      LineLogHandler(label: label, control: control, mask: mask)
    }
    let server = GatewayServer(settings, url: url, log: log)
    let follower = try TokenFollower(url: url, directory: server.control.directory, log: log)
    defer { follower.stop() }
    let address = settings.gatewayListen?.description ?? ""
    let serving = Task {
      try await serve(server, notifying: notifier) {
        log.notice("ready", metadata: ["address": "\(address)"])
        notifier?.ready(status: "serving at \(address)")
      }
    }
    try ServiceSignals.watch(hangup: .ignore, secondsMax: Self.stopSecondsMax) {
      notifier?.stopping(status: "stopping")
      serving.cancel()
    }
    do {
      try await serving.value
    } catch  where serving.isCancelled {}
    log.notice("stopped")
  }

  /// The one line between this command and what is served.
  private func serve(
    _ server: GatewayServer, notifying notifier: ServiceNotifier?,
    ready: @escaping @Sendable () async -> Void
  ) async throws {
    try await server.run(notifying: notifier, ready: ready)
  }
}
