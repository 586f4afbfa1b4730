import ExchangeSimulator
import Market
import TestExchange

/// Which instruments get false rows on a day, when, and of which kind. A function of (plan, day,
/// what was served before).
struct FalseRowSchedule {
  private struct Victim {
    /// Seconds of the day, the next one last.
    var moments: [Int]
    var random: Randomness
    /// The last false row, and how many answers since then told of a later second.
    var note: FalseRowNote?
    var responsesDecided = 0
  }

  private let plan: FalseRowPlan
  private var victims: [Int32: Victim] = [:]

  /// Three answers decide; the next false row waits for one more.
  private static let responsesBetween = 4
  /// Nor before this long: false rows that come again and again are two readings served in turn.
  private static let secondsBetween: Int32 = 180
  /// Not in the second the market opens: who has no totals yet has none to multiply.
  private static let firstTradingSecond: Int64 = 20
  private static let last = Grid.shenzhenClose + 60

  init(_ plan: FalseRowPlan, _ market: SimulatedMarket) {
    self.plan = plan
    let daySeed = plan.seed &+ UInt64(bitPattern: Int64(market.day.daysSince1970))
    for place in market.traits.indices where market.traits[place].trades {
      if market.traits[place].isIndex { continue }
      var random = Randomness(seed: daySeed, stream: UInt64(place))
      guard random.chance(perMille: plan.instrumentsPerMille) else { continue }
      let count = 1 + random.below(plan.rowsMax)
      let moments = (0..<count).map { _ in FalseRowSchedule.moment(&random) }
      victims[Int32(place)] = Victim(
        moments: moments.sorted(by: >), random: random)
    }
  }

  private static func moment(_ random: inout Randomness) -> Int {
    let elapsed =
      firstTradingSecond + random.below(Int64(Calculation.secondsPerDay) - firstTradingSecond)
    // One in eight comes before the open, when nothing has traded yet.
    if random.chance(perMille: 125) { return Grid.auctionOpen + Int(elapsed % 600) }
    let half = Calculation.secondsPerDay / 2
    return elapsed < half
      ? Grid.morningOpen + Int(elapsed) : Grid.afternoonOpen + Int(elapsed) - half
  }

  /// The next false row of an instrument if it is due and an honest row that was not served before
  /// stands in its place: how it is to be written.
  /// - Parameter served: the latest stamp its valid lines were served with.
  mutating func next(at place: Int32, of market: SimulatedMarket, served: Int32) -> FalseRowDraft? {
    guard var victim = victims[place] else { return nil }
    defer { victims[place] = victim }
    let state = market.states[Int(place)]
    if let note = victim.note {
      if state.stamp > note.stamp { victim.responsesDecided += 1 }
      let isTooSoon = Int32(market.second) - note.second < FalseRowSchedule.secondsBetween
      if isTooSoon || victim.responsesDecided < FalseRowSchedule.responsesBetween { return nil }
    }
    guard let moment = victim.moments.last, market.second >= moment,
      market.second <= FalseRowSchedule.last, !state.isPreviousSession, state.stamp > served,
      Int(state.stamp) >= Grid.auctionOpen,
      var draft = draft(at: place, of: market, served, &victim.random)
    else { return nil }
    draft.note.second = Int32(market.second)
    victim.moments.removeLast()
    victim.note = draft.note
    victim.responsesDecided = 0
    return draft
  }

  private func draft(
    at place: Int32, of market: SimulatedMarket, _ served: Int32, _ random: inout Randomness
  ) -> FalseRowDraft? {
    let state = market.states[Int(place)]
    let traits = market.traits[Int(place)]
    let kind = plan.kinds[Int(random.below(Int64(plan.kinds.count)))]
    if kind == .otherInstrument || state.volume == 0 {
      return FalseRowDraft(other: place, of: market, served)
    }
    var draft = FalseRowDraft(kind.possible(state, traits), place, state, traits)
    // Mostly a second before the true one, which then stands in the next answer; with those that
    // trade in every publication also in the same.
    let isSame = traits.behaviour == .liquid && random.chance(perMille: 500)
    if !isSame, state.stamp - 1 > served { draft.note.stamp = state.stamp - 1 }
    return draft
  }
}

extension FalseRow.Kind {
  /// What a false row can be where there is no limit, or no room below it.
  fileprivate func possible(_ state: InstrumentState, _ traits: Traits) -> FalseRow.Kind {
    switch self {
    case .totalsTripled, .totalsNinefold, .duplicate, .otherInstrument: return self
    case .highWithinLimits:
      return traits.limits.up >= state.high + 2 * traits.tick ? self : .totalsTripled
    case .rowTenfold, .pricesTenfold, .pricesDoubled, .highFivefold, .lowFifth:
      return traits.limits.up > 0 ? self : .totalsNinefold
    }
  }
}

/// A false row before it is served: its numbers and how it is written.
struct FalseRowDraft {
  var note: FalseRowNote
  private var state: InstrumentState
  /// The place of the instrument whose line it is.
  private var source: Int32

  init(_ kind: FalseRow.Kind, _ place: Int32, _ honest: InstrumentState, _ traits: Traits) {
    var state = honest
    var isPlausible = false
    switch kind {
    case .totalsTripled, .totalsNinefold, .duplicate:
      state.multiplyTotals(by: kind == .totalsNinefold ? 9 : 3)
      isPlausible = kind != .duplicate
    case .rowTenfold:
      state.multiplyPrices(by: 10)
      state.volume *= 10
      state.turnover *= 10
    case .pricesTenfold: state.multiplyPrices(by: 10)
    case .pricesDoubled: state.multiplyPrices(by: 2)
    case .highFivefold: state.high *= 5
    case .lowFifth: state.low = max(traits.onTick(state.low / 5), traits.tick)
    case .highWithinLimits:
      state.high += max(traits.onTick((traits.limits.up - state.high) / 2), traits.tick)
      // A line without an open has one price, or it is refused whatever is remembered.
      isPlausible = !state.hidesOpen
    case .otherInstrument: preconditionFailure("a line of another instrument has its own making")
    }
    self.init(kind, place, state, source: place, isPlausible: isPlausible)
  }

  /// nil if no other line has traded and is newer than what was served.
  init?(other place: Int32, of market: SimulatedMarket, _ served: Int32) {
    let count = market.traits.count
    let honest = market.traits[Int(place)]
    let others = (1..<count).lazy.map { (Int(place) + $0) % count }
    let found = others.first { other in
      let state = market.states[other]
      let traits = market.traits[other]
      return !traits.isIndex && traits.exchange == honest.exchange && state.volume > 0
        && state.stamp > served && traits.previousClose != honest.previousClose
    }
    guard let found else { return nil }
    self.init(
      .otherInstrument, place, market.states[found], source: Int32(found), isPlausible: false)
  }

  private init(
    _ kind: FalseRow.Kind, _ place: Int32, _ state: InstrumentState, source: Int32,
    isPlausible: Bool
  ) {
    self.state = state
    self.source = source
    note = FalseRowNote(
      place: place, kind: kind, second: 0, stamp: state.stamp, volume: state.volume,
      turnover: state.turnover, high: state.high, low: state.low, isPlausible: isPlausible)
  }

  /// Puts the false line where the true one stands, from `start` to the end of the body.
  func write(over body: inout [UInt8], from start: Int, _ market: inout SimulatedMarket) {
    let honest = Array(body[start...])
    body.removeSubrange(start...)
    market.appendFalseLine(
      at: note.place, source: source, state: state.stamped(note.stamp), to: &body)
    if note.kind == .duplicate { body += honest }
  }
}

extension InstrumentState {
  fileprivate mutating func multiplyTotals(by factor: Int64) {
    volume *= factor
    turnover *= factor
  }

  fileprivate mutating func multiplyPrices(by factor: Int64) {
    open *= factor
    last *= factor
    high *= factor
    low *= factor
    book.bid *= factor
    book.ask *= factor
  }

  fileprivate func stamped(_ stamp: Int32) -> InstrumentState {
    var state = self
    state.stamp = stamp
    return state
  }
}
