/// What the code of an A-share market symbol says: exchange, kind, board, and with them the tick,
/// the lot and the unit of volume.
///
/// One table per exchange, first match wins, because that is how the exchanges hand out codes; a
/// code outside the table is nil and never guessed. Prefixes as in Sina's own pages and the
/// exchanges' code plans (docs/exchange-rules.md). SH 580 was warrants, gone since 2011: nil.

extension Instrument {
  /// nil unless `symbol` is `sh`, `sz` or `bj` and six digits with a prefix in the table.
  public static func classify(_ symbol: Symbol) -> Instrument? {
    let spelling = symbol.description
    guard let exchange = Exchange(prefixOf: spelling) else { return nil }
    let code = spelling.dropFirst(exchange.prefix.count)
    guard isCode(code) else { return nil }
    return exchange.codePlan
      .first { rule in rule.prefixes.contains { code.hasPrefix($0) } }
      .flatMap { rule in
        rule.kind.map {
          Instrument(symbol: symbol, exchange: exchange, kind: $0, board: rule.board)
        }
      }
  }

  /// Six ASCII digits.
  static func isCode(_ text: some StringProtocol) -> Bool {
    text.utf8.count == codeDigits && text.utf8.allSatisfy { (48...57).contains($0) }
  }

  static let codeDigits = 6
}

extension Exchange {
  /// The exchanges whose symbols are a prefix and six digits.
  static let mainland: [Exchange] = [.shanghai, .shenzhen, .beijing]

  package init?(prefixOf spelling: String) {
    guard let exchange = Exchange.mainland.first(where: { spelling.hasPrefix($0.prefix) }) else {
      return nil
    }
    self = exchange
  }

  fileprivate var codePlan: [CodeRule] {
    switch self {
    case .shanghai: CodeRule.shanghai
    case .shenzhen: CodeRule.shenzhen
    case .beijing: CodeRule.beijing
    case .hongKong, .unitedStates: []
    }
  }
}

private struct CodeRule {
  let prefixes: [String]
  /// nil: a code of no kind candled knows.
  let kind: InstrumentKind?
  let board: Board

  init(_ prefixes: String, _ kind: InstrumentKind?, _ board: Board = .main) {
    self.prefixes = prefixes.split(separator: " ").map(String.init)
    self.kind = kind
    self.board = board
  }

  static let shanghai = [
    CodeRule("600 601 603 605", .stock),
    CodeRule("688 689", .stock, .star),
    CodeRule("000", .index),
    CodeRule("580", nil),
    CodeRule("5", .fund),
    CodeRule("110 111 113 118 132", .convertibleBond),
    CodeRule("900", .bShare),
    CodeRule("204", .repo),
  ]

  static let shenzhen = [
    CodeRule("000 001 002 003", .stock),
    CodeRule("300 301 302", .stock, .chiNext),
    CodeRule("399", .index),
    CodeRule("15 16 18", .fund),
    CodeRule("12", .convertibleBond),
    CodeRule("200 201", .bShare),
    CodeRule("131", .repo),
  ]

  static let beijing = [
    CodeRule("92 43 83 87 88", .stock, .beijing),
    CodeRule("899", .index, .beijing),
  ]
}

/// How orders must be sized, in shares or units.
public struct OrderLot: Sendable, Hashable {
  /// The smallest buy.
  public let minimum: Int
  /// The step above it.
  public let increment: Int
}

extension Instrument {
  /// The smallest price step, in the instrument's currency; of a repo, in percent a year; of an
  /// index, which has no orders, the resolution it is published in.
  public var tickSize: ExactDecimal {
    switch (kind, exchange) {
    case (.stock, _), (.bShare, .shenzhen): ExactDecimal(units: 1, scale: 2)
    case (.repo, .shanghai): ExactDecimal(units: 5, scale: 3)
    case (.index, .shanghai): ExactDecimal(units: 1, scale: 4)
    case (.fund, _), (.convertibleBond, _), (.bShare, _), (.repo, _), (.index, _):
      ExactDecimal(units: 1, scale: 3)
    }
  }

  /// nil for an index.
  public var lot: OrderLot? {
    switch (kind, board) {
    case (.index, _): nil
    case (.stock, .star): OrderLot(minimum: 200, increment: 1)
    case (.stock, .beijing): OrderLot(minimum: 100, increment: 1)
    case (.stock, _), (.fund, _), (.bShare, _): OrderLot(minimum: 100, increment: 100)
    case (.convertibleBond, _), (.repo, _): OrderLot(minimum: 10, increment: 10)
    }
  }

  /// Shares or units in one unit of the volume Sina publishes: Shanghai's indexes count lots.
  public var volumeMultiplier: Int64 {
    kind == .index && exchange == .shanghai ? 100 : 1
  }
}
