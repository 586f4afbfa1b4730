/// Says a thing once, and again only when it changed: a source that is down for an hour is two
/// lines in the log, not 1,200.

public struct ChangeFilter<State: Equatable & Sendable>: Sendable {
  /// Topics beyond this are always let through rather than remembered.
  public static var topicsMax: Int { 1024 }

  private var states: [String: State] = [:]

  public init() {}

  /// Whether `state` differs from what was last said about `topic`; remembers it.
  public mutating func changed(_ topic: String, to state: State) -> Bool {
    if let known = states[topic] {
      states[topic] = state
      return known != state
    }
    if states.count < Self.topicsMax { states[topic] = state }
    return true
  }

  /// Forgets a topic: whatever is said next is new.
  public mutating func forget(_ topic: String) { states[topic] = nil }
}
