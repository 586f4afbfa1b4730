import AppStore
import Broker
import Glibc
import Market
import PaperTrading
import Platform
import Postgres
import TestSupport

/// The clock of the database server jumps by six hours and by a day, for seconds, while orders are
/// open and shares were bought: no order ends, no share is freed, and rows of the day go on
/// filling. The clock is the server's own, as gateways see it: `clock_timestamp()` is replaced.
package struct BrokerClockTrial {
  package var binary: String
  /// Of each kind.
  package var jumps: Int
  package var seed: UInt64

  private static let kinds: [(name: String, seconds: Int64)] = [
    ("6 hours", 6 * 3600), ("a day", 86_400),
  ]
  /// In continuous trading, and the gateway's first minutes are those of the opening run.
  private static let day = 34_800..<TrialDay.stop
  private static let opened = day.lowerBound + 120
  private static let instruments = 24
  private static let waitMillisecondsMax: Int32 = 20_000
  private static let fillSecondsMax: Int64 = 60
  private static let jumpMicroseconds: UInt32 = 4_000_000

  package init(binary: String, jumps: Int, seed: UInt64) {
    (self.binary, self.jumps, self.seed) = (binary, jumps, seed)
  }

  package func run(say: (String) -> Void = { _ in }) throws -> ChaosVerdict {
    let pair = try GatewayPair(
      "clock", binary: binary, gateways: 1, instruments: Self.instruments, seed: seed,
      day: Self.day, limits: ["gateway.broker_follows_daemon": "false"])
    defer { pair.end() }
    let url = pair.world.url
    try SQLProbe.run(Self.replacement, url: url)
    try set(pair, seconds: 0)
    try pair.open()
    try set(pair, seconds: 0)
    try pair.startDaemon(speed: 1)
    let account = try BrokerTrial.makeAccounts(1, url: url).first ?? 0
    let connection = try AppConnection(url: url, application: "candled gateway trial")
    var trader = ClockTrader(commands: CommandTable(connection), account: account)
    try trader.commands.listenForOutcomes()
    try trader.send(.deposit(ExactDecimal(10_000_000), type: .bank, description: ""))
    try buy(&trader, url: url)
    try awaitFills(more: 0, url: url)
    try rest(&trader, url: url)
    var verdict = ChaosVerdict()
    let before = try state(url)
    for _ in 0..<max(jumps, 1) {
      for kind in Self.kinds {
        let sent = try jump(pair, by: kind.seconds, &trader)
        if sent < kind.seconds - 60 { verdict.complaints.append("the clock did not jump") }
        let after = try state(url)
        say("the clock was \(kind.name) ahead: \(after)")
        if after != before {
          verdict.complaints.append("\(kind.name) ahead: \(before) became \(after)")
        }
      }
    }
    let fills = try count("fill", url)
    try buy(&trader, url: url)
    try awaitFills(more: fills, url: url)
    verdict.complaints += try LedgerReplay(connection).differences()
    verdict.figures.append(
      "the server's clock 6 h and a day ahead, \(jumps) × each: \(before.description), as before")
    return verdict
  }

  // MARK: The clock

  /// For gateways alone: the daemon's lease is by the server's clock, too. An SQL function is put
  /// in the place of its call, so the built-in one is not called any more.
  private static let replacement = """
    create table public.trial_clock (shift interval not null);
    insert into public.trial_clock values ('0');
    create function pg_catalog.trial_clock() returns timestamptz
    language plpgsql volatile security definer
    set timezone = 'UTC' as $$
    begin
      return timeofday()::timestamptz + case
        when current_setting('application_name') like 'candled gateway%'
          then (select shift from public.trial_clock)
        else '0'
      end;
    end $$;
    create or replace function pg_catalog.clock_timestamp() returns timestamptz
    language sql volatile parallel safe as 'select pg_catalog.trial_clock()'
    """

  /// - Parameter seconds: ahead of the exchange's.
  private func set(_ pair: GatewayPair, seconds: Int64) throws {
    let shown = pair.world.moment(Self.opened).microseconds + seconds * 1_000_000
    let shift = shown - SystemClock.realMicroseconds()
    try SQLProbe.run(
      "update public.trial_clock set shift = \(shift) * interval '1 microsecond'",
      url: pair.world.url)
  }

  private func move(by seconds: Int64, url: String) throws {
    try SQLProbe.run(
      "update public.trial_clock set shift = shift + \(seconds) * interval '1 second'", url: url)
  }

  /// - Returns: how many seconds later a command was stamped than the one before the jump.
  private func jump(
    _ pair: GatewayPair, by seconds: Int64, _ trader: inout ClockTrader
  ) throws -> Int64 {
    let url = pair.world.url
    try trader.send(.deposit(ExactDecimal(1), type: .bank, description: ""))
    let before = try sent(url)
    try move(by: seconds, url: url)
    try trader.send(.deposit(ExactDecimal(1), type: .bank, description: ""))
    let during = try sent(url)
    // Sweeps, ticks and looks go by it.
    usleep(Self.jumpMicroseconds)
    try trader.send(.deposit(ExactDecimal(1), type: .bank, description: ""))
    try move(by: -seconds, url: url)
    try trader.send(.deposit(ExactDecimal(1), type: .bank, description: ""))
    usleep(Self.jumpMicroseconds)
    return during - before
  }

  private func sent(_ url: String) throws -> Int64 {
    let rows = try SQLProbe.run(
      """
      select extract(epoch from sent_at)::bigint
      from candled_app.command
      order by id desc
      limit 1
      """, url: url)
    return rows.first?.first?.flatMap { Int64($0) } ?? 0
  }

  // MARK: Orders

  /// Prices with a book on both sides, of days with limits: an N or a C before the name says that
  /// there are none.
  private static let stocks = """
    select symbol, last::text
    from candled.latest
    where bid > 0
      and ask > 0
      and symbol ~ '^(sh60|sz00)'
      and name !~ '^[NC]'
    order by symbol
    limit 5
    """

  private func stocks(_ url: String) throws -> [(symbol: Symbol, last: ExactDecimal)] {
    try SQLProbe.run(Self.stocks, url: url).compactMap { row in
      guard let symbol = row[0].flatMap({ Symbol($0) }),
        let last = row[1].flatMap({ try? ExactDecimal($0) })
      else { return nil }
      return (symbol, last)
    }
  }

  private func buy(_ trader: inout ClockTrader, url: String) throws {
    for stock in try stocks(url) {
      try trader.send(
        .order(
          OrderRequest(
            symbol: stock.symbol, side: .buy, kind: .fiveBestThenCancel,
            quantity: ExactDecimal(100))))
    }
  }

  /// Orders 5 % below the market, of the day and for days, and a purchase.
  private func rest(_ trader: inout ClockTrader, url: String) throws {
    for (place, stock) in try stocks(url).enumerated() {
      let limit = try (stock.last * ExactDecimal(units: 95, scale: 2)).rounded(places: 2)
      try trader.send(
        .order(
          OrderRequest(
            symbol: stock.symbol, side: .buy, kind: .limit,
            timeInForce: place == 0 ? .goodTillCancelled : .day, quantity: ExactDecimal(100),
            limit: limit)))
      try trader.send(
        .arm(
          PurchaseRequest(
            symbol: stock.symbol, quantity: ExactDecimal(100),
            terms: PurchaseTerms(triggers: [.near(permille: 0)]))))
    }
  }

  private func awaitFills(more than: Int, url: String) throws {
    let deadline = MonotonicClock.seconds() + Self.fillSecondsMax
    while try count("fill", url) <= than {
      guard MonotonicClock.seconds() < deadline else {
        throw TrialFailure("rows of the day fill no order")
      }
      usleep(50_000)
    }
    // What is pending is confirmed by the next row.
    usleep(Self.jumpMicroseconds)
  }

  // MARK: What must stay

  /// Fills are no part of it: the market may reach an order meanwhile.
  private struct Day: Equatable, CustomStringConvertible {
    var ended: Int
    var armed: Int
    var settlements: Int
    var freed: String
    var day: String

    var description: String {
      "\(ended) orders ended without a fill, \(armed) purchases armed, "
        + "\(settlements) settlements, \(freed) shares of today freed, day \(day)"
    }
  }

  private func state(_ url: String) throws -> Day {
    let rows = try SQLProbe.run(
      """
      with bought as (select coalesce(sum(quantity), 0) as quantity from candled_app.fill),
        today as (
          select coalesce(sum(balance), 0) as quantity
          from candled_app.book
          where kind = 'today')
      select
        today.quantity > 0, trim_scale(bought.quantity - today.quantity),
        (select trading_day from candled_app.broker_cursor)
      from bought, today
      """, url: url)
    let found = Day(
      ended: try count(
        "paper_order where state not in ('accepted', 'partially_filled', 'filled')", url),
      armed: try count("queue_purchase where state = 'armed'", url),
      settlements: try count("posting where kind = 'settlement'", url),
      freed: rows.first?[1] ?? "", day: rows.first?[2] ?? "")
    let open = try count("paper_order where state in ('accepted', 'partially_filled')", url)
    guard open > 0, found.armed > 0, rows.first?[0] == "t" else {
      throw TrialFailure("nothing could be lost: \(open) orders open, \(found)")
    }
    return found
  }

  private func count(_ rows: String, _ url: String) throws -> Int {
    let found = try SQLProbe.run("select count(*) from candled_app.\(rows)", url: url)
    return found.first?.first?.flatMap { Int($0) } ?? 0
  }

  /// Sends one command after the other, and waits for each.
  private struct ClockTrader {
    let commands: CommandTable
    let account: Int64
    var number = 0

    mutating func send(_ request: CommandRequest) throws {
      number += 1
      let sent = try commands.send([
        KeyedRequest(accountID: account, key: "\(number)", request: request)
      ])
      guard case .command(let id, _)? = sent.first else { throw TrialFailure("a key is taken") }
      let outcome = try commands.wait(for: [id], milliseconds: waitMillisecondsMax)[id]
      guard let outcome, outcome.isDone else {
        throw TrialFailure("\(request) was answered \(outcome?.answer ?? "with nothing")")
      }
    }
  }
}
