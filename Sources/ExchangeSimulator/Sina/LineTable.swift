import Market

/// The lines of a market as they go over the wire, written only when asked for and only when the
/// instrument changed since: of 5,400 lines some 1,200 change in a publication. The format is
/// docs/sources/sina.md#fields.
package struct LineTable: Sendable {
  package static let lineBytesTypical = 280

  private let prefixes: [[UInt8]]
  private let today: [UInt8]
  private let yesterday: [UInt8]
  /// Empty while one must be written anew.
  private var lines: [[UInt8]]

  package init(listings: [Listing], day: TradingDay, previousDay: TradingDay) {
    prefixes = listings.map { LineTable.prefix($0.symbol.bytes, name: $0.name) }
    today = Array(day.description.utf8)
    yesterday = Array(previousDay.description.utf8)
    lines = Array(repeating: [], count: listings.count)
  }

  private static func prefix(_ symbol: [UInt8], name: [UInt8]) -> [UInt8] {
    Array("var hq_str_".utf8) + symbol + Array("=\"".utf8) + name
  }

  mutating func markChanged(_ place: Int) { lines[place] = [] }

  /// Lets go of what is written; it is written again when next asked for.
  mutating func forget() { lines = Array(repeating: [], count: lines.count) }

  package static func appendEmptyLine(_ symbol: [UInt8], to body: inout [UInt8]) {
    body.append(contentsOf: prefix(symbol, name: []))
    body.append(contentsOf: "\";\n".utf8)
  }

  mutating func append(
    _ place: Int, states: [InstrumentState], traits: [Traits], to body: inout [UInt8]
  ) {
    if lines[place].isEmpty {
      lines[place] = line(prefixes[place], state: states[place], traits: traits[place])
    }
    body.append(contentsOf: lines[place])
  }

  /// Appends a line that is no instrument's own.
  package func append(
    _ state: InstrumentState, traits: Traits, symbol: [UInt8], name: [UInt8],
    to body: inout [UInt8]
  ) {
    body += line(LineTable.prefix(symbol, name: name), state: state, traits: traits)
  }

  private func line(_ prefix: [UInt8], state: InstrumentState, traits: Traits) -> [UInt8] {
    var line = LineWriter(bytesTypical: LineTable.lineBytesTypical)
    line.write(prefix)
    if traits.isShanghaiIndex {
      line.writeShanghaiIndex(state)
    } else {
      line.writeNumbers(state, traits: traits)
    }
    line.writeTail(state, traits: traits, date: state.isPreviousSession ? yesterday : today)
    return line.bytes
  }
}

extension LineWriter {
  /// Fields 1…29 of a stock, fund or Shenzhen index.
  fileprivate mutating func writeNumbers(_ state: InstrumentState, traits: Traits) {
    writeField(price: state.hidesOpen ? 0 : state.open)
    writeField(price: state.reference)
    writeField(price: state.last)
    writeField(price: state.high)
    writeField(price: state.low)
    writeField(price: traits.isIndex ? 0 : state.book.bid)
    writeField(price: traits.isIndex ? 0 : state.book.ask)
    writeField(whole: state.volume)
    writeField(price: state.turnover)
    let levels = state.levels(traits)
    for level in levels.indices { writeLevel(levels[level].volume, price: levels[level].price) }
  }

  /// Fields 1…29 of a Shanghai index: four decimals, volume in lots, whole yuan, no book.
  fileprivate mutating func writeShanghaiIndex(_ state: InstrumentState) {
    writeField(tenThousandths: state.open)
    writeField(tenThousandths: state.reference)
    writeField(tenThousandths: state.last)
    writeField(tenThousandths: state.high)
    writeField(tenThousandths: state.low)
    writeField(whole: 0)
    writeField(whole: 0)
    writeField(whole: state.volume / 100)
    writeField(whole: state.turnover / 1000)
    for _ in 0..<20 { writeField(whole: 0) }
  }

  /// Date, time, status and what the exchange puts behind them.
  fileprivate mutating func writeTail(_ state: InstrumentState, traits: Traits, date: [UInt8]) {
    write(comma)
    write(date)
    write(comma)
    write(clock: Int(state.stamp))
    write(comma)
    write(statusCode(state.status))
    switch traits.exchange {
    case .shanghai where state.afterHours.isShown:
      writeAfterHours(state)
      write(cents: state.afterHours.turnover / 10)
    case .shanghai:
      write(comma)
    case .shenzhen where state.afterHours.isShown:
      writeAfterHours(state)
      write(price: state.afterHours.turnover)
    case .beijing:
      write(",21.0776,0.0000,0,8300000,B,T")
    default: break
    }
    write("\";\n")
  }

  private mutating func writeAfterHours(_ state: InstrumentState) {
    write(",D|")
    write(whole: state.afterHours.volume)
    write(UInt8(ascii: "|"))
  }

  private func statusCode(_ status: QuoteStatus) -> StaticString {
    switch status {
    case .haltedOneHour: "01"
    case .halted: "02"
    case .haltedAllDay: "03"
    case .haltedTemporarily: "04"
    case .haltedHalfDay: "05"
    case .paused: "07"
    case .noRecord: "-1"
    case .notListed: "-2"
    case .delisted: "-3"
    case .normal, .unknown: "00"
    }
  }
}
