/// What an exchange, an authority or a source prescribes, for whom and from when to when: one line
/// of `config/rules.csv` or of the operator's file (docs/rules.md).
public struct Rule: Sendable, Hashable {
  /// `cn`, `us`.
  public var market: String
  /// `sh`, `sz`, `bj`, `main`, `chinext`, `star`, or a symbol; empty: all of the market.
  public var board: String
  /// `stock`, `fund`; empty: each.
  public var kind: String
  public var key: String
  public var value: String
  /// The first and the last day it holds; nil: of all before, of all after.
  public var fromDay: TradingDay?
  public var toDay: TradingDay?
  /// Who says so, for people.
  public var source: String
  /// Over a shipped rule of the same board and kind.
  public var isOperators: Bool

  var days: ClosedRange<TradingDay> {
    let first = fromDay ?? Self.firstDay
    // A reader refuses a rule that ends before it begins.
    return first...max(first, toDay ?? Self.lastDay)
  }

  /// Before and behind all days that are written: their distance is a number of days.
  static let firstDay = TradingDay.first(of: TradingDay.years.lowerBound)
  static let lastDay = TradingDay.first(of: TradingDay.years.upperBound)
}

/// Which instruments a rule is about.
struct RuleScope: Sendable, Hashable {
  var symbol: Symbol?
  var exchange: Exchange?
  var board: Board?
  var kind: InstrumentKind?

  /// nil if there is no such board or kind.
  init?(board: String, kind: String) {
    if !kind.isEmpty {
      guard let known = InstrumentKind.allCases.first(where: { $0.name == kind }) else {
        return nil
      }
      self.kind = known
    }
    switch board {
    case "": break
    case "main": self.board = .main
    case "chinext": (exchange, self.board) = (.shenzhen, .chiNext)
    case "star": (exchange, self.board) = (.shanghai, .star)
    case let prefix where Exchange.mainland.contains { $0.prefix == prefix }:
      exchange = Exchange(prefixOf: prefix)
    default:
      guard let symbol = Symbol(board) else { return nil }
      self.symbol = symbol
    }
  }

  /// The narrower one counts: a symbol before a board, that before an exchange, and of those of
  /// one width one with a kind.
  var width: Int {
    let ofBoard = symbol != nil ? 0 : board != nil ? 1 : exchange != nil ? 2 : 3
    return 2 * ofBoard + (kind == nil ? 1 : 0)
  }

  var isOfMarket: Bool { symbol == nil && exchange == nil && board == nil && kind == nil }

  @inline(__always)
  func includes(_ instrument: Instrument) -> Bool {
    (kind == nil || kind == instrument.kind) && (exchange == nil || exchange == instrument.exchange)
      && (board == nil || board == instrument.board)
  }
}

/// The rules of one key, the one that counts first. Few rows, of plain values: a question is a walk
/// over them and costs tens of nanoseconds.
struct DatedRules<Value: Sendable>: Sendable {
  private struct Row: Sendable {
    let scope: RuleScope
    let days: ClosedRange<TradingDay>
    let value: Value
  }

  private var rows: [Row] = []
  private var bySymbol: [Symbol: [Row]] = [:]

  mutating func append(_ value: Value, scope: RuleScope, days: ClosedRange<TradingDay>) {
    let row = Row(scope: scope, days: days, value: value)
    if let symbol = scope.symbol {
      bySymbol[symbol, default: []].append(row)
    } else {
      rows.append(row)
    }
  }

  /// What holds for an instrument.
  func value(of instrument: Instrument, on day: TradingDay) -> Value? {
    if !bySymbol.isEmpty,
      let own = bySymbol[instrument.symbol]?.first(where: { $0.days.contains(day) })
    {
      return own.value
    }
    return rows.first { $0.days.contains(day) && $0.scope.includes(instrument) }?.value
  }

  /// What holds for all of the market, or for a symbol of it of which no kind is known.
  func value(of symbol: Symbol? = nil, on day: TradingDay) -> Value? {
    let own = symbol.flatMap { bySymbol[$0]?.first { $0.days.contains(day) } }
    return (own ?? rows.first { $0.days.contains(day) && $0.scope.isOfMarket })?.value
  }
}
