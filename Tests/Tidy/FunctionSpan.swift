/// The lines of one function, initialiser, subscript or computed property, braces included.
struct FunctionSpan {
  let keyword: Substring
  let lines: ClosedRange<Int>

  private static let bodied: Set<Substring> = ["func", "init", "deinit", "subscript", "var"]
  /// What ends the wait for a body: `var` without one, a protocol's `func`.
  private static let others: Set<Substring> = [
    "let", "case", "struct", "class", "enum", "actor", "extension", "protocol", "if", "for",
    "while", "switch", "guard", "return", "typealias", "import", "repeat", "do", "defer",
  ]

  static func all(in text: SourceText) -> [FunctionSpan] {
    var spans: [FunctionSpan] = []
    var waiting: (keyword: Substring, line: Int, brackets: Int)?
    var open: [(keyword: Substring, line: Int)?] = []
    var brackets = 0
    for (number, line) in text.lines.enumerated() {
      var previous: Substring = ""
      for token in SourceText.tokens(of: line.code) {
        switch token {
        case "(", "[": brackets += 1
        case ")", "]": brackets -= 1
        case "{":
          let begins = waiting.map { $0.brackets == brackets } ?? false
          open.append(begins ? waiting.map { ($0.keyword, $0.line) } : nil)
          if begins { waiting = nil }
        case "}":
          if let function = open.popLast() ?? nil {
            spans.append(FunctionSpan(keyword: function.keyword, lines: function.line...number))
          }
          if waiting?.brackets == brackets { waiting = nil }
        case "=" where waiting?.keyword == "var" && waiting?.brackets == brackets: waiting = nil
        case _ where previous == ".": break
        case _ where bodied.contains(token): waiting = (token, number, brackets)
        case _ where others.contains(token): waiting = nil
        default: break
        }
        previous = token
      }
    }
    return spans
  }
}
