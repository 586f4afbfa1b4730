/// The ledgers' own arithmetic of minutes: seconds since Shanghai midnight to minutes 0…239 and
/// back. Written here a second time on purpose; see `Grid`.
enum Reckoning {
  static let minutes = 240
  static let half = 120

  static func opening(ofMinute minute: Int) -> Int {
    minute < half
      ? Grid.morningOpen + minute * 60 : Grid.afternoonOpen + (minute - half) * 60
  }

  static func closing(ofMinute minute: Int) -> Int { opening(ofMinute: minute) + 60 }

  /// Left-open, right-closed: 10:01:00 is the end of the minute that opened at 10:00.
  static func minute(endingWith second: Int) -> Int {
    second < Grid.afternoonOpen
      ? clamped((second - Grid.morningOpen - 1) / 60, second > Grid.morningOpen)
      : half + clamped((second - Grid.afternoonOpen - 1) / 60, second > Grid.afternoonOpen)
  }

  /// The minute that goes on right after `second`: 10:01:00 is the beginning of the one that opens
  /// at 10:01; lunch is the beginning of the first after it, the evening the end of the last.
  static func minute(following second: Int) -> Int {
    if second < Grid.morningOpen { return 0 }
    if second < Grid.morningClose { return (second - Grid.morningOpen) / 60 }
    if second < Grid.afternoonOpen { return half }
    return min(half + (second - Grid.afternoonOpen) / 60, minutes - 1)
  }

  private static func clamped(_ minute: Int, _ hasBegun: Bool) -> Int {
    hasBegun ? min(minute, half - 1) : 0
  }

  /// Seconds of trading between two moments.
  static func tradingSeconds(from start: Int, to end: Int) -> Int {
    max(elapsed(at: end) - elapsed(at: start), 0)
  }

  private static func elapsed(at second: Int) -> Int {
    let morning = min(max(second, Grid.morningOpen), Grid.morningClose) - Grid.morningOpen
    let afternoon = min(max(second, Grid.afternoonOpen), Grid.shanghaiClose) - Grid.afternoonOpen
    return morning + afternoon
  }
}
