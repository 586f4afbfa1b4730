/// What the first three digits of a code mean, at each of the mainland's exchanges. A dense table,
/// for a source's every line asks; no meaning depends on a digit behind the third.
struct CodeTable: Sendable {
  private struct Meaning: Sendable {
    let days: ClosedRange<TradingDay>
    let prefixLength: Int
    /// nil: a code of no kind candled knows.
    let kind: InstrumentKind?
    let board: Board
  }

  private static let digits = 3
  private static let prefixesPerExchange = 1_000

  /// By exchange and prefix; of each, the longest prefix first.
  private var meanings = [[Meaning]](
    repeating: [], count: Exchange.mainland.count * prefixesPerExchange)

  /// False if the rule's value is no list of prefixes, or its board is of no exchange.
  mutating func add(_ rule: Rule, _ scope: RuleScope) -> Bool {
    let prefixes = rule.value.split(separator: " ")
    guard !prefixes.isEmpty, prefixes.allSatisfy(Self.isPrefix), let exchange = scope.exchange,
      let place = Exchange.mainland.firstIndex(of: exchange)
    else { return false }
    let board = scope.board ?? (exchange == .beijing ? .beijing : .main)
    for prefix in prefixes {
      let missing = Self.digits - prefix.utf8.count
      let width = (0..<missing).reduce(1) { width, _ in width * 10 }
      let first = place * Self.prefixesPerExchange + (Int(prefix) ?? 0) * width
      let meaning = Meaning(
        days: rule.days, prefixLength: prefix.utf8.count, kind: scope.kind, board: board)
      for row in first..<first + width {
        let rank = meanings[row].firstIndex { $0.prefixLength < meaning.prefixLength }
        meanings[row].insert(meaning, at: rank ?? meanings[row].endIndex)
      }
    }
    return true
  }

  private static func isPrefix(_ text: Substring) -> Bool {
    (1...digits).contains(text.utf8.count) && text.utf8.allSatisfy { (48...57).contains($0) }
  }

  /// nil unless `symbol` is `sh`, `sz` or `bj` and six digits that a rule knows.
  func instrument(_ symbol: Symbol, on day: TradingDay) -> Instrument? {
    guard symbol.high == 0, let place = Self.place(of: symbol.low),
      let meaning = meanings[place.row].first(where: { $0.days.contains(day) }),
      let kind = meaning.kind
    else { return nil }
    return Instrument(
      symbol: symbol, exchange: place.exchange, kind: kind, board: meaning.board)
  }

  /// What holds on a day, by exchange and prefix: `sh`, `sz`, `bj`, each 000 to 999.
  func instruments(on day: TradingDay) -> [Instrument?] {
    meanings.enumerated().map { row, meanings in
      guard let meaning = meanings.first(where: { $0.days.contains(day) }),
        let kind = meaning.kind
      else { return nil }
      return Instrument(
        symbol: Symbol(low: 0, high: 0),
        exchange: Exchange.mainland[row / Self.prefixesPerExchange], kind: kind,
        board: meaning.board)
    }
  }

  private static func place(of key: UInt64) -> (exchange: Exchange, row: Int)? {
    let digits = (2..<8).map { UInt8(truncatingIfNeeded: key >> (8 * UInt64($0))) &- 48 }
    let letters = String(
      decoding: [UInt8(truncatingIfNeeded: key), UInt8(truncatingIfNeeded: key >> 8)],
      as: Unicode.ASCII.self)
    guard digits.allSatisfy({ $0 <= 9 }),
      let place = Exchange.mainland.firstIndex(where: { $0.prefix == letters })
    else { return nil }
    let prefix = digits[..<Self.digits].reduce(0) { $0 * 10 + Int($1) }
    return (Exchange.mainland[place], place * prefixesPerExchange + prefix)
  }
}
