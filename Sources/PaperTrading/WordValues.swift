import Market

/// `key=value` words, each key once: how what a database keeps as one line of text is read.
struct WordValues {
  private var values: [Substring: Substring] = [:]

  /// nil where a word has another form, or a key comes twice.
  init?(_ words: some Sequence<Substring>) {
    for word in words {
      let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2, values.updateValue(parts[1], forKey: parts[0]) == nil else {
        return nil
      }
    }
  }

  var count: Int { values.count }

  subscript(_ key: Substring) -> Substring? { values[key] }

  func integer<Value: FixedWidthInteger>(_ key: Substring) -> Value? {
    values[key].flatMap { Value($0) }
  }

  func decimal(_ key: Substring) -> ExactDecimal? {
    values[key].flatMap { try? ExactDecimal(String($0)) }
  }

  /// The case of that name.
  func named<Value: CaseIterable>(_ key: Substring, by name: (Value) -> String) -> Value? {
    values[key].flatMap { word in Value.allCases.first { name($0) == word } }
  }
}
