import Market
import PaperTrading
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
      triggers: [trigger], window: window)
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
      row(9, last: 1100, queue: nil, ask: 1100), row(12, last: 1100, queue: 400, ask: nil),
    ]
    return rows.compactMap { row in
      watch.observe(row, limitUp: Self.limitUp)
      let fires = purchase.fires(on: row, limitUp: Self.limitUp, watch: watch)
      return fires ? row.stamp.secondOfDay : nil
    }
  }

  @Test func `each trigger fires on its rows and no other`() throws {
    #expect(try seconds(.near(permille: 0)) == [3, 6, 9, 12])
    #expect(try seconds(.near(permille: 10)) == [2, 3, 6, 9, 12])
    #expect(try seconds(.sealed(seconds: 0)) == [3, 6, 12])
    #expect(try seconds(.sealed(seconds: 3)) == [6])
    #expect(try seconds(.queueAtMost(ExactDecimal(500))) == [6, 12])
    #expect(try seconds(.queueWorthAtMost(ExactDecimal(4400))) == [12])
    #expect(try seconds(.resealed) == [12])
    #expect(try seconds(.sealed(seconds: 0), window: 4..<12) == [6])
  }

  @Test func `it becomes a limit order at the limit price`() throws {
    let order = try purchase(.resealed).order(id: 7, limitUp: Self.limitUp)
    #expect(order.limit == Self.limitUp && order.kind == .limit && order.side == .buy)
    #expect(order.origin == .queuePurchase)
  }
}
