import Market
import Postgres

/// The connection by which an operator links codes, or ends a link: it works beside a daemon, for
/// readers alone go by links. Blocking.
package final class LinkSession {
  private let connection: PostgresConnection
  private static let context = "link"

  /// - Throws: `connectionLost`, `schemaMismatch`, `badAddress`, `operatorNeeded`.
  package init(url: String) throws(StoreError) {
    connection = try PostgresConnection(url: url, application: "candled instrument")
    try SchemaVersion.candled.require(connection)
    try ReplicaCheck.requirePrimary(connection)
  }

  private static let addLink = Statement(
    name: "order_link",
    sql: """
      select link_instruments(
        $1::text, $2::text, $3::date, $4::text, $5::text, $6::numeric, $7::numeric, $8::text,
        clock_timestamp(), true)
      """)

  /// Also what was ended before; a rename in the place of what stands for either code.
  package func add(_ link: InstrumentLink) throws(StoreError) {
    let parameters = WireParameters(
      .text(link.from.description), .text(link.to.description), .day(link.day),
      .text(link.kind.rawValue), .text(link.verdict.rawValue), .numeric(link.ratio),
      .numeric(link.cash), .text(link.source))
    try connection.run(Self.addLink, with: parameters, context: Self.context)
  }

  private static let endLink = Statement(
    name: "end_link",
    sql: "select unlink_instruments($1::text, $2::text, clock_timestamp())")

  /// - Returns: false where nothing links them.
  package func end(from old: Symbol, to new: Symbol) throws(StoreError) -> Bool {
    let parameters = WireParameters(.text(old.description), .text(new.description))
    var row = try connection.run(Self.endLink, with: parameters, context: Self.context).row(0)
    return try row.bool()
  }
}
