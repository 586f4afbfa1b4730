import EmbeddedPostgres
import Glibc
import Platform
import Postgres
import Store

/// A logical replica of a test's database, on a cluster of its own that goes with its last
/// reference.
package final class LogicalReplica: Sendable {
  private let cluster: PrivateCluster
  package let url: String
  package static let subscription = "candled"

  /// Made as docs/replicas.md says, but for the subscription.
  /// - Parameter more: settings of the server.
  package init(more: [String: String] = [:]) throws {
    // What fails while tables are copied side by side is tried again soon.
    let quick = ["wal_retrieve_retry_interval": "200ms"]
    cluster = try PrivateCluster.own(more: quick.merging(more) { $1 })
    url = try cluster.freshDatabase(named: "replica")
    try Schema.applyForReplica(url: url)
  }

  package var server: EmbeddedServer { cluster.server }

  @discardableResult
  package func execute(_ sql: String) throws -> [[String?]] { try SQLProbe.run(sql, url: url) }

  package func value(_ sql: String) throws -> String? { try execute(sql).first?.first ?? nil }

  /// - Parameter primary: the address that the subscription connects to.
  package func subscribe(to primary: String, publication: String = "candled") throws {
    try execute(
      """
      create subscription \(Self.subscription)
      connection '\(primary)'
      publication \(publication)
      """)
  }

  /// Ends the subscription to a primary that is gone, and empties the published tables.
  package func forgetPrimary() throws {
    let tables = try execute(
      "select distinct tablename from pg_publication_tables where pubname = 'candled'"
    ).compactMap { $0.first ?? nil }
    try execute("alter subscription \(Self.subscription) disable")
    try execute("alter subscription \(Self.subscription) set (slot_name = none)")
    try execute("drop subscription \(Self.subscription)")
    try execute("truncate \(tables.map { "candled.\($0)" }.joined(separator: ", "))")
  }

  /// Waits until it shows what its primary has committed, its first copy included.
  package func catchUp(with primary: String) throws {
    let end = MonotonicClock.seconds() + Self.waitSeconds
    let newest = "select coalesce(max(seq), 0) from candled.change"
    let wanted = try SQLProbe.run(newest, url: primary).first?.first ?? nil
    let copied = "not exists (select from pg_subscription_rel where srsubstate <> 'r')"
    while true {
      // In a restart it does not answer.
      let found = try? execute("select (\(newest)), \(copied)").first
      if found?[0] == wanted, found?[1] == "t" { return }
      guard MonotonicClock.seconds() < end else {
        throw PrivateCluster.Failure(
          sentence: "The replica has \(found ?? []), and its primary change \(wanted ?? "")")
      }
      usleep(20_000)
    }
  }

  private static let waitSeconds: Int64 = 120
}

/// What the tables of a publication hold, in a form to compare.
package enum PublishedRows {
  /// By table: the number of its rows and a sum of their hashes, of the published columns.
  package static func digests(
    at url: String, publication: String = "candled"
  ) throws -> [String: String] {
    let tables = try SQLProbe.run(
      """
      select t.tablename,
        (select string_agg(quote_ident(name), ', ') from unnest(t.attnames) name)
      from pg_publication_tables t
      where t.pubname = '\(publication)'
      """, url: url)
    var digests: [String: String] = [:]
    for row in tables {
      let (table, columns) = (row[0] ?? "", row[1] ?? "")
      digests[table] =
        try SQLProbe.run(
          """
          set statement_timeout = 0;
          select count(*) || ' ' || coalesce(sum(hashtextextended(t::text, 0)::numeric), 0)
          from (select \(columns) from candled.\(table)) t
          """, url: url
        ).first?.first ?? nil
    }
    return digests
  }

  /// One sentence a table that differs; also if there is none to compare.
  package static func differences(between primary: String, and replica: String) throws -> [String] {
    let (theirs, ours) = (try digests(at: primary), try digests(at: replica))
    if theirs.isEmpty { return ["nothing is published"] }
    return Set(theirs.keys).union(ours.keys).sorted().compactMap { table in
      let (left, right) = (theirs[table] ?? "none", ours[table] ?? "none")
      return left == right ? nil : "\(table): \(left) on the primary, \(right) on the replica"
    }
  }
}

extension StoreDatabase {
  /// What a logical replica subscribes to: the role that the schema makes for it.
  package func publisherAddress() throws -> String {
    server.address(try value("select current_database()") ?? "", as: "candled_replica")
  }
}
