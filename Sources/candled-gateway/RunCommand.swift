/// `candled-gateway run`: serves until a signal.

import AppStore
import ArgumentParser
import Broker
import Commands
import Gateway
import Logging
import Market
import Operations
import PaperTrading
import Platform

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
  private static let quoteLook = Duration.milliseconds(100)

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
    let now = Timestamp(microseconds: SystemClock.realMicroseconds())
    RuleBook.use(operators: try settings.operatorsRules(), on: now.shanghaiDay)
    let url = try settings.gatewayAddress()
    mask.register(url: Secret(url))
    if let obstacle = settings[GatewaySettings.listen]?.obstacle {
      throw CommandFailure(status: .configuration, sentence: "gateway.listen: \(obstacle)")
    }
    let levels = LogControl(settings)
    let log = Logger(label: "gateway") { label in
      LineLogHandler(label: label, control: levels, mask: mask)
    }
    guard let listen = settings[GatewaySettings.listen] else {
      throw CommandFailure(status: .configuration, sentence: "gateway.listen is empty")
    }
    let control = AccessControl(.init(settings), directory: TokenDirectory())
    let follower = try control.directory.follow(url: url, log: log)
    defer { follower.stop() }
    var options = GatewayOptions(listen: listen, databaseURL: url)
    options.connections.connectionsMax = settings[GatewaySettings.connectionsMax]
    options.webhooks.rule.isPrivateAllowed = settings[GatewaySettings.webhookPrivateNetworks]
    let gateway = Gateway(options, log: log)
    let broker =
      try settings[GatewaySettings.broker] ? broker(settings, beside: gateway, log: log) : nil
    defer { broker?.stop() }
    let figures: (@Sendable () -> BrokerFigures)? =
      if let broker { { broker.figures } } else { nil }
    let serving = Task {
      try await gateway.serve(control: control, notifying: notifier, broker: figures) { address in
        let isServing = gateway.memory.state.isLoaded
        log.notice(
          isServing ? "ready" : "listening: there are no quotes yet",
          metadata: ["address": "\(address)"])
        // systemd waits for it; a gateway without a database goes on.
        notifier?.ready(status: "\(isServing ? "serving" : "waiting for quotes") at \(address)")
        if isServing { return }
        Task {
          while !gateway.memory.state.isLoaded { try await Task.sleep(for: Self.quoteLook) }
          log.notice("ready", metadata: ["address": "\(address)"])
          notifier?.status("serving at \(address)")
        }
      }
    }
    try ServiceSignals.watch(hangup: .ignore, secondsMax: Self.stopSecondsMax) {
      notifier?.stopping(status: "stopping")
      serving.cancel()
    }
    async let _: Void = Allocator.keepTrimming()
    do {
      try await serving.value
    } catch  where serving.isCancelled {}
    log.notice("stopped")
  }

  private func broker(
    _ settings: Settings, beside gateway: Gateway, log: Logger
  ) throws -> BrokerService {
    var options = BrokerOptions(
      url: gateway.options.databaseURL, holder: GatewayLease.thisProcess)
    options.mailbox = gateway.mailbox
    options.followsDaemonClock = settings[GatewaySettings.brokerClock]
    options.schedule = FeeSchedule(
      commissionRate: settings[GatewaySettings.commissionRate],
      commissionMin: settings[GatewaySettings.commissionMin])
    options.sameDayFunds = Set(settings[GatewaySettings.sameDayFunds])
    return try BrokerService(options, log: log)
  }
}
