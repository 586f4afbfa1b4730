/// A string that cannot print itself: not in a log line, not in an error, not in `dump`. Whoever
/// needs the characters says so, by `reveal()`, which is easy to search for.

package struct Secret: Sendable, Equatable {
  private let value: String

  package init(_ value: String) { self.value = value }

  /// The characters. For handing to the library that needs them, never for text of our own.
  package func reveal() -> String { value }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  package var description: String { "<secret>" }
  package var debugDescription: String { description }
  package var customMirror: Mirror { Mirror(self, children: []) }
}
