/// The result of a query in the four shapes people and programs want.

import Market

package enum ResultFormat: String, Sendable, CaseIterable {
  /// Aligned columns, for people.
  case table
  /// RFC 4180 with a header; null is an empty field, an empty text `""`.
  case csv
  /// One array of objects.
  case json
  /// One object a line.
  case jsonl
}

/// A column of a result. The name is the header, and the key in JSON.
package struct ResultColumn: Sendable, Hashable {
  package enum Alignment: Sendable { case leading, trailing }

  package var name: String
  package var alignment: Alignment

  package init(_ name: String, alignment: Alignment = .leading) {
    self.name = name
    self.alignment = alignment
  }
}

/// One value of a result.
package enum ResultCell: Sendable, Hashable {
  case null
  case text(String)
  /// An exact decimal, digit for digit: never rounded, never grouped, a string in JSON.
  case number(String)
  /// A count, a number in JSON.
  case integer(Int64)
  case boolean(Bool)
  case list([String])

  package static func decimal(_ value: ExactDecimal) -> ResultCell { .number(value.description) }

  /// The value as people and CSV see it; empty for null.
  package var text: String {
    switch self {
    case .null: ""
    case .text(let text), .number(let text): text
    case .integer(let whole): String(whole)
    case .boolean(let truth): truth ? "true" : "false"
    case .list(let texts): texts.joined(separator: " ")
    }
  }
}

/// Turns rows into text.
package struct ResultWriter: Sendable {
  private let format: ResultFormat
  private let columns: [ResultColumn]

  package init(format: ResultFormat, columns: [ResultColumn]) {
    self.format = format
    self.columns = columns
  }

  /// A whole result at once.
  package static func text(
    format: ResultFormat, columns: [ResultColumn], rows: [[ResultCell]]
  ) -> String {
    ResultWriter(format: format, columns: columns).lines(of: rows).map { $0 + "\n" }.joined()
  }

  /// Lines without their line feeds, each made when it is wanted.
  /// - Parameter rows: with as many cells as there are columns.
  package func lines(of rows: [[ResultCell]]) -> any Sequence<String> {
    precondition(rows.allSatisfy { $0.count == columns.count }, "a row has one cell a column")
    switch format {
    case .table: return table(rows)
    case .csv:
      return ([columns.map { .text($0.name) }] + rows).lazy.map(ResultWriter.csvLine)
    case .jsonl: return rows.lazy.map(object)
    case .json:
      if rows.isEmpty { return ["[]"] }
      return rows.indices.lazy.map { index in
        (index == 0 ? "[\n" : "") + object(rows[index])
          + (index == rows.count - 1 ? "\n]" : ",")
      }
    }
  }

  private func object(_ cells: [ResultCell]) -> String {
    JSONText.object(zip(columns, cells).map { ($0.name, $1) })
  }

  private func table(_ cells: [[ResultCell]]) -> [String] {
    let rows = [columns.map(\.name)] + cells.map { $0.map(ResultWriter.tableText) }
    let widths = columns.indices.map { index in
      rows.reduce(0) { max($0, DisplayWidth.of($1[index])) }
    }
    return rows.map { row in
      var line = ""
      for (index, text) in row.enumerated() {
        if index > 0 { line += "  " }
        line += text.padded(columns: widths[index], alignment: columns[index].alignment)
      }
      return line.trimmedAtEnd
    }
  }

  /// Null is visible, and nothing in a name can steer the terminal.
  private static func tableText(_ cell: ResultCell) -> String {
    cell == .null ? "-" : cell.text.withoutControls
  }

  private static func csvLine(_ cells: [ResultCell]) -> String {
    cells.map(csvField).joined(separator: ",")
  }

  private static func csvField(_ cell: ResultCell) -> String {
    let text = cell.text
    if cell == .null { return "" }
    let isPlain =
      !text.isEmpty
      && text.utf8.allSatisfy { byte in
        byte != UInt8(ascii: ",") && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\n")
          && byte != UInt8(ascii: "\r")
      }
    if isPlain { return text }
    let doubled = text.split(separator: "\"", omittingEmptySubsequences: false)
      .joined(separator: "\"\"")
    return "\"\(doubled)\""
  }
}
