/// How many requests were answered how, for /metrics. Paths are those of the route table, so that
/// no client makes a label.

import Platform

package final class RequestCounters: Sendable {
  package struct Key: Hashable, Sendable {
    package let path: String
    package let status: Int
  }

  private let counts = Locked<[Key: Int64]>([:])

  package init() {}

  /// - Parameter route: nil where nothing is at the path.
  func count(route: String?, status: Int) {
    counts.withLock { $0[Key(path: route ?? "none", status: status), default: 0] += 1 }
  }

  package var all: [Key: Int64] { counts.withLock { $0 } }
}
