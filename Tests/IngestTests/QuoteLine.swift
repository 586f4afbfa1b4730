import ExchangeSimulator
import Ingest
import Journal
import Market
import TestSupport

/// One line of an answer, opened up so that a test can damage it.
struct QuoteLine {
  var symbol: Symbol
  /// Latin 1, one character a byte, so that GB18030 names survive; a field set by a test is sent
  /// as UTF-8. No fields make the line of an unknown symbol.
  var fields: [String]
  var copies = 1
  /// A further line with the same fields under another name.
  var alsoAs: String?
  private let original: [String]

  init(symbol: Symbol, content: ArraySlice<UInt8>) {
    self.symbol = symbol
    let text = String(String.UnicodeScalarView(content.map { Unicode.Scalar($0) }))
    fields = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    original = fields
  }

  mutating func stamp(_ second: Int) {
    fields[31] = [second / 3600, second / 60 % 60, second % 60]
      .map { $0 < 10 ? "0\($0)" : String($0) }.joined(separator: ":")
  }

  /// Puts digits before the point.
  mutating func scale(_ field: Int, by zeros: String) {
    let parts = fields[field].split(separator: ".")
    guard let whole = parts.first, whole != "0" else { return }
    fields[field] = whole + zeros + parts.dropFirst().map { "." + $0 }.joined()
  }

  var bytes: [UInt8] {
    var content: [UInt8] = []
    for (place, field) in fields.enumerated() {
      if place > 0 { content.append(UInt8(ascii: ",")) }
      let isUntouched = place < original.count && original[place] == field
      content +=
        isUntouched
        ? field.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) } : Array(field.utf8)
    }
    let names = [String](repeating: symbol.description, count: copies) + [alsoAs].compactMap { $0 }
    return names.flatMap { name in
      Array("var hq_str_\(name)=\"".utf8) + content + Array("\";\n".utf8)
    }
  }
}

extension [UInt8] {
  /// Replaces the line of `symbol`, if there is one with fields.
  mutating func editLine(of symbol: Symbol, _ edit: (inout QuoteLine) -> Void) {
    let head = Array("var hq_str_\(symbol)=\"".utf8)
    let starts = indices.filter { self[$0] == head[0] && self[$0...].starts(with: head) }
    guard let start = starts.first,
      let end = self[start...].firstIndex(of: UInt8(ascii: "\n"))
    else { return }
    var line = QuoteLine(symbol: symbol, content: self[(start + head.count)..<(end - 2)])
    edit(&line)
    replaceSubrange(start...end, with: line.bytes)
  }
}

extension [UInt8] {
  /// Every line as it stands, written anew at `second` of the day.
  func restamped(at second: Int, _ symbols: [Symbol]) -> [UInt8] {
    symbols.reduce(into: self) { body, symbol in
      body.editLine(of: symbol) { $0.stamp(second) }
    }
  }
}

extension Symbol {
  init?(bytes: [UInt8]) {
    guard let symbol = bytes.withUnsafeBytes({ Symbol(bytes: $0) }) else { return nil }
    self = symbol
  }
}

extension JournalEntry {
  static func response(
    asking symbols: [Symbol], group: Int = 0, body: [UInt8], at now: Timestamp
  ) -> JournalEntry {
    .quotes(
      group: UInt16(group), symbols: Array(symbols.map(\.description).joined(separator: ",").utf8),
      requestedAt: now, receivedAt: now, body: body)
  }
}

extension Recording {
  /// The stock that traded most minutes.
  var busiest: Symbol {
    let stocks = market.listings.filter { $0.kind == .stock && $0.behaviour == .liquid }
    return stocks.map(\.symbol).max { left, right in
      tables.candles(of: left).count { $0.volume.isPositive }
        < tables.candles(of: right).count { $0.volume.isPositive }
    } ?? market.symbols[1]
  }
}

extension Tables {
  /// What the minutes and gaps of an instrument add up to, with what is still forming.
  func volume(of symbol: Symbol) -> ExactDecimal? {
    let minutes = candles(of: symbol).filter { $0.timeframe == .minute1 }.map(\.volume)
    let passed = gaps.filter { $0.symbol == symbol }.map(\.volume)
    return try? (minutes + passed).reduce(.zero) { try $0 + $1 }
  }
}
