import Market
import PaperTrading
import TestSupport
import Testing

/// Where orders stand, as it is stored: who reads it goes on with them. And random days, on which
/// rows that reach no price of an order are not looked at.
@Suite struct PlaceTests {
  static let day = FillTests.day
  static let band = PriceBand(lower: ExactDecimal(9), upper: ExactDecimal(11))
  private static let bank = "sz000001"

  private static func trading() throws -> InstrumentTrading {
    InstrumentTrading(try #require(Symbol(bank).flatMap(Instrument.classify)))
  }

  private static func restored(_ places: [Int64: [UInt8]]) throws -> InstrumentTrading {
    var trading = try trading()
    for (account, body) in places.sorted(by: { $0.key < $1.key }) {
      let isRead = trading.restore(body, of: account)
      #expect(isRead)
    }
    return trading
  }

  private static func isOpen(_ order: RestingOrder) -> Bool { order.stage != .done }

  @Test func `orders that are read stand where they stood`() throws {
    let seed = UInt64.random(in: 0...UInt64(UInt32.max))
    var compared = 0
    for round in 0..<40 {
      var day = RandomPlaces(random: SplitMix(seed: seed &+ UInt64(round)))
      var trading = try Self.trading()
      var places: [Int64: [UInt8]] = [:]
      for step in 0..<120 {
        for next in day.next(of: trading.instrument.symbol) { _ = next.apply(to: &trading) }
        for (account, body) in trading.takePlaces() { places[account] = body }
        let open = trading.orders.filter(Self.isOpen).sorted { $0.order.id < $1.order.id }
        let read = try Self.restored(places)
        let same = read.orders.filter(Self.isOpen).sorted { $0.order.id < $1.order.id }
        #expect(same == open, "seed \(seed), round \(round), step \(step)")
        for order in trading.orders {
          #expect(read.isPending(order.order) == trading.isPending(order.order), "seed \(seed)")
        }
        compared += open.count
      }
    }
    #expect(compared > 1_000, "seed \(seed)")
  }

  /// What the account is told, whatever the rows that prove it.
  private static func outline(_ events: [FillEvent]) -> [String] {
    events.map { event in
      switch event {
      case .pending(let fill): "shown \(fill.order) \(fill.quantity)@\(fill.price)"
      case .dropped(let fill): "dropped \(fill.order) \(fill.quantity)@\(fill.price)"
      case .booked(let fill): "booked \(fill.order) \(fill.quantity)@\(fill.price)"
      case .reversed(let fill): "reversed \(fill.order) \(fill.quantity)@\(fill.price)"
      case .cancelled, .released, .heldAgain: "\(event)"
      }
    }
  }

  @Test func `who goes on with what is stored shows, books and takes back the same`() throws {
    let seed = UInt64.random(in: 0...UInt64(UInt32.max))
    var (reversed, held, shown) = (0, 0, 0)
    for round in 0..<15 {
      var day = RandomPlaces(random: SplitMix(seed: seed &+ UInt64(round)))
      var deaths = SplitMix(seed: seed &+ UInt64(round) &+ 1_000)
      var (straight, killed) = (try Self.trading(), try Self.trading())
      var places: [Int64: [UInt8]] = [:]
      for step in 0..<200 {
        for next in day.next(of: straight.instrument.symbol) {
          let events = Self.outline(next.apply(to: &straight))
          #expect(
            Self.outline(next.apply(to: &killed)) == events,
            "seed \(seed), round \(round), step \(step)")
          for (account, body) in killed.takePlaces() { places[account] = body }
          if Int.random(in: 0..<3, using: &deaths) == 0 { killed = try Self.restored(places) }
          reversed += events.count { $0.hasPrefix("reversed") }
          held += events.count { $0.hasPrefix("heldAgain") }
          shown += events.count { $0.hasPrefix("shown") }
        }
      }
    }
    #expect(reversed > 50 && held > 5 && shown > 500, "\(reversed), \(held), \(shown)")
  }

  @Test func `a row that reaches no order leaves them as they are`() throws {
    let seed = UInt64.random(in: 0...UInt64(UInt32.max))
    var fills = 0
    for round in 0..<60 {
      var day = RandomPlaces(random: SplitMix(seed: seed &+ UInt64(round)))
      var trading = try Self.trading()
      var watched = trading
      // An order that waits for ever has each row looked at for its account.
      for account in Int64(1)...3 {
        let order = Order(
          id: 1_000 + account, account: account, symbol: trading.instrument.symbol, side: .buy,
          kind: .limit, quantity: ExactDecimal(100), limit: ExactDecimal(10))
        watched.enter(
          RestingOrder(
            order, acceptance: Acceptance(entersAt: 86_400, worstPrice: nil), on: Self.day,
            band: nil))
      }
      for step in 0..<200 {
        for next in day.next(of: trading.instrument.symbol) {
          let (events, same) = (next.apply(to: &trading), next.apply(to: &watched))
          #expect(events == same, "seed \(seed), round \(round), step \(step)")
          fills += events.count
        }
        for order in trading.orders where Self.isOpen(order) {
          #expect(
            trading.progress(of: order.order)?.ahead == watched.progress(of: order.order)?.ahead)
          let possible = watched.progress(of: order.order)?.possible
          #expect(trading.progress(of: order.order)?.possible == possible, "seed \(seed)")
        }
      }
    }
    #expect(fills > 1_000, "seed \(seed)")
  }

  @Test func `what is no place, whole, is none`() throws {
    var day = RandomPlaces(random: SplitMix(seed: 1))
    var trading = try Self.trading()
    for _ in 0..<100 {
      for next in day.next(of: trading.instrument.symbol) { _ = next.apply(to: &trading) }
    }
    let places = trading.takePlaces()
    #expect(places.count == 4 && places.contains { $0.account == 0 })
    for (account, body) in places {
      for damaged in [[], Array(body.dropLast()), body + [0], [body[0] + 1] + body.dropFirst()] {
        var other = try Self.trading()
        let isRead = other.restore(damaged, of: account)
        #expect(!isRead, "of account \(account)")
      }
    }
  }

  // MARK: At limit-up

  private static func row(
    _ number: Int64, at second: Int32? = nil, volume: Int64, queue: Int64
  ) -> MarketRow {
    let limitUp = ExactDecimal(11)
    return MarketRow(
      Snapshot(
        stamp: SnapshotStamp(
          day: day, secondOfDay: second ?? 36_000 + Int32(number) * 3, sequence: number),
        previousClose: ExactDecimal(10), last: limitUp, high: limitUp, low: limitUp,
        volume: ExactDecimal(volume), turnover: ExactDecimal(volume * 11),
        bids: [BookLevel(price: limitUp, volume: ExactDecimal(queue))], asks: []),
      band: band)
  }

  /// Orders of 500 shares behind so many.
  private static func queued(
    orders: Int64 = 1, behind queue: Int64 = 1_000
  ) throws -> InstrumentTrading {
    var trading = try trading()
    for id in 1...orders {
      let order = Order(
        id: id, account: 1, symbol: trading.instrument.symbol, side: .buy, kind: .limit,
        quantity: ExactDecimal(500), limit: band.upper)
      trading.enter(
        RestingOrder(
          order, acceptance: Acceptance(entersAt: 0, worstPrice: band.upper), on: day, band: band))
    }
    _ = trading.accept(row(1, volume: 100, queue: queue))
    return trading
  }

  /// All of them change with each row: with all that stands of an order the place had 200 KB.
  @Test func `as many orders as an account may have in one queue are a small place`() throws {
    var trading = try Self.queued(orders: 500, behind: 1_000_000)
    for number in Int64(2)...12 {
      _ = trading.accept(Self.row(number, volume: number * 10_000, queue: 1_000_000))
    }
    let places = trading.takePlaces()
    let bytes = try #require(places.first { $0.account == 1 }).body.count
    #expect(bytes < 100_000)
    var next = try Self.restored(
      Dictionary(uniqueKeysWithValues: places.map { ($0.account, $0.body) }))
    #expect(next.orders == trading.orders)
    let isEqual = next.withdraw(from: 6) == trading.withdraw(from: 6)
    #expect(isEqual && next.orders == trading.orders)
  }

  /// As another process reads it.
  private static func reread(_ trading: inout InstrumentTrading) throws -> InstrumentTrading {
    try restored(
      Dictionary(uniqueKeysWithValues: trading.takePlaces().map { ($0.account, $0.body) }))
  }

  private func pending(_ events: [FillEvent]) -> [Int64] {
    events.compactMap { if case .pending(let fill) = $0 { fill.quantity.units } else { nil } }
  }

  private func booked(_ events: [FillEvent]) -> [Int64] {
    events.compactMap { if case .booked(let fill) = $0 { fill.quantity.units } else { nil } }
  }

  @Test(arguments: [false, true])
  func `what was shown before a start is booked behind it`(isCertified: Bool) throws {
    var trading = try Self.queued()
    let shown = trading.accept(Self.row(2, volume: 1_300, queue: 1_000))
    #expect(pending(shown) == [200])
    var next = try Self.reread(&trading)
    #expect(!next.isSettled)
    let events =
      isCertified ? next.confirm() : next.accept(Self.row(3, volume: 1_300, queue: 1_000))
    #expect(booked(events) == [200] && pending(events) == [])
  }

  @Test func `blocks over noon fill nothing, also of who goes on after a start`() throws {
    var trading = try Self.queued()
    var places: [Int64: [UInt8]] = [:]
    // 11:29:57, 11:30:03, noon with 2,000 shares more.
    for (number, second, volume) in [(2, 41_397, 100), (3, 41_403, 100), (4, 43_200, 2_100)] {
      let row = Self.row(Int64(number), at: Int32(second), volume: Int64(volume), queue: 1_000)
      #expect(trading.accept(row) == [])
      for (account, body) in trading.takePlaces() { places[account] = body }
    }
    var next = try Self.restored(places)
    for number in Int64(5)...6 {
      let row = Self.row(number, at: 46_800 + Int32(number) * 3, volume: 2_100, queue: 1_000)
      #expect(next.accept(row) == [] && trading.accept(row) == [])
    }
  }

  @Test func `what cannot be taken back any more is not taken back behind a start`() throws {
    var trading = try Self.queued()
    var places: [Int64: [UInt8]] = [:]
    for number in Int64(2)...20 {
      _ = trading.accept(Self.row(number, volume: 2_600, queue: 1_000))
      for (account, body) in trading.takePlaces() { places[account] = body }
    }
    var next = try Self.restored(places)
    #expect(next.withdraw(from: 2) == [] && trading.withdraw(from: 2) == [])
  }

  @Test func `a fill that is booked is not booked again`() throws {
    var trading = try Self.queued()
    _ = trading.accept(Self.row(2, volume: 1_300, queue: 1_000))
    _ = trading.accept(Self.row(3, volume: 1_300, queue: 1_000))
    var next = try Self.reread(&trading)
    let quiet = next.accept(Self.row(4, volume: 1_300, queue: 1_000))
    #expect(quiet == [])
    let events = next.accept(Self.row(5, volume: 1_400, queue: 1_000))
    #expect(pending(events) == [100])
  }

  @Test(arguments: [false, true])
  func `what a false row led to is taken back behind a start`(isConfirmed: Bool) throws {
    var trading = try Self.queued()
    let shown = trading.accept(Self.row(2, volume: 1_300, queue: 1_000))
    #expect(pending(shown) == [200])
    if isConfirmed { _ = trading.accept(Self.row(3, volume: 1_300, queue: 1_000)) }
    var next = try Self.reread(&trading)
    let events = Self.outline(next.withdraw(from: 2))
    #expect(events == [isConfirmed ? "reversed 1 200@11" : "dropped 1 200@11"])
    // Behind 1,000 again, as of the first row.
    let found = next.accept(Self.row(4, volume: 1_200, queue: 1_000))
    #expect(pending(found) == [100])
  }

  @Test func `a place that a false row gave goes with it, however many came behind`() throws {
    var trading = try Self.queued()
    // All but 100 of those before it have left: so it seems.
    _ = trading.accept(Self.row(2, volume: 100, queue: 100))
    var next = try Self.reread(&trading)
    #expect(next.accept(Self.row(3, volume: 100, queue: 100)) == [])
    #expect(next.withdraw(from: 2) == [])
    #expect(next.accept(Self.row(4, volume: 600, queue: 800)) == [])
    let found = next.accept(Self.row(5, volume: 1_300, queue: 800))
    #expect(pending(found) == [200])
  }

  @Test func `no place is as of a row that was taken out`() throws {
    var trading = try Self.queued()
    _ = trading.accept(Self.row(2, volume: 1_300, queue: 1_000))
    // It changes nothing, but confirms what the row before has shown.
    _ = trading.accept(Self.row(3, volume: 1_350, queue: 1_000))
    var stored = Dictionary(
      uniqueKeysWithValues: trading.takePlaces().map { ($0.account, $0.body) })
    _ = trading.withdraw(from: 3)
    for place in trading.takePlaces() { stored[place.account] = place.body }
    var next = try Self.restored(stored)
    #expect(next.last?.snapshot.stamp.sequence == 2)
    let found = next.accept(Self.row(4, volume: 1_400, queue: 1_000))
    guard case .pending(let fill)? = found.last else {
      Issue.record("\(found)")
      return
    }
    #expect(fill.evidence.before?.sequence == 2 && fill.quantity == ExactDecimal(100))
  }

  @Test func `a stop that a false row released is held again behind a start`() throws {
    var trading = try Self.trading()
    let order = Order(
      id: 1, account: 1, symbol: trading.instrument.symbol, side: .buy, kind: .stop,
      quantity: ExactDecimal(100), stop: Self.band.upper)
    trading.enter(
      RestingOrder(
        order, acceptance: Acceptance(entersAt: 36_003, worstPrice: Self.band.upper),
        on: Self.day, band: Self.band))
    _ = trading.accept(Self.row(1, volume: 100, queue: 1_000))
    _ = trading.accept(Self.row(2, volume: 200, queue: 1_000))
    let events = trading.accept(Self.row(3, volume: 300, queue: 1_000))
    #expect(events == [.released(order: 1)])
    var next = try Self.reread(&trading)
    #expect(next.withdraw(from: 2) == [.heldAgain(order: 1)])
  }

  @Test func `a row of another process makes no purchase a candidate`() throws {
    let purchase = QueuePurchase(
      id: 1, account: 1, symbol: try #require(Symbol(Self.bank)), quantity: ExactDecimal(100),
      terms: PurchaseTerms(triggers: [.sealed(seconds: 0)]))
    let armedAt = Timestamp(day: Self.day, secondOfDay: 34_000)
    var trading = try Self.queued()
    var next = try Self.reread(&trading)
    for (number, isOrdered) in [(Int64(2), false), (3, true)] {
      _ = next.accept(Self.row(number, volume: 200, queue: 1_000))
      #expect(next.orders(purchase, armedAt: armedAt) == isOrdered)
    }
  }
}
