import ExchangeSimulator
import Foundation
import Ledgers
import Market
import TestExchange

/// A day and a night with everything on that takes a secret, at trace level, before servers that
/// repeat what they were asked in their refusals, and a gateway whose clients show it tokens in
/// every place: no canary may be found anywhere.
package struct CanaryTrial {
  package var binary: String
  package var instruments: Int
  package var seed: UInt64

  /// Until the US equities have closed and their bars were asked for again.
  private static let stop = (24 + 8) * 3600 + 30 * 60
  /// A refusal is met so often in a thousand answers; a licence is always refused, for a list that
  /// is believed would have the daemon follow a whole market.
  private static let echoesPerMille: [Fault.Upstream: Int] = [.mairui: 1_000, .alpaca: 200]

  package init(binary: String, instruments: Int, seed: UInt64) {
    self.binary = binary
    self.instruments = instruments
    self.seed = seed
  }

  package func run() throws -> ChaosVerdict {
    let world = try TrialDay("canary", seed: seed, instruments: instruments, days: 2)
    defer { world.end() }
    for upstream in [Fault.Upstream.mairui, .alpaca] {
      for (status, body) in echoes(upstream) {
        world.exchange.order(
          Fault(
            .response(CannedResponse(status: status, body: body)), on: upstream,
            chancePerMille: Self.echoesPerMille[upstream] ?? 0))
      }
    }
    var settings = try world.settings(stop: Self.stop)
    settings["quotes.cadence"] = "\"12s\""
    settings["universe.follow"] = "true"
    settings["universe.refresh_days"] = "1"
    settings["repair.requests_per_night"] = "60"
    settings["alpaca.symbols"] = "[\"AAPL\", \"MSFT\"]"
    let daemon = try world.daemon(settings, binary: binary)
    let gateway = try CanaryGateway(world, beside: binary)
    try daemon.start()
    try gateway.start()
    var complaints = gateway.ask()
    try daemon.finish(secondsMax: 900)
    complaints += gateway.ask() + gateway.stop()
    var verdict = try world.verify(isExact: false)
    let sent = (
      world.exchange.mairuiLedger.licences.count,
      world.exchange.alpacaRequests.total(Canaries.keyID)
    )
    verdict.figures.insert("\(sent.0) licence sent, \(sent.1) requests with the key", at: 0)
    verdict.figures.append("\(world.answers.count) answers of the gateway to its tokens")
    verdict.complaints += complaints
    if sent.0 == 0 || sent.1 == 0 { verdict.complaints.append("no secret was ever sent") }
    verdict.complaints += world.silentListeners.map { "nothing was heard of \($0)" }
    return verdict
  }

  /// What a server says that repeats the question.
  private func echoes(_ upstream: Fault.Upstream) -> [(Int, String)] {
    let secrets =
      upstream == .mairui ? [Canaries.licence] : [Canaries.keyID, Canaries.keySecret]
    let leaks = secrets.flatMap { secret in
      [secret, Canaries.percentEncoded(secret), Data(secret.utf8).base64EncodedString()]
    }.joined(separator: " ")
    return [(500, "error: \(leaks)"), (200, "{\"message\":\"\(leaks)\"}")]
  }
}
