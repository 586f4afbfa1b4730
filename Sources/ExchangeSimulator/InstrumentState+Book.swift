/// The ten levels of the book as every source shows them: the bids from the best, then the asks.
extension InstrumentState {
  package struct Level {
    /// Shares.
    package var volume: Int64 = 0
    package var price: Int64 = 0
  }

  package typealias Levels = InlineArray<10, Level>

  package func levels(_ traits: Traits) -> Levels {
    switch book.kind {
    case .none: Levels(repeating: Level())
    case .auction: auctionLevels()
    case .continuous: continuousLevels(traits)
    }
  }

  /// The virtual match: the matched volume on both sides at one price, the unmatched remainder on
  /// the second level with price 0.000 (600000 at 09:22:28).
  private func auctionLevels() -> Levels {
    var levels = Levels(repeating: Level())
    levels[0] = Level(volume: book.matched, price: book.bid)
    levels[5] = levels[0]
    levels[1].volume = max(book.remainder, 0)
    levels[6].volume = max(-book.remainder, 0)
    return levels
  }

  private func continuousLevels(_ traits: Traits) -> Levels {
    var levels = Levels(repeating: Level())
    var random = Randomness(seed: book.seed)
    let floor = max(traits.limits.down, traits.tick)
    for level in 0..<5 {
      let price = book.bid - Int64(level) * traits.tick
      guard book.bid > 0, price >= floor else { continue }
      levels[level] = Level(volume: bookVolume(&random, traits), price: price)
    }
    for level in 0..<5 {
      let price = book.ask + Int64(level) * traits.tick
      guard book.ask > 0, traits.limits.up == 0 || price <= traits.limits.up else { continue }
      levels[5 + level] = Level(volume: bookVolume(&random, traits), price: price)
    }
    return levels
  }

  private func bookVolume(_ random: inout Randomness, _ traits: Traits) -> Int64 {
    traits.order.minimum * random.around(200)
      + (random.chance(perMille: 200) ? random.below(traits.order.minimum) : 0)
  }
}
