import Market
import Postgres

/// The schema as this binary carries it, with what is written beside it, and how to compare a
/// database with it.
package enum Schema {
  package static let version = SchemaVersion.candled.current

  /// schema.sql, whole.
  package static let text = String(decoding: PackageResources.schema_sql, as: UTF8.self)

  private static let file = SchemaFile(.candled, text: text)

  typealias Patience = SchemaFile.Patience

  /// As `SchemaFile.apply`.
  /// - Parameter sources: what is written to `market` and `source`.
  package static func apply(
    url: String, sources: [SourceRow] = [], waiting: (String) -> Void = { _ in }
  ) throws(StoreError) {
    try apply(url: url, sources: sources, patience: Patience(), waiting: waiting)
  }

  static func apply(
    url: String, sources: [SourceRow] = [], patience: Patience,
    waiting: (String) -> Void = { _ in }
  ) throws(StoreError) {
    try file.apply(url: url, patience: patience, waiting: waiting) {
      (connection) throws(StoreError) in
      try SourceCatalog.write(sources, over: connection)
    }
  }

  /// As `SchemaFile.applyIfDifferent`.
  /// - Parameter endingReaders: at last ends the sessions of readers that are in the way, and tells
  ///   `waiting` of each; for the private cluster, as its superuser.
  package static func applyIfDifferent(
    url: String, sources: [SourceRow] = [], endingReaders: Bool = false,
    waiting: (String) -> Void = { _ in }
  ) throws(StoreError) {
    let patience = Patience(endsReaders: endingReaders)
    try file.applyIfDifferent(url: url, patience: patience, waiting: waiting) {
      (connection) throws(StoreError) in try SourceCatalog.write(sources, over: connection)
    }
  }

  /// As `SchemaFile.applyIfAbsent`.
  package static func applyIfAbsent(
    url: String, sources: [SourceRow] = []
  ) throws(StoreError) {
    try file.applyIfAbsent(url: url) { (connection) throws(StoreError) in
      try SourceCatalog.write(sources, over: connection)
    }
  }

  /// As `SchemaFile.check`.
  package static func check(url: String) throws(StoreError) -> [String] {
    try file.check(url: url)
  }
}
