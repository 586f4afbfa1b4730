import EmbeddedPostgres
import Glibc
import Platform
import Postgres

/// A physical standby of a test's database, made by pg_basebackup, gone with its last reference.
package final class Standby: Sendable {
  package let server: EmbeddedServer
  private let database: String

  /// Started, and as far as its primary is now.
  /// - Parameter more: settings of the server, beside or instead of a test cluster's own.
  package init(of primary: StoreDatabase, more: [String: String] = [:]) throws {
    database = try primary.value("select current_database()") ?? ""
    let directory = try PrivateCluster.freshDirectory()
    let settings = PrivateCluster.settings.merging(more) { $1 }
    server = EmbeddedServer(directory: directory, settings: settings)
    try Self.copy(primary.server, to: directory)
    try server.start()
    try catchUp(with: primary)
  }

  deinit { PrivateCluster.remove(server.directory) }

  /// As superuser.
  package var url: String { server.adminConnectionString(database: database) }

  /// As a role, in the form a configuration takes.
  package func url(role: String = StoreDatabase.daemonRole) -> String {
    server.url(database: database, role: role)
  }

  package func value(_ sql: String) throws -> String? {
    try SQLProbe.run(sql, url: url).first?.first ?? nil
  }

  /// Waits until it shows all that its primary has committed.
  package func catchUp(with primary: StoreDatabase) throws {
    let place = try primary.value("select pg_current_wal_flush_lsn()") ?? ""
    try wait(for: "pg_last_wal_replay_lsn() >= '\(place)'")
  }

  /// Makes it a primary of its own; sessions that it has live on.
  package func promote() throws {
    _ = try value("select pg_promote(true, \(Self.waitSeconds))")
    try wait(for: "not pg_is_in_recovery()")
  }

  private func wait(for condition: String) throws {
    let end = MonotonicClock.seconds() + Self.waitSeconds
    while try value("select \(condition)") != "t" {
      guard MonotonicClock.seconds() < end else {
        throw PrivateCluster.Failure(sentence: "The standby did not come to: \(condition)")
      }
      usleep(10_000)
    }
  }

  private static let waitSeconds: Int64 = 60

  /// Its files, owned as those of the primary: the server does not run as root.
  private static func copy(_ primary: EmbeddedServer, to directory: String) throws {
    guard let binaries = PostgresServers.used else {
      throw PrivateCluster.Failure(sentence: "There is no PostgreSQL.")
    }
    let command = """
      \(binaries.directory)/pg_basebackup -D \(directory)/data -R -c fast --no-sync \
        -d '\(primary.adminConnectionString())' 2>&1 \
        && chown -R --reference=\(primary.directory)/data \(directory)/data
      """
    guard Shell.output(of: command) != nil else {
      throw PrivateCluster.Failure(sentence: "pg_basebackup failed in \(directory).")
    }
  }
}
