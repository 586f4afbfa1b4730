import ExchangeSimulator
import Market

/// The trading day after a trading day: closes become previous closes, everybody draws anew.
///
/// The first day of a market shows one of every oddity at once, which no instrument could bear day
/// after day (ten limit-up days are a price times 2.6). From the second day on the odd ones mostly
/// trade like others and only now and then fall back, so that a month stays plausible and still
/// shows every oddity. A later day is a pure function of (seed, day, the day before).

extension SimulatedMarket {
  /// The market on the morning of `day`, its lines as this market's day left them.
  ///
  /// This market's day must have happened to its end.
  init(following market: SimulatedMarket, on day: TradingDay) {
    precondition(market.second >= Grid.dayEnd && day > market.day, "a day follows a finished one")
    self = market
    disturb { oddities, market in oddities.begin(&market) }
    turn(to: day)
    var lineage = market.lineage
    lineage.daysBefore += 1
    self.lineage = lineage
    var (traits, states, listings) = (self.traits, self.states, self.listings)
    let daySeed = Randomness.mixed(seed &+ UInt64(bitPattern: Int64(day.daysSince1970)))
    for place in traits.indices {
      states[place].random = Randomness(seed: daySeed, stream: UInt64(place))
      states[place].isPreviousSession = true
      let dividend = self.dividend(at: place, close: states[place].anchor)
      traits[place].renew(
        lineage, place: place, on: day, reference: dividend?.reference ?? states[place].anchor,
        using: &states[place].random)
      let name = lineage.name(place, traits: traits[place], isExDay: dividend != nil)
      listings[place] = Listing(symbol: symbols[place], name: name, traits: traits[place])
    }
    self.traits = traits
    self.states = states
    self.listings = listings
    lineTable = LineTable(listings: listings, day: day, previousDay: previousDay)
  }
}

extension Traits {
  /// Draws what the instrument does on a day that is not the market's first.
  fileprivate mutating func renew(
    _ lineage: Lineage, place: Int, on day: TradingDay, reference: Int64,
    using random: inout Randomness
  ) {
    behaviour = Traits.behaviour(
      lineage.behaviours[place], daysBefore: lineage.daysBefore, using: &random)
    // One that is not listed shows no price, and keeps the one it would have.
    if reference > 0 { previousClose = reference }
    pace.sizeSteps = 1
    InstrumentTable.setPace(&self, using: &random)
    (halt.from, halt.to) = (0, 0)
    InstrumentTable.setHalts(&self, using: &random)
    (limits.up, limits.down) = (0, 0)
    if isIndex || lineage.isWithoutLimit(place, traits: self) { return }
    InstrumentTable.setLimits(
      &self, isSpecialTreatment: InstrumentTable.isSpecialTreatment(lineage.names[place]), on: day)
  }

  private static func behaviour(
    _ nature: Behaviour, daysBefore: Int, using random: inout Randomness
  ) -> Behaviour {
    let fallsBack = random.chance(perMille: 250)
    switch nature {
    case .liquid, .active, .illiquid, .untraded, .index, .delisted, .notListed: return nature
    case .newListing: return .active
    case .haltedAllDay, .haltedUnmarked, .haltedMidday, .haltedAtOpening:
      return fallsBack ? nature : .active
    case .lockedLimitUp, .lockedLimitDown:
      // By turns, or the price would run away.
      let turn: Behaviour = daysBefore % 2 == 0 ? .lockedLimitUp : .lockedLimitDown
      return fallsBack ? turn : .active
    }
  }
}

extension Lineage {
  /// Trading days without a price limit after listing: five, one in Beijing
  /// (docs/exchange-rules.md).
  private static let freeDays = 5

  fileprivate func isWithoutLimit(_ place: Int, traits: Traits) -> Bool {
    behaviours[place] == .newListing && traits.board != .beijing && daysBefore < Lineage.freeDays
  }

  /// The name of a day: `N` on the first, `C` on the four after it, `XD` on a day ex dividend.
  fileprivate func name(_ place: Int, traits: Traits, isExDay: Bool) -> [UInt8] {
    var name = names[place]
    if behaviours[place] == .newListing {
      name.removeFirst()
      if daysBefore < Lineage.freeDays { name.insert(UInt8(ascii: "C"), at: 0) }
    }
    return isExDay ? Array("XD".utf8) + name : name
  }
}
