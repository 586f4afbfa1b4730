import Market

/// A row, and what its exchange did before it: which phases of the day matched orders since the row
/// before, and whether orders rest in its book.
struct SeenBook {
  let row: Snapshot
  let phases: [TradingPhase]
  /// Whether orders rest in the book: while an auction is collected it shows the price that would
  /// be made, on both sides, and at noon orders that nobody matched.
  let isExact: Bool
  /// When the auction began to collect orders that made the book; nil of a book of continuous
  /// trading.
  let auctionOpened: Int?
  /// The price of the interval's only trades, if an auction made them all.
  let auction: SnapshotPair.Auction?
  /// The row before on the same day, and this one.
  let pair: SnapshotPair?

  var second: Int { row.second }

  var before: Snapshot? { pair?.before }

  init(_ row: Snapshot, behind before: Snapshot?, phases: [TradingPhase]) {
    (self.row, self.phases) = (row, phases)
    isExact = Self.hasExactBook(row, phases: phases)
    let phase = phases.last { $0.isMatching && $0.opens <= row.second }
    let isOfAuction = phase.map { $0.isAuction && $0.closes <= row.second } ?? false
    auctionOpened = isOfAuction ? phases.first { $0.name == phase?.name }?.opens : nil
    let auction = isOfAuction ? Self.auction(from: before, to: row, phases: phases) : nil
    self.auction = auction
    let isExact = isExact
    pair = before.map {
      SnapshotPair(
        before: $0, after: row, isBookExact: isExact,
        isMatched: Self.hasMatched(from: $0, to: row, phases: phases), auction: auction)
    }
  }

  private static func hasExactBook(_ row: Snapshot, phases: [TradingPhase]) -> Bool {
    let phase = phases.first { $0.contains(row.second) }?.name
    switch phase {
    case .openingAuction, .closingAuction, .lunch: return false
    case .continuous, .afterHours, nil: break
    }
    if row.trading != .normal { return false }
    if let bid = row.bids.first, let ask = row.asks.first { return bid.price < ask.price }
    return !row.bids.isEmpty || !row.asks.isEmpty
  }

  /// Volume that comes where nothing is matched is of other trades: blocks, or a session of its
  /// own.
  static func hasMatched(
    from before: Snapshot, to row: Snapshot, phases: [TradingPhase]
  ) -> Bool {
    if isHalted(before, phases: phases), isHalted(row, phases: phases) { return false }
    return phases.contains { $0.hasMatched(by: row.second, since: before.second) }
  }

  /// Sources do not say so of every halt; in continuous trading a book without orders is one.
  private static func isHalted(_ row: Snapshot, phases: [TradingPhase]) -> Bool {
    if row.trading == .halted { return true }
    return row.bids.isEmpty && row.asks.isEmpty
      && phases.contains { $0.name == .continuous && $0.contains(row.second) }
  }

  /// The auction whose book the row has, where it made all trades since the row before.
  private static func auction(
    from before: Snapshot?, to row: Snapshot, phases: [TradingPhase]
  ) -> SnapshotPair.Auction? {
    let first = before?.second ?? 0
    // A halt ends with an auction of its own.
    guard before?.trading != .halted,
      let phase = phases.last(where: {
        $0.isAuction && $0.hasEnded(by: row.second, since: first)
      })
    else { return nil }
    // What traded before a first row is not known, unless nothing can have.
    let isFromItsOpening =
      before.map { $0.volume.isZero || first >= phase.opens } ?? (phase.name == .openingAuction)
    let volume = row.volume.wholeShares - (before?.volume.wholeShares ?? 0)
    guard isFromItsOpening, volume > 0, row.last.isPositive else { return nil }
    return SnapshotPair.Auction(price: row.last, volume: volume)
  }
}
