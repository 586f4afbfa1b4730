import ExchangeSimulator
import Market

/// What a test looks up of what really traded.
extension TrueLedger {
  package mutating func takeBack(_ busts: [Bust]) {
    for bust in busts {
      takenBack[bust.place, default: (0, 0)].volume += bust.volume
      takenBack[bust.place, default: (0, 0)].turnover += bust.turnover
    }
  }

  /// Volume (shares) and turnover of one minute 0…239; nil for a symbol that is not listed.
  package func totals(of symbol: Symbol, minute: Int) -> (
    volume: ExactDecimal, turnover: ExactDecimal
  )? {
    guard let place = symbols.firstIndex(of: symbol) else { return nil }
    let found = minutes[place * TrueLedger.minutesPerDay + minute]
    return (ExactDecimal(found.volume), ExactDecimal(units: found.turnover, scale: 3))
  }

  /// What the whole day traded, without the session after the close, and without what the exchange
  /// took back.
  package func totals(of symbol: Symbol) -> (volume: ExactDecimal, turnover: ExactDecimal)? {
    guard let place = symbols.firstIndex(of: symbol) else { return nil }
    let taken = takenBack[Int32(place)] ?? (0, 0)
    var volume = -taken.volume
    var turnover = -taken.turnover
    for minute in 0..<TrueLedger.minutesPerDay {
      volume += minutes[place * TrueLedger.minutesPerDay + minute].volume
      turnover += minutes[place * TrueLedger.minutesPerDay + minute].turnover
    }
    return (ExactDecimal(volume), ExactDecimal(units: turnover, scale: 3))
  }
}
