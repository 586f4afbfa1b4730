import Market

/// How far the broker is in the feed, and of which instruments.
struct FeedPlace: Sendable {
  /// The change up to which rows were looked at.
  var sequence: Int64 = 0
  /// Instruments whose rows were asked for in the newest look; nil before the first.
  private var watched: Set<Symbol>?
  /// Instruments that were asked for again after a pause, and without a row since.
  private var unchecked: Set<Symbol> = []

  /// Rows of these are looked at now.
  mutating func watch(_ symbols: Set<Symbol>) {
    if let watched { unchecked.formUnion(symbols.subtracting(watched)) }
    unchecked.formIntersection(symbols)
    watched = symbols
  }

  /// What was seen of an instrument before is not proved by orders that saw it, too.
  mutating func recheck(_ symbol: Symbol) { unchecked.insert(symbol) }

  /// A row of an instrument came.
  /// - Returns: whether it is the first behind a pause, in which the daemon may have taken out what
  ///   was seen before.
  mutating func finishRecheck(of symbol: Symbol) -> Bool { unchecked.remove(symbol) != nil }
}
