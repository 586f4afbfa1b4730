/// The lines of qt.gtimg.cn (docs/sources/tencent.md#lines).
///
///     v_<symbol>="<field>~<field>~…";⏎
///
/// A line ends at the line feed, or where bytes went missing and the next one begins inside it; one
/// capture has `; ` in place of the line feed. `" ; =` and line feed are never part of a GB18030
/// character, `~` may be its second byte.

import Market

struct TencentLine {
  let symbol: Symbol
  let content: UnsafeRawBufferPointer

  static let start = Array("v_".utf8)
  private static let opening = Array("=\"".utf8)
  private static let quotationMark = UInt8(ascii: "\"")
  private static let symbolStarts = ["sh", "sz", "bj"].map { Array($0.utf8) }

  /// Takes the first line off `rest`, without its end.
  static func next(_ rest: inout UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    let lineEnd = rest.offset(of: UInt8(ascii: "\n")) ?? rest.count
    let line = rest.slice(0, to: lineEnd)
    if let resumed = beginning(in: line) {
      rest = rest.dropping(resumed)
      return line.slice(0, to: resumed).trimmed
    }
    rest = rest.dropping(lineEnd + 1)
    return line.trimmed
  }

  /// Where a line begins behind the first byte of `line`.
  private static func beginning(in line: UnsafeRawBufferPointer) -> Int? {
    var next = 1
    while let found = line.offset(of: start, from: next) {
      if symbolStarts.contains(where: { line.starts(with: $0, at: found + start.count) }) {
        return found
      }
      next = found + 1
    }
    return nil
  }

  /// The symbol of `line`, as far as it can be read.
  static func symbol(in line: UnsafeRawBufferPointer) -> Symbol? {
    guard line.starts(with: start), let end = line.offset(of: UInt8(ascii: "="), from: start.count)
    else { return nil }
    return Symbol(bytes: line.slice(start.count, to: end))
  }

  /// Takes off `v_`, the symbol, `="` and `";`.
  init(_ line: UnsafeRawBufferPointer) throws(RowFault) {
    guard line.starts(with: TencentLine.start) else { throw .malformed("`v_` expected") }
    guard let symbolEnd = line.offset(of: TencentLine.opening, from: TencentLine.start.count) else {
      throw .malformed("`=\"` expected behind the symbol")
    }
    guard let symbol = Symbol(bytes: line.slice(TencentLine.start.count, to: symbolEnd)),
      symbol.high == 0, QuotedSecurityTable.isFullSymbol(symbol.low)
    else { throw .malformed("candled does not read symbols of this kind") }
    let text = line.dropping(symbolEnd + TencentLine.opening.count)
    let end = text.last == UInt8(ascii: ";") ? text.count - 1 : text.count
    guard let mark = text.offset(of: TencentLine.quotationMark) else {
      throw .malformed("the line is cut off: the closing `\"` is missing")
    }
    guard mark == end - 1 else {
      throw .malformed("a quotation mark inside: two lines run together")
    }
    self.symbol = symbol
    content = text.slice(0, to: mark)
  }
}
