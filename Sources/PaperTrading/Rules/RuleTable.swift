import Market

/// Rules as rows: which instruments, of which the first row that applies counts. No paper order is
/// older than the rule books of 2026-07-06, and none of the rules has changed since: no row has a
/// day. Marks: [RULE] a rule book, [PAGE] a public text about one, [GK] general knowledge, [CON]
/// sources contradict each other.
struct RuleRow<Value: Sendable>: Sendable {
  /// nil: each.
  var exchange: Exchange?
  var kind: InstrumentKind?
  var board: Board?
  let value: Value
}

extension Array {
  /// The value of the first row that applies.
  func value<Value>(for instrument: Instrument) -> Value? where Element == RuleRow<Value> {
    first { row in
      (row.exchange == nil || row.exchange == instrument.exchange)
        && (row.kind == nil || row.kind == instrument.kind)
        && (row.board == nil || row.board == instrument.board)
    }?.value
  }
}
