import Foundation
import HostileGateway
import Trials

/// The gateway between PostgreSQL and apps.
extension Trial {
  static let gateways: [Trial] = [
    .chaos(
      "gateway", "Apps that are cut, gateways killed, a backup restored: every final candle once.",
      options: [
        "followers": "240", "cuts": "200", "kills": "6", "restarts": "3", "instruments": "300",
        "from": "\(TrialDay.start / 60)",
      ]
    ) { options in
      var trial = GatewayTrial(
        binary: options.binary, followers: try options.number("followers"),
        cuts: try options.number("cuts"), instruments: try options.instruments,
        seed: try options.seed)
      trial.kills = try options.number("kills")
      trial.restarts = try options.number("restarts")
      trial.start = try options.start
      return try trial.run { printLine("  \($0)") }
    },
    .chaos(
      "reconnect", "Thousands of apps that come again at once: PostgreSQL is hardly asked.",
      options: [
        "reconnects": "10000", "tokens": "1000", "instruments": "200", "queries": "20",
        "seconds": "10",
      ]
    ) { options in
      var trial = ReconnectTrial(
        binary: options.binary, reconnects: try options.number("reconnects"),
        tokens: try options.number("tokens"), instruments: try options.instruments,
        seed: try options.seed)
      trial.queriesMax = try options.number("queries")
      trial.recoveredSecondsMax = try options.number("seconds")
      return try trial.run()
    },
    .chaos(
      "gateway-soak", "A day in minutes, apps that come and go: the gateway's memory stays.",
      options: [
        "followers": "500", "hours": "24", "speed": "144", "instruments": "600", "warm": "150",
        "growth": "5",
      ]
    ) { options in
      var trial = GatewaySoakTrial(
        binary: options.binary, followers: try options.number("followers"),
        instruments: try options.instruments, seed: try options.seed,
        hours: try options.number("hours"), speed: try options.number("speed"),
        warmSeconds: try options.number("warm"))
      trial.growthPercentMax = try options.number("growth")
      return try trial.run { printLine("  \($0)") }
    },
    .chaos(
      "page", "Two market days in two browsers: the page's heap stays.",
      options: ["hours": "31", "speed": "60", "instruments": "300", "limit": "3600"]
    ) { options in
      try PageHeapTrial(
        binary: options.binary, instruments: try options.instruments, seed: try options.seed,
        hours: try options.number("hours"), speed: try options.number("speed")
      ).run()
    },
    .chaos(
      "hostile-gateway", "Unread lists, silent connections, a stopped broker, a start: all served.",
      options: [
        "instruments": "5400", "unread": "1000", "silent": "12100", "candles": "6000000",
        "patience": "1",
      ]
    ) { options in
      var trial = HostileGatewayTrial(
        binary: options.binary, instruments: try options.instruments, seed: try options.seed)
      trial.unread = try options.number("unread")
      trial.silent = try options.number("silent")
      trial.backfilled = try options.number("candles")
      trial.patience = try options.number("patience")
      return try trial.run { printLine("  \($0)") }
    },
    .chaos(
      "storm", "Thousands of hostile clients of a gateway, and mutated requests and frames.",
      options: ["connections": "15000", "mutations": "1000000"], run: storm),
  ]

  private static func storm(_ options: TrialOptions) throws -> ChaosVerdict {
    var verdict = try StormTrial(
      binary: options.binary, connections: try options.number("connections")
    ).run { printLine("  \($0)") }
    let (count, seed): (Int, UInt64) = (try options.number("mutations"), try options.seed)
    for kind in HostileRun.Kind.allCases {
      let start = Date()
      verdict.complaints += HostileRun(kind, count: count, seed: seed).run()
      verdict.figures.append("\(count) mutated \(kind.rawValue), \(seconds(since: start)) s")
    }
    return verdict
  }
}
