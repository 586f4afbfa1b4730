// A stretch of a market's day in which a source is asked at a fixed cadence.
import Market

/// A time of the day from `opensAt` to before `closesAt`, seconds since the market's midnight, on a
/// grid counted from midnight.
package struct PollWindow: Sendable, Hashable {
  package let opensAt: Int
  package let closesAt: Int
  package let cadenceSeconds: Int

  /// - Precondition: 0 ≤ opensAt < closesAt ≤ 86400, and a cadence of at least a second.
  private init(from opensAt: Int, to closesAt: Int, every cadenceSeconds: Int) {
    self.opensAt = opensAt
    self.closesAt = closesAt
    self.cadenceSeconds = cadenceSeconds
  }

  /// When a market's quotes are requested: its sessions, and what the mainland's exchanges publish
  /// around theirs.
  package static func windows(
    of market: MarketDefinition, every cadenceSeconds: Int
  ) -> [PollWindow] {
    if market == .mainlandChina { return aShare(every: cadenceSeconds) }
    return market.sessions.map {
      PollWindow(from: $0.opens, to: $0.closes, every: cadenceSeconds)
    }
  }

  /// The exchanges publish every 3 s while they trade; the edges are for the reset before the
  /// auction and for the stamps that move on after each close
  /// (docs/sources/sina.md#the-course-of-a-day); the last go on beyond the certificates, for a day
  /// whose last rows contradict each other.
  package static func aShare(every cadenceSeconds: Int = 3) -> [PollWindow] {
    [
      PollWindow(from: Session.dayReset, to: Session.auctionOpen - 30, every: 60),
      PollWindow(
        from: Session.auctionOpen - 30, to: Session.morningClose + 60, every: cadenceSeconds),
      PollWindow(
        from: Session.afternoonOpen - 60, to: Session.afternoonClose + 90, every: cadenceSeconds),
      PollWindow(
        from: Session.afternoonClose + 90, to: Session.afterHoursClose + 600,
        every: max(30, cadenceSeconds)),
    ]
  }

  /// Of a day on which nothing is expected to trade, each minute from the first window to the last.
  static func watching(_ windows: [PollWindow]) -> [PollWindow] {
    guard let opensAt = windows.map(\.opensAt).min(), let closesAt = windows.map(\.closesAt).max()
    else { return [] }
    return [PollWindow(from: opensAt, to: closesAt, every: 60)]
  }

  /// The first grid second at or after `second` inside the window.
  func firstGrid(from second: Int) -> Int? {
    let start = max(second, opensAt)
    let grid = (start + cadenceSeconds - 1) / cadenceSeconds * cadenceSeconds
    return grid < closesAt ? grid : nil
  }

  /// The last grid second at or before `second` inside the window.
  func lastGrid(upTo second: Int) -> Int? {
    let grid = min(second, closesAt - 1) / cadenceSeconds * cadenceSeconds
    return second >= 0 && grid >= opensAt ? grid : nil
  }
}
