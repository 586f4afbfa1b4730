import Market

/// The day's plan: what happens in which second.
///
/// Changes of state that are no trades (halts, resumptions) come at half past a minute, so that
/// which minute they belong to never hangs on an answer that straddled a boundary.
extension SimulatedMarket {
  mutating func step() {
    second += 1
    events.changed.removeAll(keepingCapacity: true)
    events.trades.removeAll(keepingCapacity: true)
    disturb { oddities, market in oddities.begin(&market) }
    if second < Grid.morningOpen {
      stepBeforeOpening()
    } else if second < Grid.afternoonOpen {
      stepInMorning()
    } else if second <= Grid.shenzhenClose {
      stepInAfternoon()
    } else {
      stepAfterClose()
    }
    disturb { oddities, market in oddities.end(&market) }
    for place in events.changed { lineTable.markChanged(Int(place)) }
  }

  private mutating func stepBeforeOpening() {
    switch second {
    case Grid.dayReset:
      updateAll { state, traits, _, _, _ in state.reset(traits) }
    case Grid.auctionOpen:
      plan(from: second) { traits, random in
        guard traits.trades, !traits.isIndex, traits.behaviour != .haltedAtOpening else {
          return nil
        }
        let crosses = traits.behaviour == .illiquid ? random.chance(perMille: 600) : true
        return crosses ? min(traits.pace.gapSteps, 20) : nil
      }
      moveIndexStamps(.shanghai)
    case Grid.auctionMatch..<Grid.auctionMatch + Grid.periodSeconds:
      matchOpening()
    case Grid.openShown..<Grid.openShown + Grid.periodSeconds:
      showOpening()
      moveIndexStamps(.shanghai)
    case (Grid.auctionOpen + 1)..<Grid.auctionMatch:
      runDue { state, traits, _, second, _ in state.collectAuctionOrders(traits, at: second) }
      moveIndexStamps(.shanghai)
    default:
      moveIndexStamps(.shanghai)
    }
  }

  private mutating func stepInMorning() {
    switch second {
    case Grid.morningOpen:
      moveIndexStamps(.shanghai)
      restamp { traits, _ in
        traits.behaviour == .haltedAllDay || traits.behaviour == .haltedUnmarked
      }
      planContinuous()
    case ..<Grid.morningStragglers:
      runContinuous()
    case Grid.morningStragglers:
      printStragglers()
      moveIndexStamps(.shanghai)
    case ...Grid.lunchStampsEnd:
      moveIndexStamps(.shanghai)
    default:
      break
    }
  }

  private mutating func stepInAfternoon() {
    switch second {
    case Grid.afternoonOpen:
      moveIndexStamps(.shanghai)
      planContinuous()
    case ...Grid.closingAuction:
      runContinuous()
      if second == Grid.closingAuction { planClosingAuction() }
    case Grid.shanghaiClose..<Grid.shenzhenClose:
      let second = second
      matchClosing { $0.exchange != .shenzhen && Grid.isPublication(second, phase: $0.phase) }
    case Grid.shenzhenClose:
      moveIndexStamps(.shanghai)
      matchClosing { $0.exchange == .shenzhen }
    default:
      runDue { state, traits, _, second, _ in state.collectAuctionOrders(traits, at: second) }
      moveIndexStamps(.shanghai)
      moveIndexStamps(.shenzhen)
    }
  }

  private mutating func stepAfterClose() {
    if second <= Grid.indexStampsEnd { moveIndexStamps(.shanghai) }
    switch second {
    case Grid.afterHoursOpen:
      openAfterHours()
    case (Grid.afterHoursOpen + 1)...Grid.afterHoursClose:
      runDue(slowedDown: SimulatedMarket.afterHoursSlowdown) {
        state, traits, index, second, trades in
        state.tradeAfterHours(traits, index: index, at: second, into: &trades)
      }
    case Grid.beijingRestamp:
      restampTraded { traits, _ in traits.exchange == .beijing }
    case Grid.shanghaiRestamp:
      restampTraded { traits, state in
        traits.exchange == .shanghai && state.afterHours.isShown
      }
    case Grid.shenzhenRestamp:
      restampTraded { traits, _ in traits.exchange == .shenzhen }
    default:
      break
    }
  }
}

/// What an event needs to know and may change: state, traits, place, second, trades.
typealias MarketEvent = (
  inout InstrumentState, Traits, Int32, Int, inout [Trade]
) -> Void

extension SimulatedMarket {
  /// Applies `event` to every instrument, all of which count as events.changed.
  @inline(__always)
  private mutating func updateAll(_ event: MarketEvent) {
    for place in states.indices {
      event(&states[place], traits[place], Int32(place), second, &events.trades)
      events.changed.append(Int32(place))
    }
  }

  /// Applies `event` to the instruments whose time has come and plans their next.
  @inline(__always)
  private mutating func runDue(slowedDown slowdown: Int64 = 1, event: MarketEvent) {
    for place in due.indices where due[place] <= second {
      event(&states[place], traits[place], Int32(place), second, &events.trades)
      planNext(place, slowedDown: slowdown)
      events.changed.append(Int32(place))
    }
  }

  /// `mean` gives the publications until the first event on average, nil for no event at all.
  private mutating func plan(
    from start: Int, mean: (Traits, inout Randomness) -> Int64?
  ) {
    for place in due.indices {
      guard let steps = mean(traits[place], &states[place].random) else {
        due[place] = SimulatedMarket.never
        continue
      }
      let wait = states[place].random.around(max(steps, 1))
      due[place] = publication(of: place, after: start, waiting: wait)
    }
  }

  @inline(__always)
  private mutating func planNext(_ place: Int, slowedDown slowdown: Int64 = 1) {
    let wait = states[place].random.around(traits[place].pace.gapSteps * slowdown)
    due[place] = publication(of: place, after: second, waiting: wait)
  }

  /// The `periods`th publication of an instrument after `second`.
  @inline(__always)
  private func publication(of place: Int, after second: Int, waiting periods: Int64) -> Int32 {
    Int32(
      Grid.publication(after: second, phase: traits[place].phase)
        + (Int(periods) - 1) * Grid.periodSeconds)
  }

  /// Moves the stamp and nothing else.
  private mutating func restamp(_ matching: (Traits, InstrumentState) -> Bool) {
    for place in states.indices where matching(traits[place], states[place]) {
      states[place].stamp = Int32(second)
      events.changed.append(Int32(place))
    }
  }

  private mutating func restampTraded(_ matching: (Traits, InstrumentState) -> Bool) {
    restamp { traits, state in state.last > 0 && !traits.isIndex && matching(traits, state) }
  }

  /// The index that serves as reference is stamped at every publication while its exchange
  /// publishes.
  private mutating func moveIndexStamps(_ exchange: Exchange) {
    guard Grid.isPublication(second, phase: 0) else { return }
    restamp { traits, _ in traits.isIndex && traits.exchange == exchange }
  }
}

/// Continuous trading.
extension SimulatedMarket {
  private mutating func planContinuous() {
    plan(from: second) { traits, _ in
      switch traits.behaviour {
      case .haltedAllDay, .haltedUnmarked, .delisted, .notListed: nil
      case .index: 1
      default: traits.pace.gapSteps
      }
    }
    for place in due.indices { planHalts(place) }
  }

  /// Halts and resumptions come between an instrument and its next event.
  @inline(__always)
  private mutating func planHalts(_ place: Int) {
    let halt = traits[place].halt.from
    let resume = traits[place].halt.to
    if halt == 0 { return }
    let isHalted =
      states[place].status == .haltedTemporarily || states[place].status == .haltedOneHour
    if isHalted {
      due[place] = resume > second ? resume : SimulatedMarket.never
    } else if halt > second, due[place] > halt {
      due[place] = halt
    }
  }

  private mutating func runContinuous() {
    for place in due.indices where due[place] <= second {
      happen(place)
      planNext(place)
      planHalts(place)
      events.changed.append(Int32(place))
    }
  }

  @inline(__always)
  private mutating func happen(_ place: Int) {
    let trait = traits[place]
    if trait.isIndex {
      states[place].moveIndex(
        trait, index: Int32(place), at: second, millisecond: second * 1000 - 1500,
        into: &events.trades)
      return
    }
    if trait.halt.from != 0, second == Int(trait.halt.from) {
      states[place].halt(second)
    } else if trait.halt.from != 0, second == Int(trait.halt.to) {
      states[place].resume(trait, at: second)
    } else if trait.trades, states[place].random.chance(perMille: trait.pace.tradeChancePerMille) {
      states[place].trade(trait, index: Int32(place), at: second, into: &events.trades)
    } else {
      states[place].moveBook(trait, at: second)
    }
  }

  /// A few liquid Shenzhen instruments print once more, just after the morning's close.
  private mutating func printStragglers() {
    for place in states.indices
    where traits[place].exchange == .shenzhen && traits[place].behaviour == .liquid
      && place % 7 == 0
    {
      let trait = traits[place]
      let moment = Int64(Grid.morningClose) * 1000 + 1 + states[place].random.below(900)
      let price = states[place].last
      if price == 0 { continue }
      let size = states[place].orderSize(trait)
      states[place].execute(
        price, size: size, index: Int32(place), at: moment, into: &events.trades)
      states[place].stamp = Int32(second)
      events.changed.append(Int32(place))
    }
  }
}

/// The two call auctions and the session after them.
extension SimulatedMarket {
  /// The fixed-price session is that much quieter than the day.
  private static let afterHoursSlowdown: Int64 = 40

  private mutating func matchOpening() {
    for place in states.indices
    where Grid.isPublication(second, phase: traits[place].phase) {
      let trait = traits[place]
      let moment = Grid.auctionMatch * 1000
      if trait.isIndex {
        states[place].moveIndex(
          trait, index: Int32(place), at: second, millisecond: moment, into: &events.trades)
      } else if trait.trades && trait.behaviour != .haltedAtOpening
        || trait.behaviour == .untraded
      {
        states[place].matchAuction(
          trait, index: Int32(place), at: second, millisecond: moment, into: &events.trades)
        states[place].hidesOpen = trait.exchange == .shanghai
      } else {
        continue
      }
      events.changed.append(Int32(place))
    }
    for place in due.indices { due[place] = SimulatedMarket.never }
  }

  /// A Shanghai line has no open in its first row after the auction, and has it in the next.
  private mutating func showOpening() {
    for place in states.indices
    where states[place].hidesOpen && Grid.isPublication(second, phase: traits[place].phase) {
      states[place].hidesOpen = false
      states[place].stamp = Int32(second)
      events.changed.append(Int32(place))
    }
  }

  private mutating func planClosingAuction() {
    let states = states
    var place = -1
    plan(from: second) { traits, random in
      place += 1
      guard traits.trades, !traits.isIndex, states[place].status == .normal else { return nil }
      let crosses = traits.behaviour == .illiquid ? random.chance(perMille: 400) : true
      return crosses ? min(traits.pace.gapSteps, 8) : nil
    }
  }

  /// The closing print: Shanghai and Beijing stamp it 15:00:00 to :02, Shenzhen 15:00:03.
  private mutating func matchClosing(_ matching: (Traits) -> Bool) {
    for place in states.indices where matching(traits[place]) {
      let trait = traits[place]
      let moment =
        second < Grid.shenzhenClose
        ? Grid.shanghaiClose * 1000 : Grid.shanghaiClose * 1000 + 400
      if trait.isIndex {
        states[place].moveIndex(
          trait, index: Int32(place), at: second, millisecond: moment, into: &events.trades)
      } else if states[place].book.matched > 0 {
        states[place].matchAuction(
          trait, index: Int32(place), at: second, millisecond: moment, into: &events.trades)
      } else {
        continue
      }
      events.changed.append(Int32(place))
    }
  }

  /// 15:05: STAR and ChiNext lines show the trailer from now on, the others with the first fill.
  private mutating func openAfterHours() {
    let states = states
    var place = -1
    plan(from: second) { traits, random in
      place += 1
      guard traits.afterHours, states[place].last > 0, states[place].status == .normal,
        random.chance(perMille: 500)
      else { return nil }
      return traits.pace.gapSteps * SimulatedMarket.afterHoursSlowdown
    }
    for place in states.indices
    where states[place].last > 0
      && (traits[place].board == .star || traits[place].board == .chiNext)
      && traits[place].afterHours
    {
      self.states[place].afterHours.isShown = true
      self.states[place].stamp = Int32(second)
      events.changed.append(Int32(place))
    }
  }
}
