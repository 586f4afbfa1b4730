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
    busts.append(Bust(place: place(known: symbol), second: second, volume: shares))
  }

  /// The same for so many of 1,000 shares of the volume until then.
  package mutating func takeBack(perMille: Int64, of symbol: Symbol, at second: Int) {
    busts.append(Bust(place: place(known: symbol), second: second, perMille: perMille))
  }

  /// The lines of an instrument come so much later than those of others, with the stamps they have.
  package mutating func delay(_ symbol: Symbol, bySeconds seconds: Int) {
    let place = place(known: symbol)
    late.append(
      LatePublisher(place: place, delaySeconds: seconds, ahead: states[Int(place)]))
  }

  /// An instrument trades without limits today, around so many percent of its previous close, and
  /// neither its code nor its name says so: a REIT's first day, a relisting.
  package mutating func relist(_ symbol: Symbol, aroundPercent percent: Int64) {
    let place = Int(place(known: symbol))
    traits[place].center = traits[place].onTick(traits[place].previousClose * percent / 100)
    traits[place].limits = Traits.Limits()
    listings[place] = Listing(
      symbol: symbol, name: listings[place].name, traits: traits[place])
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

extension SimulatedMarket {
  mutating func takeBackTrades() {
    for index in busts.indices.reversed() where busts[index].second <= second {
      var bust = busts[index]
      let place = Int(bust.place)
      guard Grid.isPublication(second, phase: traits[place].phase), states[place].volume > 0,
        !events.trades.contains(where: { $0.instrument == bust.place })
      else { continue }
      let volume = states[place].volume
      if bust.perMille > 0 { bust.volume = volume * bust.perMille / 1000 }
      bust.volume = min(bust.volume, volume)
      bust.turnover = states[place].turnover / volume * bust.volume
      states[place].volume -= bust.volume
      states[place].turnover -= bust.turnover
      states[place].stamp = Int32(second)
      if !events.changed.contains(bust.place) { events.changed.append(bust.place) }
      events.takenBack.append(bust)
      busts.remove(at: index)
    }
  }

  /// Those that come late trade with their own states and show earlier ones.
  mutating func exchangeLateStates() {
    for index in late.indices {
      swap(&states[Int(late[index].place)], &late[index].ahead)
    }
  }

  mutating func publishLate() {
    for index in late.indices {
      let place = late[index].place
      if let found = events.changed.firstIndex(of: place) {
        events.changed.remove(at: found)
        late[index].coming.append(
          (second + late[index].delaySeconds, states[Int(place)]))
      }
    }
    exchangeLateStates()
    for index in late.indices {
      guard let next = late[index].coming.first, next.second <= second else { continue }
      states[Int(late[index].place)] = next.state
      late[index].coming.removeFirst()
      events.changed.append(late[index].place)
    }
  }
}
