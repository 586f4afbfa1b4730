import ExchangeSimulator
import Ledgers
import Market
import PaperTrading

/// One account with one order, or two, in one simulated market. Each order is held against a copy
/// of the book that has it alone: what an account took does not count for ever.
struct FillsRun {
  private(set) var tally = FillsTrial.Tally()
  private(set) var complaints: [String] = []
  var isBroken = false
  var isFormer = false

  private let scene: OrderFlow.Scene
  private let condition: FillsTrial.Condition
  private let seed: UInt64
  private let instrument: Instrument
  private let side: Side
  private var random: Randomness
  private var flow: OrderFlow
  private var trading: InstrumentTrading
  private var ghosts: [Ghost] = []
  /// The newest places that were stored, by account.
  private var stored: [Int64: [UInt8]] = [:]
  private var sequence: Int64 = 0
  /// False rows that the model has accepted, and the true ones held back since.
  private var falseRows: [Int64] = []
  private var held: [Snapshot] = []

  /// A watched order: what is booked of it, and what only shown.
  private struct Ghost {
    let order: RestingOrder
    /// The snapshot before which it was accepted.
    let acceptedBefore: Int
    let ticks: Int64
    var former: FormerModel
    /// The same market with the order in it, once it has entered.
    var book: OrderBook?
    var isCancelled = false
    var booked: Int64 = 0
    var pending: Int64 = 0

    static let bookID: Int64 = -1

    var truth: Int64 { book?.filled(Self.bookID) ?? 0 }
  }

  private static let account: Int64 = 1
  private static let snapshots = 160
  private static let day = TradingDay.first(of: 2026).advanced(by: 250)
  private static let prices: ClosedRange<Int64> = 900...1100
  private static let firstSecond: Int32 = 34_203
  private static let periodSeconds: Int32 = 3

  init(scene: OrderFlow.Scene, condition: FillsTrial.Condition, seed: UInt64) {
    self.scene = scene
    self.condition = condition
    self.seed = seed
    random = Randomness(seed: seed, stream: 1)
    side = random.chance(perMille: 500) ? .buy : .sell
    let code = random.chance(perMille: 500) ? "sh600000" : "sz000001"
    guard let symbol = Symbol(code), let instrument = Instrument.classify(symbol) else {
      preconditionFailure("two stocks of the main boards")
    }
    self.instrument = instrument
    flow = OrderFlow(
      scene: scene, isMirrored: side == .sell, prices: Self.prices,
      seed: SplitMix64.mixed(seed))
    trading = InstrumentTrading(instrument)
  }

  mutating func run() {
    // Before the first snapshot the day has traded; the model sees that as a total.
    for _ in 0..<(50 + random.below(200)) { _ = flow.next() }
    let count = random.chance(perMille: 150) ? 2 : 1
    let starts = (0..<count).map { _ in 1 + Int(random.below(120)) }.sorted()
    for index in 0..<Self.snapshots {
      for (place, start) in starts.enumerated() where start == index {
        placeOrder(place, at: index)
      }
      advanceMarket()
      deliver(index)
      if !complaints.isEmpty { return }
    }
    finish()
  }

  /// Events until the next snapshot, in both worlds.
  private mutating func advanceMarket() {
    let isBusy = random.chance(perMille: 150)
    for _ in 0..<random.below(isBusy ? 40 : 12) {
      let event = flow.next()
      for place in ghosts.indices { ghosts[place].book?.apply(event) }
    }
  }

  private mutating func placeOrder(_ place: Int, at index: Int) {
    if !ghosts.isEmpty, random.chance(perMille: 500) { cancelFirst() }
    let ticks = limitTicks()
    let lots = random.chance(perMille: 200) ? random.around(100) : random.around(15)
    let order = Order(
      id: Int64(place) + 1, account: Self.account, symbol: instrument.symbol, side: side,
      kind: .limit, quantity: ExactDecimal(100 * lots), limit: Self.price(ticks))
    let band = PriceBand(
      lower: Self.price(Self.prices.lowerBound), upper: Self.price(Self.prices.upperBound))
    let resting = RestingOrder(
      order,
      acceptance: Acceptance(entersAt: Int(Self.second(of: index)) - 1, worstPrice: order.limit),
      on: Self.day, band: band)
    trading.enter(resting)
    ghosts.append(
      Ghost(
        order: resting, acceptedBefore: index, ticks: ticks,
        former: FormerModel(resting, instrument: instrument)))
    tally.orders += 1
  }

  private mutating func cancelFirst() {
    let ghost = ghosts[0]
    ghosts[0].isCancelled = true
    trading.cancel(ghost.order.order.id, of: Self.account)
    ghosts[0].book?.cancel(id: Ghost.bookID, isBuy: side == .buy, price: ghost.ticks)
  }

  /// At the limit, or around the best prices.
  private mutating func limitTicks() -> Int64 {
    let isBuy = side == .buy
    switch scene {
    case .limitQueue: return isBuy ? Self.prices.upperBound : Self.prices.lowerBound
    case .chain: return flow.middle
    case .twoSided: break
    }
    let best = isBuy ? flow.book.bestBidPrice : flow.book.bestAskPrice
    let distance = random.below(11) - 2
    let price = (best ?? 1000) + (isBuy ? -distance : distance)
    return min(max(price, Self.prices.lowerBound + 1), Self.prices.upperBound - 1)
  }
}

// MARK: - Snapshots

extension FillsRun {
  private static func second(of index: Int) -> Int32 {
    firstSecond + periodSeconds * Int32(index)
  }

  private static func price(_ ticks: Int64) -> ExactDecimal {
    ExactDecimal(units: ticks, scale: 2)
  }

  /// What the exchange publishes of the book that lacks our orders.
  private mutating func snapshot(_ index: Int) -> Snapshot {
    let book = flow.book
    let isCoarse = condition == .coarse
    let money = ExactDecimal(units: book.turnover, scale: 2)
    let wholeMoney = ExactDecimal(book.turnover / 100)
    sequence += 1
    return Snapshot(
      stamp: SnapshotStamp(
        day: Self.day, secondOfDay: Self.second(of: index), sequence: sequence),
      previousClose: Self.price(1000), last: Self.price(book.last), high: Self.price(book.high),
      low: Self.price(book.low), volume: shares(book.volume),
      turnover: isCoarse || instrument.exchange == .shanghai ? wholeMoney : money,
      bids: levels(book.bids(levels: 5)), asks: levels(book.asks(levels: 5)),
      rounding: isCoarse ? Rounding(volume: 50, turnover: 1) : .exact)
  }

  private func levels(_ levels: [OrderBook.Level]) -> [BookLevel] {
    levels.map { BookLevel(price: Self.price($0.price), volume: shares($0.volume)) }
      .filter { $0.volume.isPositive }
  }

  /// A coarse source rounds to the nearest lot.
  private func shares(_ count: Int64) -> ExactDecimal {
    ExactDecimal(condition == .coarse ? (count + 50) / 100 * 100 : count)
  }

  private mutating func deliver(_ index: Int) {
    if [.dropped, .killed].contains(condition), random.chance(perMille: 300) { return }
    let row = snapshot(index)
    enterGhosts(index)
    if condition == .killed, random.chance(perMille: 200) { kill() }
    guard [.falseRows, .killed].contains(condition) else { return accept(row) }
    if !falseRows.isEmpty {
      // Three answers that agree with each other take the false rows out.
      held.append(row)
      if held.count == 3 { correct() }
      return
    }
    accept(row)
    if random.chance(perMille: 60) {
      var stale = row
      sequence += 1
      stale.stamp = SnapshotStamp(
        day: Self.day, secondOfDay: row.stamp.secondOfDay - 6, sequence: sequence)
      stale.volume = ExactDecimal(row.volume.units / 2)
      accept(stale)
    }
    if random.chance(perMille: 6) { deceive(behind: row) }
  }

  /// Another process goes on from what is stored.
  private mutating func kill() {
    for (account, body) in trading.takePlaces() { stored[account] = body }
    trading = InstrumentTrading(instrument)
    for (account, body) in stored where !trading.restore(body, of: account) {
      complaints.append("what was stored cannot be read")
    }
  }

  /// Our orders enter the actual book where the model's enter theirs: at the first row behind their
  /// acceptance that is not taken out later.
  private mutating func enterGhosts(_ index: Int) {
    for place in ghosts.indices where ghosts[place].book == nil && !ghosts[place].isCancelled {
      var book = flow.book
      book.place(
        id: Ghost.bookID, isBuy: side == .buy, price: ghosts[place].ticks,
        volume: ghosts[place].order.quantity.units)
      ghosts[place].book = book
    }
  }

  /// One false row or two, with more volume than the true rows reach.
  private mutating func deceive(behind row: Snapshot) {
    var row = row
    for _ in 0..<(random.chance(perMille: 500) ? 2 : 1) {
      sequence += 1
      row.stamp = SnapshotStamp(
        day: Self.day, secondOfDay: row.stamp.secondOfDay + 1, sequence: sequence)
      let more = 1_000_000 + random.below(1_000_000)
      row.volume = ExactDecimal(row.volume.units + more)
      let money = more * row.last.units
      row.turnover = ExactDecimal(
        units: row.turnover.units + (row.turnover.scale == 0 ? money / 100 : money),
        scale: row.turnover.scale)
      (row.bids, row.asks) = (row.asks, row.bids)
      falseRows.append(row.stamp.sequence)
      accept(row)
    }
  }

  private mutating func correct() {
    if let first = falseRows.first { handle(trading.withdraw(from: first)) }
    let rows = held
    (falseRows, held) = ([], [])
    for row in rows { accept(row, isCurrent: row == rows.last) }
  }

  private mutating func accept(_ row: Snapshot, isCurrent: Bool = true) {
    handle(trading.accept(MarketRow(row, band: nil)))
    if isFormer, condition == .whole || condition == .dropped {
      for place in ghosts.indices where ghosts[place].book != nil && !ghosts[place].isCancelled {
        ghosts[place].former.advance(to: row)
      }
    }
    tally.intervals += 1
    if isCurrent { judge(row) }
  }
}

// MARK: - Judgement

extension FillsRun {
  private mutating func handle(_ events: [FillEvent]) {
    let surplus: Int64 = isBroken ? 100 : 0
    for event in events {
      switch event {
      case .pending(let fill):
        verify(fill)
        change(fill.order) { $0.pending += fill.quantity.units }
      case .dropped(let fill):
        tally.dropped += 1
        change(fill.order) { $0.pending -= fill.quantity.units }
      case .booked(let fill):
        change(fill.order) {
          $0.pending = max($0.pending - fill.quantity.units, 0)
          $0.booked += fill.quantity.units + surplus
        }
      case .reversed(let fill):
        tally.reversed += 1
        change(fill.order) { $0.booked -= fill.quantity.units }
      case .cancelled, .released, .heldAgain:
        complaints.append("a limit order is \(event)")
      }
    }
  }

  private mutating func change(_ order: Int64, by change: (inout Ghost) -> Void) {
    guard let index = ghosts.firstIndex(where: { $0.order.order.id == order }) else {
      return complaints.append("a fill of an order that is not there")
    }
    change(&ghosts[index])
  }

  /// The evidence, as a database has it, gives the fill again.
  private mutating func verify(_ fill: Fill) {
    guard let evidence = FillEvidence(text: fill.evidence.text), evidence == fill.evidence,
      let derived = FillRules.derive(evidence), derived.quantity == fill.quantity,
      derived.price == fill.price
    else { return complaints.append("other evidence: \(fill.evidence.text)") }
    let limit = evidence[.limit]
    if side == .buy ? fill.price > limit : fill.price < limit {
      complaints.append("filled at \(fill.price), with the limit \(limit)")
    }
  }

  /// While a false row stands, only what it did not confirm is held against the truth.
  private mutating func judge(_ row: Snapshot) {
    guard falseRows.count < 2 else { return }
    for ghost in ghosts {
      let truth = ghost.truth
      let certain =
        isFormer ? ghost.former.certain : ghost.booked + (falseRows.isEmpty ? ghost.pending : 0)
      guard certain > truth else { continue }
      complaints.append(
        "seed \(seed), order \(ghost.order.order.id) at second \(row.stamp.secondOfDay): certain "
          + "\(certain), true \(truth) of \(ghost.order.quantity)")
    }
  }

  private mutating func finish() {
    if !falseRows.isEmpty { correct() }
    handle(trading.confirm())
    guard let row = trading.last?.snapshot, ghosts.contains(where: { $0.book != nil }) else {
      return
    }
    judge(row)
    for ghost in ghosts {
      let (truth, own) = (ghost.truth, ghost.order.quantity.units)
      tally.truth += truth
      tally.certain += ghost.booked
      tally.wholeTruth += truth == own ? 1 : 0
      tally.wholeCertain += ghost.booked == own ? 1 : 0
      let order = trading.orders.first { $0.order.id == ghost.order.order.id }
      tally.possible += order?.possible(in: row).units ?? ghost.booked
    }
  }
}
