import Market

/// The factors of adjusted prices, as Sina's files have them (docs/sources/sina.md#factors).
extension SimulatedHistory {
  /// What qfq.js or hfq.js says at `moment`: newest first, the last from 1900-01-01 on. nil for a
  /// symbol nobody knows.
  package mutating func factors(
    of symbol: Symbol, kind: AdjustmentFactor.Kind, at moment: Timestamp
  ) -> [AdjustmentFactor]? {
    guard let place = morning(0).place(of: symbol).map(Int.init) else { return nil }
    let today = day(at: moment)
    _ = market(on: today)
    let past = (earlier(place).exDays + exDays[place, default: []]).filter { $0.day <= today }
    return AdjustmentFactor.chain(past, of: symbol, kind: kind)
  }
}

extension AdjustmentFactor {
  /// Digits behind the point; Sina shows sixteen, of which the last three are zeros.
  private static let places: UInt8 = 13
  private static let one: Int64 = 10_000_000_000_000

  /// - Parameter exDays: ascending.
  fileprivate static func chain(
    _ exDays: [ExDay], of symbol: Symbol, kind: Kind
  ) -> [AdjustmentFactor] {
    let oldest = TradingDay(year: 1900, month: 1, day: 1)
    let starts = [oldest].compactMap { $0 } + exDays.map(\.day)
    var units = [one]
    for exDay in kind == .qfq ? exDays.reversed() : exDays {
      let last = Int128(units[units.count - 1])
      units.append(Int64(last * Int128(exDay.close) / Int128(exDay.reference)))
    }
    let newestFirst = kind == .qfq ? units : units.reversed()
    return zip(starts.reversed(), newestFirst).map { start, units in
      AdjustmentFactor(
        symbol: symbol, kind: kind, from: start,
        factor: ExactDecimal(units: units * 1000, scale: places + 3))
    }
  }

  /// The file that has them.
  package static func script(
    _ factors: [AdjustmentFactor], of symbol: Symbol, kind: Kind
  ) -> String {
    let rows = factors.map { "{\"d\":\"\($0.from)\", \"f\":\"\($0.factor)\"}" }
    return "var \(symbol)\(kind.name)={\"total\":\(rows.count),\"data\":[\n"
      + rows.joined(separator: ",\n") + "]}\n/* \(symbol) */\n"
  }
}
