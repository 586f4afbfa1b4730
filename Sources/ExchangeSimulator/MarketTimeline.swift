import Market

/// A market that can be asked about any moment of its day, in any order.
///
/// Time mostly runs forward and then this is just the market. A client that was killed asks again
/// for a moment that has passed, and a lagging node shows one: then a copy is stepped forward from
/// the nearest checkpoint, and kept, because the next such question is usually a little later.
/// Answers are a pure function of (seed, time) whatever was asked before.
struct MarketTimeline: Sendable {
  private(set) var front: SimulatedMarket
  private var checkpoints: [SimulatedMarket]
  private var behind: SimulatedMarket?

  /// Ten minutes: rewinding costs 200 steps at most, a day's checkpoints some 40 MB.
  private static let checkpointSeconds = 600

  init(_ market: SimulatedMarket) {
    front = market
    checkpoints = [market.withoutLines()]
  }

  /// Shows the market as of `moment` to `reader`. `recorder` sees each step of the day once,
  /// whatever is shown again later.
  mutating func show<Result>(
    at moment: Timestamp, recording recorder: DayRecorder?,
    to reader: (inout SimulatedMarket) -> Result
  ) -> Result {
    let second = front.publication(at: moment)
    if second >= front.second {
      advanceFront(to: second, recorder)
      return reader(&front)
    }
    var copy = behind.flatMap { $0.second <= second ? $0 : nil } ?? checkpoint(before: second)
    behind = nil
    copy.advance(to: moment)
    defer { behind = copy }
    return reader(&copy)
  }

  private mutating func advanceFront(to second: Int, _ recorder: DayRecorder?) {
    while front.second < second {
      let last = checkpoints[checkpoints.count - 1].second
      let stop = min(second, last + MarketTimeline.checkpointSeconds)
      front.advance(
        to: Timestamp(day: front.day, secondOfDay: stop), recording: recorder)
      if front.second >= last + MarketTimeline.checkpointSeconds {
        checkpoints.append(front.withoutLines())
      }
    }
  }

  /// The latest checkpoint not after `second`; the first is from before the day begins.
  private func checkpoint(before second: Int) -> SimulatedMarket {
    checkpoints.last { $0.second <= second } ?? checkpoints[0]
  }
}
