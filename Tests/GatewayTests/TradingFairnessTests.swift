import Foundation
import HTTPTypes
import Market
import Platform
import Postgres
import TestSupport
import TestTraits
import Testing

@testable import Gateway

/// What one user's requests, and a database that fails for a moment, do to the others' orders.
@Suite(.ownThread) struct TradingFairnessTests {
  private static let deposit = #"{"amount":"1.00","type":"bank"}"#
  private static let account = #"{"name":"a","market":"A"}"#

  private func waitForCommands(_ count: Int, in fixture: TradingFixture) async throws {
    let deadline = MonotonicClock.seconds() + 30
    let query = "select count(*) from candled_app.command"
    while try fixture.served.database.value(query) != "\(count)" {
      guard MonotonicClock.seconds() < deadline else {
        Issue.record("there are no \(count) commands")
        return
      }
      try await Task.sleep(for: .milliseconds(5))
    }
  }

  @Test("a user has 32 places among those who wait, and there are 256 for all")
  func places() async throws {
    let waiters = OutcomeWaiters(url: "", milliseconds: 1)
    func nest(_ users: [Int64]) async throws(Problem) -> Int {
      guard let user = users.first else { return 0 }
      return try await waiters.withPlace(of: user) { () async throws(Problem) in
        try await nest(Array(users.dropFirst())) + 1
      }
    }
    let most = OutcomeWaiters.waitingOfUserMax
    let ofOne = [Int64](repeating: 1, count: most)
    #expect(try await nest(ofOne + [2]) == most + 1)
    await #expect(throws: Problem.tooManyOfUser) { try await nest(ofOne + [1]) }
    let all = (0..<OutcomeWaiters.waitingMax).map { Int64($0 / most) }
    #expect(try await nest(all) == all.count)
    await #expect(throws: Problem.tooManyWaiting) { try await nest(all + [99]) }
    #expect(waiters.waiting == 0)
    #expect(await waiters.outcome(of: 1) == nil)
  }

  @Test("who fills his places gets 429 while another user's order waits and is answered")
  func crowd() async throws {
    let fixture = try await TradingFixture(hasBroker: false)
    for token in [fixture.alice, fixture.bob] {
      _ = try await fixture.ask(.post, "/v1/accounts", Self.account, as: token)
    }
    let most = OutcomeWaiters.waitingOfUserMax
    try await withThrowingTaskGroup(of: Reply.self) { group in
      for _ in 0..<most {
        group.addTask { try await fixture.ask(.post, "/v1/account/deposits", Self.deposit) }
      }
      try await waitForCommands(most, in: fixture)
      let refused = try await fixture.ask(.post, "/v1/account/deposits", Self.deposit)
      #expect(refused.status == 429 && refused.text("code") == "too_many_waiting", "\(refused)")
      #expect(refused.headers[.retryAfter] == "1")
      let alpaca = try await fixture.ask(.delete, "/v2/orders")
      #expect(alpaca.text("code") == "42910000", "\(alpaca)")
      group.addTask {
        try await fixture.ask(.post, "/v1/account/deposits", Self.deposit, as: fixture.bob)
      }
      try await waitForCommands(most + 1, in: fixture)
      while try await fixture.broker.execute() > 0 {}
      for try await reply in group { #expect(reply.status == 201, "\(reply)") }
    }
  }

  @Test("a list that the database is slow to read holds up no command")
  func slowRead() async throws {
    let fixture = try await TradingFixture()
    try await fixture.fund("10.00")
    let blocker = try PostgresConnection(
      url: fixture.served.database.url, application: "blocker")
    try blocker.execute(
      "begin; lock table candled_app.order_event in access exclusive mode", context: "test")
    async let orders = fixture.ask(.get, "/v1/orders")
    let blocked = """
      select count(*)
      from pg_locks
      where not granted
        and relation = 'candled_app.order_event'::regclass
      """
    let deadline = MonotonicClock.seconds() + 30
    while try fixture.served.database.value(blocked) == "0", MonotonicClock.seconds() < deadline {
      try await Task.sleep(for: .milliseconds(5))
    }
    let reply = try await fixture.ask(.post, "/v1/account/deposits", Self.deposit)
    #expect(reply.status == 201 && reply.text("balance") == "11.00", "\(reply)")
    #expect(try fixture.served.database.value(blocked) == "1")
    try blocker.execute("rollback", context: "test")
    #expect(try await orders.status == 200)
  }

  @Test("an order that was accepted but cannot be read is answered with where to look, not 503")
  func unreadable() async throws {
    let fixture = try await TradingFixture()
    try await fixture.fund()
    try fixture.served.database.execute(
      "revoke select on candled_app.order_event from candled_app")
    let order =
      #"{"stockSymbol":"sh600000","side":"buy","type":"limit","quantity":"100","limitPrice":"9"}"#
    let reply = try await fixture.ask(.post, "/v1/orders", order)
    #expect(reply.status == 202 && reply.text("state") == "done", "\(reply)")
    let path = try #require(reply.headers[.location])
    #expect(try await fixture.ask(.get, path).text("answer") == "order=1")
    let alpaca = try await fixture.ask(
      .post, "/v2/orders",
      #"""
      {"symbol":"sh600000","side":"buy","type":"limit","time_in_force":"day","qty":100,
      "limit_price":9}
      """#)
    #expect(alpaca.text("code") == "40910000" && alpaca.body.contains("0000000b-"), "\(alpaca)")
    #expect(
      try fixture.served.database.value("select count(*) from candled_app.paper_order") == "2")
  }

  /// Ends the sessions that send a command, before it is stored.
  private func cut(_ fixture: TradingFixture, times: Int) throws {
    try fixture.served.database.execute(
      """
      create sequence public.cuts;
      create function public.cut() returns trigger language plpgsql security definer as $$
      begin
        if nextval('public.cuts') <= \(times) then
          perform pg_terminate_backend(pg_backend_pid());
        end if;
        return new;
      end
      $$;
      create trigger cut before insert on candled_app.command
      for each row execute function public.cut()
      """)
  }

  @Test("a command whose connection is lost is sent again under the same key, and is one")
  func lost() async throws {
    let fixture = try await TradingFixture()
    _ = try await fixture.ask(.post, "/v1/accounts", Self.account)
    try cut(fixture, times: 1)
    let reply = try await fixture.ask(.post, "/v1/account/deposits", Self.deposit)
    #expect(reply.status == 201 && reply.text("balance") == "1.00", "\(reply)")
    #expect(try fixture.served.database.value("select count(*) from candled_app.command") == "1")
  }

  @Test("where it is not known whether a command was stored, a client without a key gets 409")
  func unknown() async throws {
    let fixture = try await TradingFixture(hasBroker: false)
    _ = try await fixture.ask(.post, "/v1/accounts", Self.account)
    try cut(fixture, times: 1_000)
    let reply = try await fixture.ask(.post, "/v1/account/deposits", Self.deposit)
    #expect(reply.status == 409 && reply.text("code") == "outcome_unknown", "\(reply)")
    let keyed = try await fixture.ask(.post, "/v1/account/deposits", Self.deposit, key: "k")
    #expect(keyed.status == 503 && keyed.headers[.retryAfter] != nil, "\(keyed)")
  }
}
