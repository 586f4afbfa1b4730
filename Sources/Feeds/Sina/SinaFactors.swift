/// Sina's adjustment factors: one small script an instrument and a kind.
///
///     var sh600000qfq={"total":2,"data":[{"d":"2026-07-16","f":"1.0"},…]}⏎/* … */
///
/// A fund's rows have two members more: `u`, the cash paid a unit so far, and `s`, the ratio of its
/// splits; their `f` is 1 whatever was paid. Such a fund has no factors that anybody knows, unless
/// nothing was ever paid or split.
///
/// Read as data and never run. A factor that is wrong spoils every price before it, so here nothing
/// is mended or left out: the variable must have the requested name, the number of rows must equal
/// `total`, and a factor that is not positive refuses the file. The row of 1900-01-01, which stands
/// for the time before the first change, is kept.

import Market

enum SinaFactors {
  /// - Precondition: `symbol` is `sh`, `sz` or `bj` and six digits.
  static func endpoint(symbol: Symbol, kind: AdjustmentFactor.Kind) -> Endpoint {
    precondition(SinaHistory.isRequestable(symbol), "only sh, sz and bj have factors")
    return Endpoint(
      route: "/realstock/company/{symbol}/\(kind.name).js",
      path: "/realstock/company/\(symbol)/\(kind.name).js", headers: SinaHistory.headers)
  }

  /// The factors by ascending day; nil where the file shows events without factors for them.
  static func decode(
    _ body: UnsafeRawBufferPointer, status: Int, symbol: Symbol, kind: AdjustmentFactor.Kind
  ) throws(FeedRefusal) -> [AdjustmentFactor]? {
    if let refusal = SinaRefusal.classify(body, status: status) { throw refusal }
    let script = SinaScript(body)
    guard isDeclaration(script.name, of: "\(symbol)\(kind.name)") else {
      throw FeedRefusal(.malformed, "the variable is not named \(symbol)\(kind.name)")
    }
    var file = File()
    let reader: JSONReader
    do throws(JSONFault) {
      reader = try file.read(script.json)
    } catch {
      throw FeedRefusal(error)
    }
    try script.finish(reader)
    let factors = try file.factors()
    let one = ExactDecimal(1)
    if file.hasEvents, factors.allSatisfy({ $0.value == one }) { return nil }
    return factors.map { day, factor in
      AdjustmentFactor(symbol: symbol, kind: kind, from: day, factor: factor)
    }
  }

  private static func isDeclaration(_ name: UnsafeRawBufferPointer, of variable: String) -> Bool {
    let expected = Array("var \(variable)".utf8)
    return expected.withUnsafeBytes { name.equals($0) }
  }

  /// The object as it stands there.
  private struct File {
    var total: Int64?
    var rows: [(day: JSONValue?, factor: JSONValue?)]?
    /// Cash, or a split, in any row: both are cumulative, but start again at times.
    var hasEvents = false

    mutating func read(_ json: UnsafeRawBufferPointer) throws(JSONFault) -> JSONReader {
      var reader = try JSONReader(json)
      try reader.openObject()
      while let key = try reader.nextKey() {
        switch key {
        case "total": total = SinaFactors.decimal(try reader.readValue())?.wholeUnits
        case "data": try readRows(&reader)
        default: try reader.skip()
        }
      }
      return reader
    }

    private mutating func readRows(_ reader: inout JSONReader) throws(JSONFault) {
      var rows: [(day: JSONValue?, factor: JSONValue?)] = []
      try reader.openArray()
      while try reader.nextElement() {
        var row: (day: JSONValue?, factor: JSONValue?)
        try reader.openObject()
        while let key = try reader.nextKey() {
          let value = try reader.readValue()
          switch key {
          case "d": row.day = value
          case "f": row.factor = value
          case "u": hasEvents = hasEvents || SinaFactors.decimal(value) != .zero
          case "s": hasEvents = hasEvents || SinaFactors.decimal(value) != ExactDecimal(1)
          default: break
          }
        }
        rows.append(row)
      }
      self.rows = rows
    }

    func factors() throws(FeedRefusal) -> [(key: TradingDay, value: ExactDecimal)] {
      guard let rows, total == Int64(rows.count) else {
        throw FeedRefusal(.malformed, "the number of rows differs from `total`")
      }
      var factors: [TradingDay: ExactDecimal] = [:]
      for (place, row) in rows.enumerated() {
        let (day, factor) = try File.factor(of: row, place)
        guard factors.updateValue(factor, forKey: day).map({ $0 == factor }) ?? true else {
          throw FeedRefusal(
            .implausible, "row \(place): a second, different factor for the same day")
        }
      }
      return factors.sorted { $0.key < $1.key }
    }

    private static func factor(
      of row: (day: JSONValue?, factor: JSONValue?), _ place: Int
    ) throws(FeedRefusal) -> (TradingDay, ExactDecimal) {
      guard let day = row.day?.string.flatMap({ TradingDay(ascii: $0.bytes) }) else {
        throw FeedRefusal(.malformed, "row \(place): a date expected")
      }
      guard let factor = row.factor.flatMap(SinaFactors.decimal) else {
        throw FeedRefusal(.malformed, "row \(place): a factor expected")
      }
      guard factor.isPositive else {
        throw FeedRefusal(.implausible, "row \(place): the factor is not positive")
      }
      return (day, factor)
    }
  }

  /// Factors carry sixteen places, the last ones zeros; those of a thousand and more fit only
  /// without them.
  private static func decimal(_ value: JSONValue) -> ExactDecimal? {
    guard let text = value.string?.bytes ?? value.number?.bytes else { return nil }
    if let decimal = try? ExactDecimal(parsing: text) { return decimal }
    guard text.offset(of: UInt8(ascii: ".")) != nil else { return nil }
    var end = text.count
    while end > 0, text[end - 1] == UInt8(ascii: "0") { end -= 1 }
    return try? ExactDecimal(parsing: text.slice(0, to: end))
  }
}

extension ExactDecimal {
  /// nil where something stands behind the point.
  fileprivate var wholeUnits: Int64? { scale == 0 ? units : nil }
}
