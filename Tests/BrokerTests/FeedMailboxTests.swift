import AppStore
import Broker
import Market
import PaperTrading
import Platform
import Postgres
import TestSupport
import TestTraits
import Testing

@testable import Reader

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
  private static func exchange(followsFeed: Bool = true) async throws -> PaperExchange {
    let exchange = try await PaperExchange(followsFeed: followsFeed)
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

  /// Two orders rest, a machine stands still, and the day's last row fills one of them.
  private static func standStill(
    untilSecond second: Int, followsFeed: Bool = true
  ) async throws -> PaperExchange {
    let exchange = try await exchange(followsFeed: followsFeed)
    try exchange.order(.buy, 100, at: 950)
    var row = row(3, offers: 500)
    row.second = 54_000
    try await exchange.commit(row)
    exchange.setClock(second: second)
    return exchange
  }

  private static func certify(_ exchange: PaperExchange, second: Int) async throws {
    try await exchange.certify(volume: 400, second: second)
    #expect(try exchange.fills() == ["1/1 300@10.01"])
    #expect(try exchange.states() == ["filled", "expired"])
    #expect(try exchange.findings() == [])
  }

  @Test func `no order expires while rows are known to wait, and for a second at most`()
    async throws
  {
    let exchange = try await Self.standStill(untilSecond: 54_400)
    exchange.advanceCounter(seconds: 0)
    try exchange.broker.tick()
    try exchange.look()
    #expect(try exchange.states() == ["accepted", "accepted"])
    exchange.setClock(second: 54_401)
    exchange.advanceCounter(seconds: 1)
    try exchange.broker.tick()
    #expect(try exchange.states() == ["accepted", "expired"])
    try await Self.certify(exchange, second: 55_800)
  }

  @Test(arguments: [true, false])
  func `the rows of a day come before its end`(_ followsFeed: Bool) async throws {
    let exchange = try await Self.standStill(untilSecond: 58_000, followsFeed: followsFeed)
    try exchange.broker.tick()
    #expect(try exchange.states() == ["accepted", "expired"])
    try await Self.certify(exchange, second: 58_100)
  }

  @Test func `a feed that was behind when the last order ended keeps no day from its end`()
    async throws
  {
    let exchange = try await Self.exchange()
    try await exchange.commit(Self.row(3))
    #expect(try exchange.send(.cancel(order: 1)).isDone)
    #expect(try exchange.states() == ["cancelled"])
    exchange.setClock(second: 60_000)
    try exchange.look()
    let day = "select trading_day from candled_app.broker_cursor"
    let next = try #require(TradingCalendar.shanghai.next(after: PaperExchange.day))
    #expect(try exchange.database.value(day) == "\(next)")
  }

  @Test func `a mailbox that is no longer wanted has a quiet interrupt`() throws {
    let mailbox = FeedMailbox()
    let isAdding = Locked(true)
    try DetachedThread.start(name: "feed") {
      let at = Timestamp(microseconds: 0)
      var change = FeedChange(seq: 0, committedAt: at, knownAt: at, rejections: 0)
      while isAdding.withLock({ $0 }) {
        change.seq += 1
        mailbox.add(change)
      }
    }
    defer { isAdding.withLock { $0 = false } }
    for _ in 0..<500 {
      mailbox.want(true)
      try #require(mailbox.interrupt.wait(milliseconds: 10_000))
      mailbox.want(false)
      try #require(!(0..<20).contains { _ in mailbox.interrupt.isSignalled })
    }
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
