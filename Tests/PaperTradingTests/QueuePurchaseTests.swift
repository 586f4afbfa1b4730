import Market
import PaperTrading
import TestSupport
import Testing

/// When a queue purchase is ordered.
@Suite struct QueuePurchaseTests {
  private static let limitUp = ExactDecimal(units: 1100, scale: 2)

  private func row(_ second: Int32, last: Int64, queue: Int64?, ask: Int64?) -> Snapshot {
    let price = ExactDecimal(units: last, scale: 2)
    return Snapshot(
      stamp: SnapshotStamp(day: FillTests.day, secondOfDay: second, sequence: Int64(second)),
      previousClose: ExactDecimal(10), last: price, high: price, low: price, volume: .zero,
      turnover: .zero,
      bids: queue.map { [BookLevel(price: price, volume: ExactDecimal($0))] } ?? [],
      asks: ask.map {
        [BookLevel(price: ExactDecimal(units: $0, scale: 2), volume: ExactDecimal(100))]
      } ?? [])
  }

  private func purchase(
    _ trigger: QueuePurchase.Trigger, window: Range<Int32>? = nil
  ) throws -> QueuePurchase {
    QueuePurchase(
      id: 1, account: 1, symbol: try #require(Symbol("sz000001")), quantity: ExactDecimal(100),
      terms: PurchaseTerms(triggers: [trigger], window: window))
  }

  /// The seconds at which it fires on a day that nears the limit, is sealed, opens and is sealed.
  private func seconds(
    _ trigger: QueuePurchase.Trigger, window: Range<Int32>? = nil
  ) throws -> [Int32] {
    let purchase = try purchase(trigger, window: window)
    var watch = SealWatch()
    let rows = [
      row(1, last: 1050, queue: 100, ask: 1051), row(2, last: 1090, queue: 100, ask: 1091),
      row(3, last: 1100, queue: 900, ask: nil), row(6, last: 1100, queue: 500, ask: nil),
      row(9, last: 1100, queue: nil, ask: 1100), row(10, last: 1100, queue: nil, ask: 1100),
      row(12, last: 1100, queue: 400, ask: nil),
    ]
    return rows.compactMap { row in
      watch.observe(row, limitUp: Self.limitUp)
      let fires = purchase.fires(on: row, limitUp: Self.limitUp, watch: watch)
      return fires ? row.stamp.secondOfDay : nil
    }
  }

  @Test func `each trigger fires on its rows and no other`() throws {
    #expect(try seconds(.near(permille: 0)) == [3, 6, 9, 10, 12])
    #expect(try seconds(.near(permille: 10)) == [2, 3, 6, 9, 10, 12])
    #expect(try seconds(.sealed(seconds: 0)) == [3, 6, 12])
    #expect(try seconds(.sealed(seconds: 3)) == [6])
    #expect(try seconds(.queueAtMost(ExactDecimal(500))) == [6, 12])
    #expect(try seconds(.queueWorthAtMost(ExactDecimal(4400))) == [12])
    #expect(try seconds(.resealed) == [12])
    #expect(try seconds(.sealed(seconds: 0), window: 4..<12) == [6])
  }

  /// A row of a day that is at limit-up or is not.
  private func dayRow(
    _ number: Int, isSealed: Bool, volume: Int64, mostSoFar: Int64
  ) -> MarketRow {
    var snapshot = row(
      34_200 + Int32(number) * 3, last: isSealed ? 1100 : 1050, queue: isSealed ? 500 : 100,
      ask: isSealed ? nil : 1051)
    let high = max(mostSoFar, isSealed ? 1100 : 1050)
    (snapshot.high, snapshot.low) = (ExactDecimal(units: high, scale: 2), ExactDecimal(10))
    snapshot.volume = ExactDecimal(volume)
    let band = PriceBand(lower: ExactDecimal(9), upper: Self.limitUp)
    return MarketRow(snapshot, band: band)
  }

  /// The rows at which a purchase is ordered, by their numbers.
  private func ordered(_ purchase: QueuePurchase, _ rows: [(Int, MarketRow)]) throws -> [Int] {
    var trading = InstrumentTrading(try #require(Instrument.classify(purchase.symbol)))
    let armedAt = Timestamp(day: FillTests.day, secondOfDay: 34_000)
    return rows.compactMap { number, row in
      guard trading.continues(row.snapshot) else { return nil }
      _ = trading.accept(row)
      return trading.orders(purchase, armedAt: armedAt) ? number : nil
    }
  }

  /// Each false row stands between true ones, and shows the other side of limit-up.
  @Test func `single false rows order nothing, and take nothing that stays true`() throws {
    let seed = UInt64.random(in: 0...UInt64(UInt32.max))
    var random = SplitMix(seed: seed)
    let triggers: [QueuePurchase.Trigger] = [
      .near(permille: 0), .sealed(seconds: 0), .sealed(seconds: 9),
      .queueAtMost(ExactDecimal(500)), .queueWorthAtMost(ExactDecimal(5_500)), .resealed,
    ]
    var orders = 0
    for round in 0..<400 {
      // Half of the days are never at limit-up; the others change now and then.
      let seals = round.isMultiple(of: 2)
      var (isSealed, volume, most) = (false, Int64(100), Int64(1050))
      var (trueRows, rows): ([(Int, MarketRow)], [(Int, MarketRow)]) = ([], [])
      for number in 0..<80 {
        if seals, number.isMultiple(of: 8) { isSealed = Bool.random(using: &random) }
        if isSealed { most = 1100 }
        volume += .random(in: 1...50, using: &random)
        let row = dayRow(number * 2, isSealed: isSealed, volume: volume, mostSoFar: most)
        trueRows.append((number, row))
        rows.append((number, row))
        guard Int.random(in: 0..<4, using: &random) == 0 else { continue }
        rows.append(
          (number, dayRow(number * 2 + 1, isSealed: !isSealed, volume: volume, mostSoFar: most)))
      }
      for trigger in triggers {
        let purchase = try purchase(trigger)
        let due = try ordered(purchase, trueRows)
        let found = try ordered(purchase, rows)
        // What false rows do not hold up is ordered one row before without them, at most.
        let first = found.first.map { number in due.contains { $0 <= number + 1 } } ?? true
        #expect(first, "seed \(seed), round \(round), \(trigger): \(found), due \(due)")
        if !seals { #expect(found == [], "seed \(seed), round \(round), \(trigger)") }
        orders += found.count
      }
    }
    #expect(orders > 0, "seed \(seed)")
  }

  @Test func `it becomes a limit order at the limit price`() throws {
    let order = try purchase(.resealed).order(id: 7, limitUp: Self.limitUp)
    #expect(order.limit == Self.limitUp && order.kind == .limit && order.side == .buy)
    #expect(order.origin == .queuePurchase)
  }
}
