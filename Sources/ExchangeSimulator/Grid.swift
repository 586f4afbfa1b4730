/// The clock of the simulated exchange: moments are seconds since Shanghai midnight. Each
/// instrument is published every third of them; which third is its own (`Traits.phase`).
///
/// These are the exchange's own hours, written down once more on purpose: a mistake in the ones
/// the daemon uses must not be repeated by the thing that tests it.
package enum Grid {
  /// Level 1 is published every 3 s (docs/sources/sina.md#requests).
  package static let periodSeconds = 3

  package static let dayReset = clock(9, 0)
  package static let auctionOpen = clock(9, 15)
  package static let auctionMatch = clock(9, 25)
  /// Rows with the open that those of the auction did not have.
  package static let openShown = clock(9, 25, 3)
  package static let morningOpen = clock(9, 30)
  package static let morningClose = clock(11, 30)
  /// A last Shenzhen print may be stamped one step after the close of the morning.
  package static let morningStragglers = clock(11, 30, 3)
  /// The Shanghai indexes keep being stamped for a while into lunch.
  package static let lunchStampsEnd = clock(11, 35)
  package static let afternoonOpen = clock(13, 0)
  package static let closingAuction = clock(14, 57)
  package static let shanghaiClose = clock(15, 0)
  package static let shenzhenClose = clock(15, 0, 3)
  package static let afterHoursOpen = clock(15, 5)
  package static let afterHoursClose = clock(15, 30)
  package static let beijingRestamp = clock(15, 30, 3)
  package static let shenzhenRestamp = clock(15, 34, 30)
  package static let shanghaiRestamp = clock(15, 34, 57)
  /// SH index 15:43:32 in a payload of 2026-08-28.
  package static let indexStampsEnd = clock(15, 43, 30)
  /// Nothing changes after this.
  package static let dayEnd = clock(15, 45)

  package static func clock(_ hour: Int, _ minute: Int, _ second: Int = 0) -> Int {
    hour * 3600 + minute * 60 + second
  }

  /// Where one of the day's 240 minutes begins.
  package static func opening(ofMinute minute: Int) -> Int {
    minute < 120 ? morningOpen + minute * 60 : afternoonOpen + (minute - 120) * 60
  }

  /// The first second later than `second` in which an instrument of this phase is published.
  package static func publication(after second: Int, phase: Int32) -> Int {
    let past = (second - Int(phase)) % periodSeconds
    return second + periodSeconds - past
  }

  /// Whether instruments of this phase are published in `second`.
  package static func isPublication(_ second: Int, phase: Int32) -> Bool {
    second % periodSeconds == Int(phase)
  }

  /// The part of an interval that ends at `second` in which continuous trading was open.
  package static func tradingInterval(endingAt second: Int) -> Range<Int> {
    let isMorning = second < afternoonOpen
    let open = isMorning ? morningOpen : afternoonOpen
    let close = isMorning ? morningClose : closingAuction
    return max(second - periodSeconds, open)..<min(second, close)
  }
}

/// `HH:MM:SS` of a second of the day.
package func clockText(_ second: Int) -> String {
  [second / 3600, second / 60 % 60, second % 60]
    .map { $0 < 10 ? "0\($0)" : String($0) }.joined(separator: ":")
}
