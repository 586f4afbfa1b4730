import Market

/// Rules as rows: which instruments, and from which day on. The newest row of an instrument comes
/// first. No paper order is older than the rule books of 2026-07-06: what held before them is not
/// here. Marks: [RULE] a rule book, [PAGE] a public text about one, [GK] general knowledge, [CON]
/// sources contradict each other.
struct DatedRow<Value: Sendable>: Sendable {
  /// nil: it held when paper orders began.
  var from: TradingDay?
  /// nil: each.
  var exchange: Exchange?
  var kind: InstrumentKind?
  var board: Board?
  let value: Value

  func applies(to instrument: Instrument, on day: TradingDay) -> Bool {
    (from.map { $0 <= day } ?? true) && (exchange == nil || exchange == instrument.exchange)
      && (kind == nil || kind == instrument.kind) && (board == nil || board == instrument.board)
  }
}

extension Array {
  /// The value of the first row that applies.
  func value<Value>(for instrument: Instrument, on day: TradingDay) -> Value?
  where Element == DatedRow<Value> {
    first { $0.applies(to: instrument, on: day) }?.value
  }
}

extension TradingDay {
  /// SSE 上证发〔2026〕41号, SZSE 深证上〔2026〕551号, BSE 北证公告〔2026〕17号.
  static let rules2026: TradingDay = {
    guard let day = TradingDay(year: 2026, month: 7, day: 6) else {
      preconditionFailure("the rules of 2026 begin on a day that is no date")
    }
    return day
  }()
}
