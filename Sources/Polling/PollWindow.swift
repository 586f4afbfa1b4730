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
    if market.name == MarketDefinition.mainlandChina.name {
      return aShare(every: cadenceSeconds, hours: market)
    }
    return market.sessions.map {
      PollWindow(from: $0.opens, to: $0.closes, every: cadenceSeconds)
    }
  }

  /// The exchanges publish every 3 s while they trade; the edges are for the reset before the
  /// auction and for the stamps that move on after each close
  /// (docs/sources/sina.md#the-course-of-a-day); the last go on beyond the certificates, for a day
  /// whose last rows contradict each other.
  package static func aShare(
    every cadenceSeconds: Int = 3, hours market: MarketDefinition = .mainlandChina
  ) -> [PollWindow] {
    let sessions = market.sessions
    guard let opens = market.auction?.opens ?? sessions.first?.opens,
      let closes = sessions.last?.closes
    else { return [] }
    let lastRows = max(market.afterHours?.closes ?? closes, closes) + 600
    let trading = sessions.indices.map { place in
      let isLast = place == sessions.count - 1
      return PollWindow(
        from: place == 0 ? opens - 30 : sessions[place].opens - 60,
        to: sessions[place].closes + (isLast ? 90 : 60), every: cadenceSeconds)
    }
    return [PollWindow(from: opens - Self.resetSecondsBefore, to: opens - 30, every: 60)]
      + trading
      + [PollWindow(from: closes + 90, to: lastRows, every: max(30, cadenceSeconds))]
  }

  /// Before the opening auction the exchanges reset their rows.
  private static let resetSecondsBefore = 900

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
