import CEmbeddedFiles

/// What became of codes before the release, as this binary carries it.
package enum KnownLinks {
  /// config/links.csv, whole.
  package static let text = String(cString: embedded_links().text)
}
