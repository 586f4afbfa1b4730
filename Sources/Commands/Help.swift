/// The shape of every command's help: prose first, then examples that can be pasted as they are.

package enum Help {
  /// `prose`, then a section EXAMPLES with each command line and, indented below, what it is for.
  package static func discussion(
    _ prose: String, examples: KeyValuePairs<String, String>
  ) -> String {
    var text = prose + "\n\nEXAMPLES:"
    for (command, purpose) in examples {
      precondition(command.count <= commandColumnsMax, "an example must not be wrapped")
      text += "\n  \(command)\n      \(purpose)"
    }
    return text
  }

  /// ArgumentParser wraps at 80 columns where it does not know the terminal's.
  private static let commandColumnsMax = 77
}
