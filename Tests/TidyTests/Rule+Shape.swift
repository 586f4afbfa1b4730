/// How files look: size, header, leftovers.

@testable import candled_tidy

extension Rule {
  static let columnsMax = 100
  static let functionLinesMax = 70
  static let fileLinesMax = 400

  static let shape = [
    columns, fileLength, functionLength, whitespace, header, unfinished, placeholder,
  ]

  static let columns = lines("lines have at most 100 columns") { line in
    // Bytes are counted faster, and are no fewer.
    line.raw.utf8.count > columnsMax && line.raw.count > columnsMax
      ? "\(line.raw.count) columns" : nil
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
    if line.raw.utf8.contains(UInt8(ascii: "\t")) { return "a tab" }
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
