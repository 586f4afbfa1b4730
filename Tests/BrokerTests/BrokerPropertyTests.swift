import AppStore
import Broker
import Market
import PaperTrading
import TestSupport
import TestTraits
import Testing

/// Random commands and rows: what a process knows decides nothing, and all can be derived again.
@Suite(.ownThread) struct BrokerPropertyTests {
  private typealias Row = PaperExchange.Row
  private static let steps = 60

  /// Two days of random commands and rows, some of them taken out again; the same for a seed.
  private func trade(
    _ exchange: PaperExchange, seed: UInt64, killing: Bool
  ) async throws {
    var random = SplitMix(seed: seed)
    var deaths = SplitMix(seed: seed &+ 1)
    let next = try #require(TradingCalendar.shanghai.next(after: PaperExchange.day))
    for day in [PaperExchange.day, next] {
      var volume: Int64 = 1_000
      for step in 0..<Self.steps {
        if killing, Int.random(in: 0..<3, using: &deaths) == 0 { exchange.kill() }
        var row = Row(day: day, second: 34_500 + step * 7, volume: volume)
        row.bids = [(1000, 100 * .random(in: 1...9, using: &random)), (999, 700)]
        row.asks = [(1001, 100 * .random(in: 1...9, using: &random)), (1002, 700)]
        let isFalse = Int.random(in: 0..<12, using: &random) == 0
        let before = volume
        volume += .random(in: 0...3_000, using: &random)
        if isFalse {
          // Two of them: the second one confirms what the first one led to.
          for more in [50_000, 60_000] {
            row.volume = volume + Int64(more)
            try await exchange.row(row)
            row.second += 1
          }
          (row.volume, row.corrects) = (before, true)
        }
        try await exchange.row(row)
        if killing, Int.random(in: 0..<3, using: &deaths) == 0 { exchange.kill() }
        try command(exchange, &random)
      }
      // Behind the close, and before the next day begins: that empties what is derived.
      exchange.setClock(day: day, second: 57_000)
      try exchange.look()
    }
  }

  private func command(_ exchange: PaperExchange, _ random: inout SplitMix) throws {
    let price: Int64 = .random(in: 998...1003, using: &random)
    let quantity: Int64 = 100 * .random(in: 1...6, using: &random)
    switch Int.random(in: 0..<10, using: &random) {
    case 0: try exchange.deposit(.random(in: 1...20_000, using: &random))
    case 1...4:
      try exchange.order(
        .buy, quantity, at: price,
        force: Bool.random(using: &random) ? .day : .goodTillCancelled)
    case 5...6: try exchange.order(.sell, quantity, at: price)
    case 7: try exchange.order(.buy, quantity, at: price, force: .immediateOrCancel)
    case 8: try exchange.send(.cancel(order: .random(in: 1...60, using: &random)))
    default:
      try exchange.send(
        .replace(
          order: .random(in: 1...60, using: &random),
          OrderChange(limit: PaperExchange.price(price))))
    }
  }

  /// What an order has of fills that were not taken back is what it says, and no more than it asked
  /// for.
  private static let overfilled = """
    select o.id
    from candled_app.paper_order o
    left join candled_app.fill f on f.order_id = o.id
      and not exists (
        select from candled_app.posting r
        where r.account_id = f.account_id
          and r.kind = 'reversal'
          and r.refers_to = f.posting_sequence)
    group by o.id
    having coalesce(sum(f.quantity), 0) <> o.filled or o.filled > o.quantity
    """

  private func ledger(_ exchange: PaperExchange) throws -> [[String?]] {
    try exchange.database.execute(
      """
      select concat_ws(' ', account_id, posting_sequence, line, unit, kind, amount, balance_after)
      from candled_app.entry
      union all
      select concat_ws(' ', order_id, sequence, quantity, price, evidence)
      from candled_app.fill
      union all
      select concat_ws(' ', id, state, filled, frozen, turnover) from candled_app.paper_order
      union all
      select concat_ws(' ', order_id, sequence, kind) from candled_app.order_event
      order by 1
      """)
  }

  @Test
  func `a broker that is killed at random, or has its process's feed, books what others do`()
    async throws
  {
    let seed = UInt64.random(in: 0...UInt64(UInt32.max))
    var ledgers: [[[String?]]] = []
    for (killing, follows) in [(false, false), (true, false), (true, true)] {
      let exchange = try await PaperExchange(followsFeed: follows)
      try await exchange.row(Row(second: 34_000, volume: 100, bids: [(1000, 100)]))
      try exchange.deposit(50_000)
      try await trade(exchange, seed: seed, killing: killing)
      #expect(try exchange.findings() == [], "seed \(seed), \(killing), \(follows)")
      #expect(try LedgerReplay(exchange.apps).differences() == [], "seed \(seed)")
      #expect(try exchange.database.execute(Self.overfilled).isEmpty, "seed \(seed)")
      let events = "select count(*) from candled_app.order_event where kind ="
      for kind in ["fill", "reversed"] {
        let count = try exchange.database.value("\(events) '\(kind)'")
        #expect(count != "0", "no \(kind), seed \(seed)")
      }
      ledgers.append(try ledger(exchange))
    }
    #expect(ledgers.allSatisfy { $0 == ledgers[0] }, "seed \(seed)")
  }

  @Test(arguments: [
    ("fill", "update candled_app.fill set quantity = 200 where sequence = 1"),
    ("fill", "update candled_app.fill set commission = commission + 0.01 where sequence = 1"),
    ("fill", "update candled_app.fill set evidence = replace(evidence, 'offered=', 'taken=')"),
    ("paper_order", "update candled_app.paper_order set filled = filled - 1 where filled > 1"),
    ("paper_order", "update candled_app.paper_order set frozen = frozen + 1 where id = 2"),
    ("paper_order", "update candled_app.paper_order set limit_price = 9 where id = 1"),
    ("paper_order", "update candled_app.paper_order set state = 'filled' where id = 3"),
    ("paper_order", "update candled_app.paper_order set state = 'expired' where id = 1"),
    ("command", "update candled_app.command set body = replace(body, 'amount=', 'amount=9')"),
    ("entry", "update candled_app.entry set amount = amount * 2 where posting_sequence = 1"),
    ("book", "update candled_app.book set balance = balance + 1 where kind = 'available'"),
  ])
  func `what was changed by hand is found`(_ table: String, _ change: String) async throws {
    let exchange = try await PaperExchange()
    try await exchange.row(
      Row(second: 34_500, volume: 100, bids: [(999, 100)], asks: [(1001, 500)]))
    try exchange.deposit(100_000)
    try exchange.order(.buy, 300, at: 1001)
    try exchange.order(.buy, 100, at: 998)
    try exchange.order(.buy, 100, at: 997)
    #expect(try exchange.send(.cancel(order: 3)).isDone)
    for step in 1...2 {
      try await exchange.row(
        Row(
          second: 34_500 + step * 3, volume: 100 + Int64(step) * 100, bids: [(999, 100)],
          asks: [(1001, 500)]))
    }
    #expect(try LedgerReplay(exchange.apps).differences() == [])
    try exchange.database.execute(
      """
      alter table candled_app.\(table) disable trigger user;
      \(change);
      alter table candled_app.\(table) enable trigger user
      """)
    #expect(try LedgerReplay(exchange.apps).differences() != [], "\(change)")
  }
}
