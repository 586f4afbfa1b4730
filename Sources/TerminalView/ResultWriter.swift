/// The result of a query in the four shapes people and programs want. Rows go through one at a
/// time; only the table, whose columns are as wide as their widest cell, waits for the last.

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

/// Turns rows into text. Every call returns what can be written now.
package struct ResultWriter: Sendable {
  private let format: ResultFormat
  private let columns: [ResultColumn]
  private var waiting: [[ResultCell]] = []
  private var rowsWritten = 0

  package init(format: ResultFormat, columns: [ResultColumn]) {
    self.format = format
    self.columns = columns
  }

  /// What stands before the first row.
  package func header() -> String {
    switch format {
    case .table, .jsonl: ""
    case .csv: ResultWriter.csvLine(columns.map { ResultCell.text($0.name) })
    case .json: "["
    }
  }

  /// One row, with as many cells as there are columns.
  package mutating func row(_ cells: [ResultCell]) -> String {
    precondition(cells.count == columns.count, "a row has one cell a column")
    defer { rowsWritten += 1 }
    switch format {
    case .table:
      waiting.append(cells)
      return ""
    case .csv: return ResultWriter.csvLine(cells)
    case .json: return (rowsWritten == 0 ? "\n" : ",\n") + object(cells)
    case .jsonl: return object(cells) + "\n"
    }
  }

  /// What stands behind the last row.
  package func footer() -> String {
    switch format {
    case .table: table()
    case .csv, .jsonl: ""
    case .json: rowsWritten == 0 ? "]\n" : "\n]\n"
    }
  }

  /// A whole result at once.
  package static func text(
    format: ResultFormat, columns: [ResultColumn], rows: [[ResultCell]]
  ) -> String {
    var writer = ResultWriter(format: format, columns: columns)
    var text = writer.header()
    for row in rows { text += writer.row(row) }
    return text + writer.footer()
  }

  private func object(_ cells: [ResultCell]) -> String {
    JSONText.object(zip(columns, cells).map { ($0.name, $1) })
  }

  private func table() -> String {
    let rows = [columns.map(\.name)] + waiting.map { $0.map(ResultWriter.tableText) }
    let widths = columns.indices.map { index in
      rows.reduce(0) { max($0, DisplayWidth.of($1[index])) }
    }
    return rows.map { row in
      var line = ""
      for (index, text) in row.enumerated() {
        if index > 0 { line += "  " }
        line += text.padded(columns: widths[index], alignment: columns[index].alignment)
      }
      return line.trimmedAtEnd + "\n"
    }.joined()
  }

  /// Null is visible, and nothing in a name can steer the terminal.
  private static func tableText(_ cell: ResultCell) -> String {
    cell == .null ? "-" : cell.text.withoutControls
  }

  private static func csvLine(_ cells: [ResultCell]) -> String {
    cells.map(csvField).joined(separator: ",") + "\n"
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
