import Market

/// How far the broker is in the feed, and of which instruments.
struct FeedPlace: Sendable {
  /// Up to which change rows were looked at.
  var sequence: Int64 = 0
  /// In the newest look; nil before the first.
  private var asked: Set<Symbol>?
  /// Asked for again after a pause, and without a row since.
  private var unproven: Set<Symbol> = []

  /// A look at the rows of these.
  mutating func ask(_ symbols: Set<Symbol>) {
    if let asked { unproven.formUnion(symbols.subtracting(asked)) }
    unproven.formIntersection(symbols)
    asked = symbols
  }

  /// What was seen of an instrument before is not proved by orders that saw it, too.
  mutating func doubt(_ symbol: Symbol) { unproven.insert(symbol) }

  /// A row of an instrument.
  /// - Returns: whether it is the first behind a pause, in which the daemon may have taken out what
  ///   was seen before.
  mutating func endPause(of symbol: Symbol) -> Bool { unproven.remove(symbol) != nil }
}
