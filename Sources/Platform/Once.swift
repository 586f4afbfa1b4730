/// Further ones are in the metrics and in the STATUS line alone.
private let keysMax = 8

/// What was logged of a fault that lasts: each key once, however they alternate, and only so many.
/// Kept until it is over.
package struct Once<Key: Hashable & Sendable>: Sendable {
  private var keys: Set<Key> = []

  package init() {}

  package var isEmpty: Bool { keys.isEmpty }

  /// Whether it is worth a line of the log; from then on it is not.
  package mutating func isNew(_ key: Key) -> Bool {
    keys.count < keysMax && keys.insert(key).inserted
  }
}
