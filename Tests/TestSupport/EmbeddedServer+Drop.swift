import EmbeddedPostgres

/// What tests do to a cluster.
extension EmbeddedServer {
  /// Drops the database if it is there, with the sessions in it.
  package func dropDatabase(_ name: String) throws {
    try SQLProbe.run(
      "drop database if exists \"\(name)\" with (force)", url: adminConnectionString())
  }
}
