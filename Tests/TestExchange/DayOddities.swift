import ExchangeSimulator
import Market

/// What a test may ask of single instruments on one day, before it begins.
extension SimulatedMarket {
  /// The exchange takes trades back in the first publication of an instrument at or after a second
  /// of the day in which it does not trade; every later line has the corrected totals.
  ///
  /// High and low stay: what is taken back traded inside them, at the day's average price.
  package mutating func takeBack(
    shares: Int64, of symbol: Symbol, at second: Int
  ) {
    let bust = Bust(place: place(known: symbol), second: second, volume: shares)
    changeOddities { $0.busts.append(bust) }
  }

  /// The same for so many of 1,000 shares of the volume until then.
  package mutating func takeBack(perMille: Int64, of symbol: Symbol, at second: Int) {
    let bust = Bust(place: place(known: symbol), second: second, perMille: perMille)
    changeOddities { $0.busts.append(bust) }
  }

  /// The lines of an instrument come so much later than those of others, with the stamps they have.
  package mutating func delay(_ symbol: Symbol, bySeconds seconds: Int) {
    let place = place(known: symbol)
    let late = LatePublisher(place: place, delaySeconds: seconds, ahead: states[Int(place)])
    changeOddities { $0.late.append(late) }
  }

  /// An instrument trades without limits today, around so many percent of its previous close, and
  /// neither its code nor its name says so: a REIT's first day, a relisting.
  package mutating func relist(_ symbol: Symbol, aroundPercent percent: Int64) {
    let place = Int(place(known: symbol))
    traits[place].center = traits[place].onTick(traits[place].previousClose * percent / 100)
    (traits[place].limits.up, traits[place].limits.down) = (0, 0)
    listings[place] = Listing(
      symbol: symbol, name: listings[place].name, traits: traits[place])
  }

  private mutating func changeOddities(_ change: (inout DayOddities) -> Void) {
    var oddities = oddities as? DayOddities ?? DayOddities()
    change(&oddities)
    self.oddities = oddities
  }

  private func place(known symbol: Symbol) -> Int32 {
    guard let place = place(of: symbol), second < Grid.dayReset else {
      preconditionFailure("an instrument of this market, before its day begins")
    }
    return place
  }
}

/// Trades the exchange takes back.
package struct Bust: Sendable {
  package let place: Int32
  let second: Int
  /// A part of the volume; if 0, as many shares as `volume` says.
  var perMille: Int64 = 0
  package internal(set) var volume: Int64 = 0
  /// Once it has happened.
  package internal(set) var turnover: Int64 = 0
}

/// An instrument whose lines come late.
struct LatePublisher: Sendable {
  let place: Int32
  let delaySeconds: Int
  /// Its state as it will be shown; while the day takes a step, as it is shown.
  var ahead: InstrumentState
  /// States on the way, with the seconds they are shown at.
  var coming: [(second: Int, state: InstrumentState)] = []
}

/// The oddities of a market's day.
package struct DayOddities: MarketOddities {
  /// What the exchange will take back, in no order.
  fileprivate var busts: [Bust] = []
  fileprivate var late: [LatePublisher] = []
  /// What it took back in the last step.
  package private(set) var takenBack: [Bust] = []

  package mutating func begin(_ market: inout SimulatedMarket) {
    takenBack = []
    exchangeLateStates(&market)
  }

  package mutating func end(_ market: inout SimulatedMarket) {
    takeBackTrades(&market)
    publishLate(&market)
  }

  private mutating func takeBackTrades(_ market: inout SimulatedMarket) {
    let second = market.second
    for index in busts.indices.reversed() where busts[index].second <= second {
      var bust = busts[index]
      let place = Int(bust.place)
      guard Grid.isPublication(second, phase: market.traits[place].phase),
        market.states[place].volume > 0,
        !market.events.trades.contains(where: { $0.instrument == bust.place })
      else { continue }
      let volume = market.states[place].volume
      if bust.perMille > 0 { bust.volume = volume * bust.perMille / 1000 }
      bust.volume = min(bust.volume, volume)
      bust.turnover = market.states[place].turnover / volume * bust.volume
      market.states[place].volume -= bust.volume
      market.states[place].turnover -= bust.turnover
      market.states[place].stamp = Int32(second)
      if !market.events.changed.contains(bust.place) { market.events.changed.append(bust.place) }
      takenBack.append(bust)
      busts.remove(at: index)
    }
  }

  /// Those that come late trade with their own states and show earlier ones.
  private mutating func exchangeLateStates(_ market: inout SimulatedMarket) {
    for index in late.indices {
      swap(&market.states[Int(late[index].place)], &late[index].ahead)
    }
  }

  private mutating func publishLate(_ market: inout SimulatedMarket) {
    for index in late.indices {
      let place = late[index].place
      if let found = market.events.changed.firstIndex(of: place) {
        market.events.changed.remove(at: found)
        late[index].coming.append(
          (market.second + late[index].delaySeconds, market.states[Int(place)]))
      }
    }
    exchangeLateStates(&market)
    for index in late.indices {
      guard let next = late[index].coming.first, next.second <= market.second else { continue }
      market.states[Int(late[index].place)] = next.state
      late[index].coming.removeFirst()
      market.events.changed.append(late[index].place)
    }
  }
}
