/// The roles of a database of candled's, by the names that schema.sql and schema_app.sql give them.
package enum DatabaseRole {
  package static let daemon = "candled"
  package static let owner = "candled_owner"
  package static let reader = "candled_reader"
  /// The gateway.
  package static let app = "candled_app"
  package static let appOwner = "candled_app_owner"

  /// Of a row `r` of pg_roles, for SQL: neither a superuser nor the daemon.
  package static let isReader =
    "not r.rolsuper and not pg_has_role(r.oid, '\(daemon)', 'member')"
}
