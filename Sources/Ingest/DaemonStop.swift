import Operations
import Platform

/// The wish that a daemon end: may be uttered at any time from any thread, before there is an
/// engine, while standing by, or between two leaderships.
package final class DaemonStop: Sendable {
  private struct State: Sendable {
    var isWanted = false
    var react: (@Sendable () -> Void)?
  }

  private let state = Locked(State())

  package init() {}

  /// A second call does nothing.
  package func callAsFunction() {
    let react = state.withLock { state in
      state.isWanted = true
      defer { state.react = nil }
      return state.react
    }
    react?()
  }

  package var isWanted: Bool { state.withLock { $0.isWanted } }

  /// What to do when it is uttered: at once if it was. It replaces what was given before.
  func onStop(_ react: @escaping @Sendable () -> Void) {
    let isWanted = state.withLock { state in
      if !state.isWanted { state.react = react }
      return state.isWanted
    }
    if isWanted { react() }
  }
}
