import Commits
import ExchangeSimulator
import Foundation
import Market
import Postgres
import Store
import TestExchange
import TestSupport

/// Two outages with one good answer between them: the first gap's row is closed by one that covers
/// both, and the table is the ledger.
package struct AdjoiningOutages {
  package var binary: String
  package var instruments: Int
  package var seed: UInt64

  private static let start = 14 * 3600 + 50 * 60
  /// The daemon asks every 3 s, so that exactly one question falls between the two.
  private static let outages = [start + 90..<start + 180, start + 183..<start + 270]
  private static let lagSeconds = 900
  private static let finishSecondsMax = 300

  package init(binary: String, instruments: Int, seed: UInt64) {
    self.binary = binary
    self.instruments = instruments
    self.seed = seed
  }

  package func run() throws -> ChaosVerdict {
    let world = try TrialDay("adjoining", seed: seed, instruments: instruments)
    defer { world.end() }
    // A node that is far behind teaches nothing, and its answers cause no pause in asking.
    for outage in Self.outages {
      world.exchange.order(
        Fault(
          .staleNode(lagSeconds: Self.lagSeconds), from: world.moment(outage.lowerBound),
          to: world.moment(outage.upperBound)))
    }
    let daemon = try world.daemon(try world.settings(start: Self.start), binary: binary)
    try daemon.start()
    try daemon.finish(secondsMax: Self.finishSecondsMax)
    var verdict = try world.verify()
    let superseded = try SQLProbe.run(
      "select 1 from candled.gap where closed_by = 'superseded'", url: world.url
    ).count
    if superseded == 0 { verdict.complaints.append("no gap took another's place") }
    return verdict
  }
}
