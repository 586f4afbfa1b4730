/// A string that cannot print itself: not in a log line, not in an error, not in `dump`. Whoever
/// needs the characters says so, by `reveal()`, which is easy to search for.

public struct Secret: Sendable, Equatable {
  private let value: String

  public init(_ value: String) { self.value = value }

  /// The characters. For handing to the library that needs them, never for text of our own.
  public func reveal() -> String { value }

  public var isEmpty: Bool { value.isEmpty }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  public var description: String { "<secret>" }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: []) }
}
