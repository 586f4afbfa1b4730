/// A value that comes once, from any thread and perhaps before anybody waits for it, and what is
/// then to be done.
package final class Latch<Value: Sendable>: Sendable {
  private struct State: Sendable {
    var value: Value?
    var react: (@Sendable (Value) -> Void)?
  }

  private let state = Locked(State())

  package init() {}

  package var isSet: Bool { state.withLock { $0.value != nil } }

  /// A second value changes nothing.
  package func set(_ value: Value) {
    let react = state.withLock { state -> (@Sendable (Value) -> Void)? in
      guard state.value == nil else { return nil }
      state.value = value
      defer { state.react = nil }
      return state.react
    }
    react?(value)
  }

  /// What to do with it: at once if it is there. It replaces what was given before.
  package func whenSet(_ react: @escaping @Sendable (Value) -> Void) {
    let value = state.withLock { state -> Value? in
      if state.value == nil { state.react = react }
      return state.value
    }
    if let value { react(value) }
  }
}

extension Latch<Void> {
  package func callAsFunction() { set(()) }
}
