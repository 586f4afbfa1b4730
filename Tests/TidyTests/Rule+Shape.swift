/// How files look: size, header, leftovers.

extension Rule {
  static let columnsMax = 100
  static let functionLinesMax = 70
  static let fileLinesMax = 400

  static let shape = [
    columns, fileLength, functionLength, whitespace, header, unfinished, placeholder,
  ]

  static let columns = lines("lines have at most 100 columns") { line in
    line.raw.count > columnsMax ? "\(line.raw.count) columns" : nil
  }

  static let fileLength = Rule(name: "files have at most 400 lines") { file in
    let count = file.text.lines.count
    return count > fileLinesMax
      ? [Violation(path: file.path, line: count, message: "\(count) lines")] : []
  }

  static let functionLength = Rule(name: "functions have at most 70 lines") { file in
    FunctionSpan.all(in: file.text)
      .filter { $0.lines.count > functionLinesMax }
      .map {
        Violation(
          path: file.path, line: $0.lines.lowerBound + 1,
          message: "\($0.keyword) of \($0.lines.count) lines")
      }
  }

  static let whitespace = lines("no tabs, no trailing spaces") { line in
    if line.raw.contains("\t") { return "a tab" }
    return line.raw.last?.isWhitespace == true ? "trailing space" : nil
  }

  /// At the top, or on the first declaration behind the imports.
  static let header = Rule(name: "every product file begins with why it is there") { file in
    guard file.isProduct else { return [] }
    let first = file.text.lines.firstIndex { !$0.isBlank && importedModule(in: $0.code) == nil }
    guard let first else { return [Violation(path: file.path, line: 1, message: "an empty file")] }
    return file.text.lines[first].isComment
      ? [] : [Violation(path: file.path, line: first + 1, message: "code before a header comment")]
  }

  static let unfinished = lines("nothing is left to do") { line in
    ["TODO", "FIXME", "XXX", "HACK"].first { line.comment.contains($0) }.map { "a \($0)" }
  }

  static let placeholder = Rule(name: "no placeholder files") { file in
    file.name == "Placeholder.swift"
      ? [Violation(path: file.path, line: 1, message: "a placeholder")] : []
  }
}

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
      for token in tokens(of: line.code) {
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

  /// Words, and single characters for all else but space.
  private static func tokens(of code: String) -> [Substring] {
    var tokens: [Substring] = []
    var rest = Substring(code)
    while let first = rest.first {
      let word = rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" }
      let token = word.isEmpty ? rest.prefix(1) : word
      if !first.isWhitespace { tokens.append(token) }
      rest = rest.dropFirst(token.count)
    }
    return tokens
  }
}
