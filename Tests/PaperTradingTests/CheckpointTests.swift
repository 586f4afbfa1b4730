import Market
import PaperTrading
import TestSupport
import Testing

/// Random days of inputs: a state that is written down and read again goes on as it would have.
@Suite struct CheckpointTests {
  private static let day = FillTests.day
  private static let band = PriceBand(lower: ExactDecimal(9), upper: ExactDecimal(11))

  /// What comes next, on a day whose prices wander about limit-up.
  private struct Day {
    var random: SplitMix
    var second = 34_200
    var sequence: Int64 = 0
    var volume: Int64 = 1_000
    var turnover: Int64 = 1_000_000
    var order: Int64 = 0
    var orders: [(id: Int64, account: Int64)] = []

    private static func price(_ cents: Int64) -> ExactDecimal {
      ExactDecimal(units: cents, scale: 2)
    }

    mutating func next(of symbol: Symbol) -> [FillInput] {
      switch Int.random(in: 0..<12, using: &random) {
      case 0, 1: return [entry(of: symbol)]
      case 2:
        guard let order = orders.randomElement(using: &random) else { return [] }
        return [.end(order: order.id, account: order.account)]
      case 3:
        // A false row, what it confirms, and its end.
        let kept = (volume, turnover)
        let inputs = [row(), row()]
        (volume, turnover) = kept
        return inputs + [.withdrawal(from: sequence - 1), row()]
      case 4 where second.isMultiple(of: 7): return [.certificate]
      default: return [row()]
      }
    }

    mutating func row() -> FillInput {
      second += 3
      sequence += 1
      let traded = Int64.random(in: 0...900, using: &random)
      let last = Int64.random(in: 1095...1100, using: &random)
      volume += traded
      turnover += traded * last
      let isSealed = last == 1100 && Bool.random(using: &random)
      let queue = Int64.random(in: 1...900, using: &random)
      let snapshot = Snapshot(
        stamp: SnapshotStamp(
          day: CheckpointTests.day, secondOfDay: Int32(second), sequence: sequence),
        previousClose: Self.price(1000), last: Self.price(last), high: Self.price(1100),
        low: Self.price(1095), volume: ExactDecimal(volume),
        turnover: ExactDecimal(units: turnover, scale: 2),
        bids: [
          BookLevel(price: Self.price(isSealed ? 1100 : last - 1), volume: ExactDecimal(queue))
        ],
        asks: isSealed ? [] : [BookLevel(price: Self.price(last), volume: ExactDecimal(queue))])
      return .row(MarketRow(snapshot, band: CheckpointTests.band))
    }

    private mutating func entry(of symbol: Symbol) -> FillInput {
      order += 1
      let account = Int64.random(in: 1...3, using: &random)
      orders.append((order, account))
      let kinds: [OrderKind] = [.limit, .limit, .limit, .stop, .stopLimit, .fiveBestThenCancel]
      let kind = kinds[Int.random(in: 0..<kinds.count, using: &random)]
      let side = Bool.random(using: &random) ? Side.buy : .sell
      let limit = Self.price(.random(in: 1094...1100, using: &random))
      let placed = Order(
        id: order, account: account, symbol: symbol, side: side, kind: kind,
        quantity: ExactDecimal(100 * .random(in: 1...9, using: &random)),
        limit: kind == .limit || kind == .stopLimit ? limit : nil,
        stop: kind.isStop ? Self.price(.random(in: 1095...1100, using: &random)) : nil)
      let bound = side == .buy ? CheckpointTests.band.upper : CheckpointTests.band.lower
      return .entry(
        RestingOrder(
          placed, acceptance: Acceptance(entersAt: second, worstPrice: placed.limit ?? bound),
          on: CheckpointTests.day, band: CheckpointTests.band))
    }
  }

  @Test func `a state that was written down is the state of all inputs`() throws {
    let seed = UInt64.random(in: 0...UInt64(UInt32.max))
    let instrument = try #require(Symbol("sz000001").flatMap(Instrument.classify))
    var fills = 0
    for round in 0..<60 {
      var day = Day(random: SplitMix(seed: seed &+ UInt64(round)))
      var straight = InstrumentTrading(instrument)
      var restored = straight
      for step in 0..<120 {
        for input in day.next(of: instrument.symbol) {
          let events = straight.apply(input)
          let same = restored.apply(input)
          #expect(events == same, "seed \(seed), round \(round), step \(step)")
          fills += events.count
        }
        guard Int.random(in: 0..<3, using: &day.random) == 0 else { continue }
        let text = restored.checkpoint
        restored = try #require(
          InstrumentTrading(instrument, checkpoint: text),
          "seed \(seed), round \(round), step \(step): \(text)")
        #expect(restored.checkpoint == text, "seed \(seed), round \(round), step \(step)")
        #expect(restored == straight, "seed \(seed), round \(round), step \(step)")
      }
    }
    #expect(fills > 1_000, "seed \(seed)")
  }

  @Test func `what is no checkpoint, whole, is none`() throws {
    let instrument = try #require(Symbol("sz000001").flatMap(Instrument.classify))
    var day = Day(random: SplitMix(seed: 1))
    var trading = InstrumentTrading(instrument)
    for _ in 0..<200 {
      for input in day.next(of: instrument.symbol) { _ = trading.apply(input) }
    }
    let lines = trading.checkpoint.split(separator: "\n")
    #expect(InstrumentTrading(instrument, checkpoint: trading.checkpoint) == trading)
    #expect(InstrumentTrading(instrument, checkpoint: "") == nil)
    #expect(lines.count > 10)
    for place in lines.indices {
      var damaged = lines
      damaged[place] = damaged[place].dropLast(damaged[place].count / 2) + "~"
      let text = damaged.joined(separator: "\n")
      #expect(InstrumentTrading(instrument, checkpoint: text) != trading, "\(damaged[place])")
    }
  }
}
