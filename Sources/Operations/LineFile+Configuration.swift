/// A file that the configuration names, with an entry a line.

import Market

extension LineFile {
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
    var firstLines: [Key: Int] = [:]
    let (entries, problems) = parse(text) { (line, number, expect) -> Entry? in
      guard let entry = read(line, expect) else { return nil }
      if let first = firstLines.updateValue(number, forKey: key(entry)) {
        expect("\(key(entry)) is already on line \(first)", field)
      }
      return entry
    }
    try refuse(problems, in: origin)
    return entries
  }

  static func refuse(_ problems: [Problem], in origin: String) throws(ConfigurationError) {
    if problems.isEmpty { return }
    throw ConfigurationError(
      code: .invalid,
      problems: problems.map {
        ConfigurationProblem(origin: origin, line: $0.line, key: $0.field, sentence: $0.sentence)
      })
  }
}

extension String {
  /// A field without the spaces around it.
  var trimmed: String {
    let tail = drop { $0.isWhitespace }
    return String(tail.reversed().drop { $0.isWhitespace }.reversed())
  }
}
