import ExchangeSimulator

/// The ledgers' own arithmetic of minutes, written here a second time on purpose; see `Grid`.
///
/// What lies between two moments is reckoned on the axis of trading seconds, 0…14400: lunch is one
/// point of it, at once the end of the morning's last minute and the beginning of the next.
package enum Calculation {
  package static let minutes = 240
  package static let half = 120
  package static let secondsPerDay = 14_400

  /// The minute a line stamped `second` speaks of, left-open and right-closed: the opening auction
  /// in minute 0, what straggles in after a close in the last minute before it.
  package static func minute(ofStamp second: Int) -> Int {
    let isMorning = second < Grid.afternoonOpen
    let since = second - (isMorning ? Grid.morningOpen : Grid.afternoonOpen)
    let minute = since <= 0 ? 0 : min((since - 1) / 60, half - 1)
    return isMorning ? minute : half + minute
  }

  /// The minute that opens at `second`; nil if none does.
  package static func minute(openingAt second: Int) -> Int? {
    let minute = elapsed(at: second + 1) / 60
    return minute < minutes && Grid.opening(ofMinute: minute) == second ? minute : nil
  }

  /// Trading seconds that have passed at `second`.
  package static func elapsed(at second: Int) -> Int {
    let morning = min(max(second, Grid.morningOpen), Grid.morningClose) - Grid.morningOpen
    let afternoon = min(max(second, Grid.afternoonOpen), Grid.shanghaiClose) - Grid.afternoonOpen
    return morning + afternoon
  }
}
