import CEmbeddedFiles
import Postgres

/// The schema of what apps keep in the database, as this binary carries it.
package enum AppSchema {
  package static let version = SchemaVersion(
    schema: "candled_app", title: "candled_app schema", current: 12, oldest: 12,
    program: "candled-gateway", readerRole: "candled_app")

  /// schema_app.sql, whole.
  package static let text = String(cString: embedded_app_schema().text)

  package static let file = SchemaFile(version, text: text)
}
