import Market

/// Rules as rows: which instruments, and from which day on. The newest row of an instrument comes
/// first. Marks: [RULE] a rule book, [PAGE] a public text about one, [GK] general knowledge, [CON]
/// sources contradict each other.
struct DatedRow<Value: Sendable>: Sendable {
  let from: TradingDay
  /// nil: each.
  let exchange: Exchange?
  let kind: InstrumentKind?
  let board: Board?
  let value: Value

  init(
    from: TradingDay, exchange: Exchange? = nil, kind: InstrumentKind? = nil,
    board: Board? = nil, _ value: Value
  ) {
    self.from = from
    self.exchange = exchange
    self.kind = kind
    self.board = board
    self.value = value
  }

  func applies(to instrument: Instrument, on day: TradingDay) -> Bool {
    from <= day && (exchange == nil || exchange == instrument.exchange)
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

/// The days on which rule books began: literals, so that a misprint ends the first test that reads
/// a table.
extension TradingDay {
  static let limits = ruleBegin(1996, 12, 16)
  static let starBoard = ruleBegin(2019, 7, 22)
  static let chiNextReform = ruleBegin(2020, 8, 24)
  static let beijingExchange = ruleBegin(2021, 11, 15)
  static let bondLimits = ruleBegin(2022, 8, 1)
  /// SSE 上证发〔2023〕32号, SZSE 深证上〔2023〕98号.
  static let mainBoardReform = ruleBegin(2023, 4, 10)
  /// SSE 上证发〔2026〕41号, SZSE 深证上〔2026〕551号, BSE 北证公告〔2026〕17号.
  static let rules2026 = ruleBegin(2026, 7, 6)

  /// - Precondition: a date.
  static func ruleBegin(_ year: Int, _ month: Int, _ day: Int) -> TradingDay {
    guard let day = TradingDay(year: year, month: month, day: day) else {
      preconditionFailure("a rule begins on a day that is no date")
    }
    return day
  }
}
