/// Sina's adjustment factors: one small script an instrument and a kind.
///
///     var sh600000qfq={"total":2,"data":[{"d":"2026-07-16","f":"1.0"},…]}⏎/* … */
///
/// A fund's rows have two members more: `u`, the cash paid a unit so far, and `s`, the product of
/// its splits; their `f` is 1 whatever was paid. Which of two different rows of a day comes first
/// is not known, and so neither is read.
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

  /// The factors by ascending day.
  static func decode(
    _ body: UnsafeRawBufferPointer, status: Int, symbol: Symbol, kind: AdjustmentFactor.Kind
  ) throws(FeedRefusal) -> [AdjustmentFactor] {
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
    return try file.factors(of: symbol, kind: kind)
  }

  private static func isDeclaration(_ name: UnsafeRawBufferPointer, of variable: String) -> Bool {
    let expected = Array("var \(variable)".utf8)
    return expected.withUnsafeBytes { name.equals($0) }
  }

  /// The object as it stands there.
  fileprivate struct File {
    var total: Int64?
    var rows: [Row]?

    struct Row {
      var day, factor, cash, split: JSONValue?
    }

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
      var rows: [Row] = []
      try reader.openArray()
      while try reader.nextElement() {
        var row = Row()
        try reader.openObject()
        while let key = try reader.nextKey() {
          let value = try reader.readValue()
          switch key {
          case "d": row.day = value
          case "f": row.factor = value
          case "u": row.cash = value
          case "s": row.split = value
          default: break
          }
        }
        rows.append(row)
      }
      self.rows = rows
    }

    func factors(
      of symbol: Symbol, kind: AdjustmentFactor.Kind
    ) throws(FeedRefusal) -> [AdjustmentFactor] {
      guard let rows, total == Int64(rows.count) else {
        throw FeedRefusal(.malformed, "the number of rows differs from `total`")
      }
      var factors: [TradingDay: AdjustmentFactor] = [:]
      for (place, row) in rows.enumerated() {
        let factor = try row.factor(of: symbol, kind: kind, at: place)
        guard let other = factors.updateValue(factor, forKey: factor.from), other != factor else {
          continue
        }
        guard factor.fund != nil, other.factor == factor.factor else {
          throw FeedRefusal(
            .implausible, "row \(place): a second, different factor for the same day")
        }
        factors[factor.from]?.fund = AdjustmentFactor.FundTotals(cash: nil, split: nil)
      }
      return factors.values.sorted { $0.from < $1.from }
    }
  }

  /// Factors carry sixteen places, the last ones zeros; those of a thousand and more fit only
  /// without them.
  fileprivate static func decimal(_ value: JSONValue) -> ExactDecimal? {
    guard let text = value.string?.bytes ?? value.number?.bytes else { return nil }
    if let decimal = try? ExactDecimal(parsing: text) { return decimal }
    guard text.offset(of: UInt8(ascii: ".")) != nil else { return nil }
    var end = text.count
    while end > 0, text[end - 1] == UInt8(ascii: "0") { end -= 1 }
    return try? ExactDecimal(parsing: text.slice(0, to: end))
  }
}

extension SinaFactors.File.Row {
  fileprivate func factor(
    of symbol: Symbol, kind: AdjustmentFactor.Kind, at place: Int
  ) throws(FeedRefusal) -> AdjustmentFactor {
    guard let day = day?.string.flatMap({ TradingDay(ascii: $0.bytes) }) else {
      throw FeedRefusal(.malformed, "row \(place): a date expected")
    }
    guard let factor = factor.flatMap(SinaFactors.decimal) else {
      throw FeedRefusal(.malformed, "row \(place): a factor expected")
    }
    guard factor.isPositive else {
      throw FeedRefusal(.implausible, "row \(place): the factor is not positive")
    }
    let isFund = cash != nil || split != nil
    return AdjustmentFactor(
      symbol: symbol, kind: kind, from: day, factor: factor,
      fund: isFund
        ? AdjustmentFactor.FundTotals(
          cash: cash.flatMap(SinaFactors.decimal), split: split.flatMap(SinaFactors.decimal))
        : nil)
  }
}

extension ExactDecimal {
  /// nil where something stands behind the point.
  fileprivate var wholeUnits: Int64? { scale == 0 ? units : nil }
}
