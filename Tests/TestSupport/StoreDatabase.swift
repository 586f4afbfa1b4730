import AppStore
import Commits
import EmbeddedPostgres
import Feeds
import Postgres
import Store

/// A database with candled's schema, fresh for each test, on the process's private cluster.
package struct StoreDatabase: Sendable {
  /// As superuser.
  package let url: String
  /// Its server goes with its last reference.
  private let cluster: PrivateCluster
  private let session: KeptSession

  package init() throws { try self.init(on: .shared()) }

  /// With what gateways keep in the database, too.
  package static func withApps() throws -> StoreDatabase {
    try StoreDatabase(on: .shared(), template: "app_template") { url in
      try AppSchema.file.apply(url: url)
    }
  }

  /// On a cluster nobody else uses: for what concerns the server as a whole, its log say.
  /// - Parameter more: settings of the server, beside or instead of a test cluster's own.
  package static func alone(
    isDurable: Bool = false, more: [String: String] = [:]
  ) throws -> StoreDatabase {
    try StoreDatabase(on: .own(isDurable: isDurable, more: more))
  }

  package var server: EmbeddedServer { cluster.server }

  /// - Parameter extend: what the template has beside candled's schema.
  private init(
    on cluster: PrivateCluster, template: String = "store_template",
    extend: (String) throws -> Void = { _ in }
  ) throws {
    let url = try cluster.freshDatabase(named: "store", template: template) { url in
      try Schema.apply(url: url, sources: SourceRegistry.rows)
      try extend(url)
    }
    try self.init(copy: url, on: cluster)
  }

  /// A copy has all of its template but the settings, and sessions have those of their beginning.
  private init(copy url: String, on cluster: PrivateCluster) throws {
    self.cluster = cluster
    self.url = url
    session = KeptSession(url: url)
    try SQLProbe.run(
      """
      do $$
      begin
        execute format('alter database %I set search_path to candled, public', current_database());
        execute format('alter database %I set timezone to %L', current_database(), 'Asia/Shanghai');
      end
      $$
      """, url: url)
  }

  package static let daemonRole = EmbeddedServer.userName

  /// As the daemon's role, or another, in the form a configuration takes.
  package func daemonURL(role: String = daemonRole) throws -> String {
    server.url(database: try value("select current_database()") ?? "", role: role)
  }

  /// A later keyword wins over an earlier one.
  package func url(role: String) -> String { "\(url) user=\(role)" }

  /// As a login with the rights of a group and no others, as gateways and apps have.
  package func url(memberOf group: String) throws -> String {
    let login = "test_\(group)"
    try execute(
      """
      do $$
      begin
        create role \(login) login in role \(group);
      exception when duplicate_object or unique_violation then null;
      end
      $$
      """)
    return url(role: login)
  }

  /// Runs SQL as superuser; the rows of its last statement as text, NULL as nil.
  @discardableResult
  package func execute(_ sql: String) throws -> [[String?]] { try session.run(sql) }

  /// The first column of the first row, as text.
  package func value(_ sql: String) throws -> String? { try execute(sql).first?.first ?? nil }

  /// For sessions that begin afterwards: who waits longer for a lock is refused (55P03).
  package func setLockTimeout(seconds: Int) throws {
    try execute(
      """
      do $$
      begin
        execute format(
          'alter database %I set lock_timeout = ''\(seconds)s''', current_database());
      end
      $$
      """)
  }

  /// As a backup of it, restored beside it; nobody may be connected.
  /// - Returns: its connection string, as superuser.
  package func copied() throws -> String {
    let name = try value("select current_database()") ?? ""
    session.close()
    return try cluster.copy(of: name)
  }

  /// What goes on as if every commit to this one had been made there, the last of them just now;
  /// nobody may be connected.
  package func twin() throws -> StoreDatabase {
    let twin = try StoreDatabase(copy: copied(), on: cluster)
    try twin.execute(
      """
      update candled.change
      set committed_at = committed_at + (now() - (select max(committed_at) from candled.change));
      update candled.feed_sequence set identity = candled.feed_identity()
      """)
    return twin
  }

  /// Ends every session of this database that reports itself under that name.
  package func endSessions(of application: String) throws {
    try execute(
      """
      select pg_terminate_backend(pid)
      from pg_stat_activity
      where datname = current_database() and application_name = '\(application)'
      """)
  }
}

extension EmbeddedServer {
  /// As a URL, the form a configuration takes: by its socket, without a password.
  package func url(database: String, role: String = EmbeddedServer.userName) -> String {
    let host = socketDirectory.split(separator: "/").map { "%2F\($0)" }.joined()
    return "postgresql://\(role)@/\(database)?host=\(host)&port=5432"
  }
}
