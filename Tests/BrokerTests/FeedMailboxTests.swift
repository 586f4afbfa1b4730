import AppStore
import Broker
import Market
import PaperTrading
import Reader
import TestSupport
import TestTraits
import Testing

/// Rows that the process follows anyway: the broker takes them as they are, and reads from the
/// database what they lack.
@Suite(.ownThread) struct FeedMailboxTests {
  private typealias Row = PaperExchange.Row

  private static func row(_ number: Int, offers: Int64 = 0, corrects: Bool = false) -> Row {
    var row = Row(second: 34_500 + number * 3, volume: 100 + Int64(number) * 100)
    row.bids = [(999, 100)]
    row.asks = [offers > 0 ? (1001, offers) : (1005, 100)]
    row.corrects = corrects
    return row
  }

  /// An order of 300 at 10.01 rests, and its broker takes rows of the mailbox.
  private static func exchange() async throws -> PaperExchange {
    let exchange = try await PaperExchange(followsFeed: true)
    try await exchange.row(row(0))
    try exchange.deposit(100_000)
    #expect(try exchange.order(.buy, 300, at: 1001).isDone)
    for number in 1...2 { try await exchange.row(row(number)) }
    return exchange
  }

  private static func sell(_ change: inout FeedChange) {
    for index in change.quotes.indices {
      change.quotes[index].quote.asks[0] = BookLevel(
        price: PaperExchange.price(1001), volume: ExactDecimal(500))
    }
  }

  /// Commits rows that offer nothing; the mailbox has offers in their place.
  private static func mislead(_ exchange: PaperExchange, corrects: Bool = false) async throws {
    for number in 3...4 {
      try await exchange.commit(row(number, corrects: corrects))
      try exchange.follow(sell)
      exchange.setClock(second: 34_500 + number * 3)
      try exchange.look()
    }
  }

  @Test func `a row that was followed is not read again`() async throws {
    let exchange = try await Self.exchange()
    try await Self.mislead(exchange)
    #expect(try exchange.fills() == ["1/1 300@10.01"])
    let cursor = "select quote_sequence from candled_app.broker_cursor"
    let newest = "select last_seq from candled.feed_position()"
    #expect(try exchange.database.value(cursor) == exchange.database.value(newest))
  }

  @Test func `rows of another database are not taken`() async throws {
    let exchange = try await Self.exchange()
    let epoch = try #require(
      try exchange.database.value("select epoch from candled.feed_position()"))
    exchange.mailbox?.begin(epoch: (Int64(epoch) ?? 0) + 1, after: 0)
    try await Self.mislead(exchange)
    #expect(try exchange.fills() == [])
  }

  @Test func `what was corrected is read from the database`() async throws {
    let exchange = try await Self.exchange()
    try await Self.mislead(exchange, corrects: true)
    #expect(try exchange.fills() == [])
  }

  @Test func `rows that the database has not got are not taken`() async throws {
    let exchange = try await Self.exchange()
    for number in 3...4 {
      try await exchange.commit(Self.row(number))
      try exchange.follow { change in
        change.seq += 1_000
        Self.sell(&change)
      }
      try exchange.look()
    }
    #expect(try exchange.fills() == [])
  }

  @Test func `a feed that is behind for a second is not waited for`() async throws {
    let exchange = try await Self.exchange()
    exchange.advanceCounter(seconds: 0)
    for number in 3...4 {
      try await exchange.commit(Self.row(number, offers: 500))
      exchange.setClock(second: 34_500 + number * 3)
      try exchange.look()
    }
    #expect(try exchange.fills() == [])
    exchange.advanceCounter(seconds: 1)
    try exchange.broker.tick()
    // One is shown, and booked with the next.
    try await exchange.row(Self.row(5))
    #expect(try exchange.fills() == ["1/1 300@10.01"])
    #expect(try exchange.findings() == [])
  }

  @Test func `a follower that is far ahead leaves a gap`() async throws {
    let exchange = try await Self.exchange()
    for number in 3...20 {
      try await exchange.commit(Self.row(number, offers: number < 12 ? 0 : 500))
      try exchange.follow()
    }
    exchange.setClock(second: 34_560)
    try exchange.look()
    try await exchange.row(Self.row(21))
    #expect(try exchange.fills() == ["1/1 300@10.01"])
  }
}
