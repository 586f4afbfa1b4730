import Market
import PaperTrading
import TestSupport

/// What comes next, on a day whose prices wander about limit-up.
struct RandomPlaces {
  enum Step {
    case row(MarketRow)
    case withdrawal(from: Int64)
    case certificate
    case entry(RestingOrder)
    case end(order: Int64, account: Int64)

    func apply(to trading: inout InstrumentTrading) -> [FillEvent] {
      switch self {
      case .row(let row): return trading.accept(row)
      case .withdrawal(let first): return trading.withdraw(from: first)
      case .certificate: return trading.confirm()
      case .entry(let order): trading.enter(order)
      case .end(let order, let account): trading.cancel(order, of: account)
      }
      return []
    }
  }

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

  mutating func next(of symbol: Symbol) -> [Step] {
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

  mutating func row() -> Step {
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
        day: PlaceTests.day, secondOfDay: Int32(second), sequence: sequence),
      previousClose: Self.price(1000), last: Self.price(last), high: Self.price(1100),
      low: Self.price(1095), volume: ExactDecimal(volume),
      turnover: ExactDecimal(units: turnover, scale: 2),
      bids: [
        BookLevel(price: Self.price(isSealed ? 1100 : last - 1), volume: ExactDecimal(queue))
      ],
      asks: isSealed ? [] : [BookLevel(price: Self.price(last), volume: ExactDecimal(queue))])
    return .row(MarketRow(snapshot, band: PlaceTests.band))
  }

  private mutating func entry(of symbol: Symbol) -> Step {
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
    let bound = side == .buy ? PlaceTests.band.upper : PlaceTests.band.lower
    return .entry(
      RestingOrder(
        placed, acceptance: Acceptance(entersAt: second, worstPrice: placed.limit ?? bound),
        on: PlaceTests.day, band: PlaceTests.band))
  }
}
