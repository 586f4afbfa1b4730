import Glibc

/// The folder of a demo that was kept. Its summary distinguishes it from a daemon's folder.
package struct KeptDemo: Sendable {
  package let path: String

  /// The file of the summary.
  package static let summaryName = "demo.txt"

  package init(_ path: String) { self.path = Self.withoutEndingSlashes(path) }

  package var summaryPath: String { path + "/" + Self.summaryName }

  package var isThere: Bool { access(summaryPath, F_OK) == 0 }

  /// Why it cannot be queried; nil if it is no demo's folder.
  package var closedSentence: String? {
    isThere ? "\(path) holds a closed demo: `candled-demo --open \(path)` opens it" : nil
  }

  /// A link with a slash behind it is followed.
  package static func withoutEndingSlashes(_ path: String) -> String {
    var trimmed = path
    while trimmed.utf8.count > 1, trimmed.hasSuffix("/") { trimmed.removeLast() }
    return trimmed
  }
}
