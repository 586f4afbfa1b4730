/// The schema of what apps keep in the database, as text that PostgreSQL can run.
package enum AppSchema {
  package static let text = String(decoding: PackageResources.schema_app_sql, as: UTF8.self)
}
