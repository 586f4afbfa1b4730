/// A key of a source, word by word as its file has it. It prints as nothing, reflects as nothing,
/// and leaves this type only into an `Endpoint`, which shows none of it either.

package struct FeedCredentials: Sendable, Hashable {
  let words: [String]

  package init(words: [String]) { self.words = words }
}

extension FeedCredentials: CustomStringConvertible, CustomDebugStringConvertible,
  CustomReflectable
{
  package var description: String { "<credentials>" }
  package var debugDescription: String { description }
  package var customMirror: Mirror { Mirror(self, children: []) }
}
