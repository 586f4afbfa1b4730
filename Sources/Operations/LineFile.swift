/// A file that the configuration names, with an entry a line: blank lines and what follows a `#` do
/// not count.

enum LineFile {
  /// Says of a line what was expected, and in which field.
  typealias Expect = (_ sentence: String, _ field: String?) -> Void

  /// The entries of `text`, in order. Throws everything that is wrong, lines that name the same a
  /// second time included.
  /// - Parameters:
  ///   - field: that what must differ stands in; nil where it is all of the line.
  ///   - key: what must differ.
  ///   - read: nil where the line is no entry, which it says.
  static func parse<Entry, Key: Hashable>(
    _ text: String, origin: String, field: String? = nil, key: (Entry) -> Key,
    read: (_ line: Substring, _ expect: Expect) -> Entry?
  ) throws(ConfigurationError) -> [Entry] {
    var entries: [Entry] = []
    var firstLines: [Key: Int] = [:]
    var problems: [ConfigurationProblem] = []
    let lines = text.split(omittingEmptySubsequences: false) { $0.isNewline }
    for (index, line) in lines.enumerated() {
      func expect(_ sentence: String, in field: String?) {
        problems.append(
          ConfigurationProblem(origin: origin, line: index + 1, key: field, sentence: sentence))
      }
      let line = line.prefix { $0 != "#" }
      guard !line.allSatisfy(\.isWhitespace), let entry = read(line, expect) else { continue }
      if let first = firstLines.updateValue(index + 1, forKey: key(entry)) {
        expect("\(key(entry)) is already on line \(first)", in: field)
      }
      entries.append(entry)
    }
    guard problems.isEmpty else { throw ConfigurationError(code: .invalid, problems: problems) }
    return entries
  }
}

extension String {
  /// A field without the spaces around it.
  var trimmed: String {
    let tail = drop { $0.isWhitespace }
    return String(tail.reversed().drop { $0.isWhitespace }.reversed())
  }
}
