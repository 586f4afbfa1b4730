/// A file with an entry a line: blank lines and what follows a `#` do not count.
package enum LineFile {
  /// What is wrong with a line, and with which field of it.
  package struct Problem: Sendable, Hashable {
    package var line: Int
    package var field: String?
    package var sentence: String
  }

  /// Says of a line what was expected, and in which field.
  package typealias Expect = (_ sentence: String, _ field: String?) -> Void

  /// The entries of `text`, in order, and everything that is wrong.
  /// - Parameter read: nil where the line is no entry, which it says.
  package static func parse<Entry>(
    _ text: String,
    read: (_ line: Substring, _ number: Int, _ expect: @escaping Expect) -> Entry?
  ) -> (entries: [Entry], problems: [Problem]) {
    var (entries, problems): ([Entry], [Problem]) = ([], [])
    let lines = text.split(omittingEmptySubsequences: false) { $0.isNewline }
    for (index, line) in lines.enumerated() {
      let line = line.prefix { $0 != "#" }
      if line.allSatisfy(\.isWhitespace) { continue }
      let entry = read(line, index + 1) { sentence, field in
        problems.append(Problem(line: index + 1, field: field, sentence: sentence))
      }
      if let entry { entries.append(entry) }
    }
    return (entries, problems)
  }
}
