/// One bar: `{"t":"2026-09-03T13:30:00Z","o":324.87,"h":325.25,"l":324.25,"c":324.6807,"v":626759,
/// "n":10822,"vw":324.786206}`, in any order of keys.
///
/// `o` or `c` outside [`l`, `h`] is no fault: some conditions of a trade update one and not the
/// other (docs/sources/alpaca.md#bars). Such a bar is kept as it was sent, with a mark.

import Market

struct AlpacaBar {
  private var start: JSONValue?
  private var open: JSONValue?
  private var high: JSONValue?
  private var low: JSONValue?
  private var close: JSONValue?
  private var volume: JSONValue?
  private var trades: JSONValue?
  private var vwap: JSONValue?
  /// What stood beside the bar and could not be read.
  private(set) var dropped: [DroppedMember] = []

  mutating func read(_ reader: inout JSONReader) throws(JSONFault) {
    try reader.openObject()
    while let key = try reader.nextKey() {
      let value = try reader.readValue()
      switch key {
      case "t": start = value
      case "o": open = value
      case "h": high = value
      case "l": low = value
      case "c": close = value
      case "v": volume = value
      case "n": trades = value
      case "vw": vwap = value
      default: break
      }
    }
  }

  mutating func candle(
    of symbol: Symbol, timeframe: Timeframe, source: Source, clock: inout NewYorkClock
  ) throws(RowFault) -> Candle {
    let openedAt = try AlpacaBar.moment(start)
    let (day, closedAt) = try clock.interval(from: openedAt, timeframe)
    let (count, average) = (trades, vwap)
    let trades = dropped.value(of: .trades, in: symbol) { () throws(RowFault) in
      try AlpacaBar.count(count)
    }
    let vwap = dropped.value(of: .vwap, in: symbol) { () throws(RowFault) in
      try AlpacaBar.isAbsent(average) ? nil : AlpacaBar.number(average, named: "vw")
    }
    var candle = Candle(
      symbol: symbol, timeframe: timeframe, tradingDay: day, openedAt: openedAt,
      closedAt: closedAt, open: try AlpacaBar.price(open, named: "o"),
      high: try AlpacaBar.price(high, named: "h"), low: try AlpacaBar.price(low, named: "l"),
      close: try AlpacaBar.price(close, named: "c"),
      volume: try AlpacaBar.number(volume, named: "v"),
      turnover: nil, trades: trades ?? nil, vwap: vwap ?? nil, flags: [], source: source)
    guard candle.high >= candle.low else { throw RowFault(.inconsistent, detail: "h is below l") }
    let range = candle.low...candle.high
    if !range.contains(candle.open) || !range.contains(candle.close) {
      candle.flags.insert(.outsideRange)
    }
    return candle
  }

  private static func moment(_ value: JSONValue?) throws(RowFault) -> Timestamp {
    guard let moment = value?.string.flatMap({ Timestamp(rfc3339: $0.bytes) }) else {
      throw .malformed("t: a time expected")
    }
    return moment
  }

  private static func price(_ value: JSONValue?, named field: String) throws(RowFault)
    -> ExactDecimal
  {
    let price = try number(value, named: field)
    if price.isZero {
      throw RowFault(.inconsistent, detail: "\(field): a price above zero expected")
    }
    return price
  }

  /// Zero or more.
  private static func number(
    _ value: JSONValue?, named field: String
  ) throws(RowFault) -> ExactDecimal {
    if isAbsent(value) { throw .malformed("\(field): missing") }
    guard let literal = value?.number else {
      throw RowFault(.notANumber, detail: "\(field): a number expected")
    }
    guard let number = try? literal.decimal() else {
      throw RowFault(.notANumber, detail: "\(field): too many digits")
    }
    if number.isNegative { throw RowFault(.negative, detail: "\(field): a number below zero") }
    return number
  }

  private static func count(_ value: JSONValue?) throws(RowFault) -> Int64? {
    if isAbsent(value) { return nil }
    guard let count = value?.number?.whole else {
      throw RowFault(.notANumber, detail: "n: a whole number expected")
    }
    if count < 0 { throw RowFault(.negative, detail: "n: a number below zero") }
    return count
  }

  private static func isAbsent(_ value: JSONValue?) -> Bool {
    switch value {
    case nil, .null: true
    default: false
    }
  }
}
