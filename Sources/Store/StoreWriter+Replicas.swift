/// What the daemon looks at now and then, beside what it writes.

import Commits
import Market
import Postgres

extension StoreWriter {
  /// To be asked now and then: a replica that is gone keeps the server's log.
  /// - Throws: `connectionLost`, `transient`.
  package func replicas() throws(StoreError) -> [ReplicaLink] {
    try ReplicaLink.all(of: session.opened().connection)
  }

  private static let readContradicted = Statement(
    name: "read_contradicted_factors",
    sql: """
      select count(distinct instrument_id), max(from_day)
      from adjustment_factor
      where known_to is null
        and verdict = 'contradicted'
        and from_day > $1::date
      """)

  /// To be asked hourly: it reads all factors.
  /// - Throws: `connectionLost`, `transient`.
  package func contradictedFactors(on today: TradingDay) throws(StoreError) -> ContradictedFactors {
    let oldest = WireParameters(.day(today.advanced(by: -ContradictedFactors.daysKept)))
    var row = try session.opened().connection.run(
      Self.readContradicted, with: oldest, context: "factors"
    ).row(0)
    var factors = ContradictedFactors()
    factors.instruments = Int(try row.int64())
    factors.lastDay = try row.optionalDay()
    return factors
  }
}
