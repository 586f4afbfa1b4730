import Market

/// How far the days have been brought to their end, for whoever watches.
extension CandleBook {
  /// The newest day any instrument was seen on, and how many of that day are closed; nil while none
  /// was seen.
  package var certification: (newest: TradingDay, closed: Int)? {
    var newest: TradingDay?
    var closed = 0
    for index in instruments.indices {
      guard let day = instruments[index].state?.day else { continue }
      if newest.map({ $0 < day }) ?? true {
        newest = day
        closed = 0
      }
      if day == newest, instruments[index].state?.isClosed == true { closed += 1 }
    }
    return newest.map { ($0, closed) }
  }
}
