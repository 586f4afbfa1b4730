/// What the code of an A-share market symbol says: exchange, kind, board, and with them the tick
/// and the lot. The code plans are rules (`config/rules.csv`), for prefixes come and go; a code
/// outside them is nil and never guessed.

extension Instrument {
  /// nil unless `symbol` is `sh`, `sz` or `bj` and six digits with a prefix of a rule.
  public static func classify(_ symbol: Symbol) -> Instrument? {
    let rules = RuleBook.current
    return rules.mainland.codes.instrument(symbol, on: rules.undatedDay)
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
  public func tickSize(on day: TradingDay) -> ExactDecimal {
    RuleBook.current.tick(of: self, on: day)
  }

  /// Today's.
  public var tickSize: ExactDecimal {
    let rules = RuleBook.current
    return rules.tick(of: self, on: rules.undatedDay)
  }

  /// nil for an index.
  public func lot(on day: TradingDay) -> OrderLot? {
    RuleBook.current.mainland.orders.lot.value(of: self, on: day)
  }

  /// Today's.
  public var lot: OrderLot? { lot(on: RuleBook.current.undatedDay) }

  /// What its prices are in: ISO 4217.
  public var currency: String {
    let rules = RuleBook.current
    return rules.mainland.currency.value(of: self, on: rules.undatedDay) ?? "CNY"
  }
}
