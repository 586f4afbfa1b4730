/// A row of a table as a publication sends it.
package struct PublishedChange: Sendable {
  package enum Kind: Sendable { case insert, update, delete }

  package let kind: Kind
  /// With its schema.
  package let table: String
  /// By column, as text; nil for null. Of a deleted row only its key.
  package let values: [String: String?]
}

/// Decodes pgoutput's messages as pg_recvlogical writes them, each with a line feed behind it:
/// PostgreSQL's manual, Logical Replication Message Formats, version 1.
package struct PublishedMessages {
  package struct Malformed: Error { package let sentence: String }

  private var rest: ArraySlice<UInt8>
  private var tables: [Int: (name: String, columns: [String])] = [:]
  private var found: [PublishedChange] = []

  package init(_ bytes: [UInt8]) { rest = bytes[...] }

  package mutating func changes() throws -> [PublishedChange] {
    while !rest.isEmpty {
      try decodeMessage()
      guard try byte() == UInt8(ascii: "\n") else {
        throw Malformed(sentence: "no line feed, \(rest.count) bytes before the end")
      }
    }
    return found
  }

  private mutating func decodeMessage() throws {
    let type = Character(Unicode.Scalar(try byte()))
    switch type {
    case "B": _ = try take(20)
    case "C": _ = try take(25)
    case "R": try decodeTable()
    case "I": try decodeChange(.insert)
    case "U": try decodeChange(.update)
    case "D": try decodeChange(.delete)
    default: throw Malformed(sentence: "a message of the type \(type)")
    }
  }

  private mutating func decodeTable() throws {
    let id = try integer(4)
    let name = try "\(text()).\(text())"
    // How the old row is named.
    _ = try byte()
    var columns: [String] = []
    for _ in 0..<(try integer(2)) {
      // Whether it belongs to the key.
      _ = try byte()
      columns.append(try text())
      // Its type.
      _ = try take(8)
    }
    tables[id] = (name, columns)
  }

  private mutating func decodeChange(_ kind: PublishedChange.Kind) throws {
    let id = try integer(4)
    guard let table = tables[id] else { throw Malformed(sentence: "a row of no table") }
    var row = try decodeRow(of: table.columns)
    if kind == .update, row.part != "N" { row = try decodeRow(of: table.columns) }
    found.append(PublishedChange(kind: kind, table: table.name, values: row.values))
  }

  private mutating func decodeRow(
    of columns: [String]
  ) throws -> (part: Character, values: [String: String?]) {
    let part = Character(Unicode.Scalar(try byte()))
    guard try integer(2) == columns.count else {
      throw Malformed(sentence: "a row of other columns than its table")
    }
    var values: [String: String?] = [:]
    for column in columns {
      switch Character(Unicode.Scalar(try byte())) {
      case "n": values[column] = .some(nil)
      // A long value that is the one before.
      case "u": continue
      case "t": values[column] = String(decoding: try take(integer(4)), as: UTF8.self)
      case let kind: throw Malformed(sentence: "\(column) as \(kind), which is no text")
      }
    }
    return (part, values)
  }

  // MARK: Bytes

  private mutating func take(_ count: Int) throws -> ArraySlice<UInt8> {
    guard rest.count >= count else { throw Malformed(sentence: "an end in the middle") }
    defer { rest = rest.dropFirst(count) }
    return rest.prefix(count)
  }

  private mutating func byte() throws -> UInt8 { try take(1).reduce(0) { $0 | $1 } }

  private mutating func integer(_ bytes: Int) throws -> Int {
    try take(bytes).reduce(0) { $0 << 8 | Int($1) }
  }

  private mutating func text() throws -> String {
    guard let end = rest.firstIndex(of: 0) else {
      throw Malformed(sentence: "a name without an end")
    }
    defer { rest = rest[(end + 1)...] }
    return String(decoding: rest[..<end], as: UTF8.self)
  }
}
