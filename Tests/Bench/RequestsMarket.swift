/// What `requests` asks a gateway about: half an hour of a market of 5,400 instruments as the
/// daemon stored it, five days of minutes and three years of days before it, two users, and an
/// account with fifty holdings.

import AppStore
import Glibc
import Ingest
import Logging
import Market
import Postgres
import TestSupport

struct RequestsMarket {
  private static let seconds = 1_800
  private static let symbolsCount = 500
  static let holdings = 50
  private static let postingsOfHolding = 4

  /// The last one has no certificates, the one before it has.
  static let days = ["2026-06-29", "2026-06-30", "2026-07-01", "2026-07-02", "2026-07-03"]

  let day: SimulatedDay
  /// Stocks that are traded.
  let symbols: [String]
  let allSymbols: [String]
  /// Of the user whom the others disturb.
  let token: String
  /// Of the one who asks for all there is.
  let greedyTokens: [String]

  init(_ day: SimulatedDay) async throws {
    self.day = day
    try AppSchema.file.apply(url: day.database.url)
    let settings = try day.settings(
      from: Session.morningOpen - 3, to: Session.morningOpen + Self.seconds)
    let daemon = try Daemon(
      settings: settings, log: Logger(label: "bench") { _ in SwiftLogNoOpLogHandler() })
    _ = try await daemon.run()
    let began = milliseconds()
    for statement in Self.filling { try Self.run(statement, in: day) }
    let took = decimals((milliseconds() - began) / 1_000, 0)
    let candles = try Self.run("select count(*) from candle", in: day).first.flatMap { $0 }
    printLine("  \(candles ?? "no") candles; the days before made in \(took) s")
    allSymbols = try Self.run("select symbol from feed_instruments order by id", in: day)
      .compactMap(\.self)
    symbols = try Self.run(
      """
      select symbol from latest
      where symbol ~ '^(sh60|sz00)' and trading = 'normal'
      order by symbol
      limit \(Self.symbolsCount)
      """, in: day
    ).compactMap(\.self)
    let connection = try AppConnection(url: day.database.url, application: "bench")
    token = try Self.token(of: "victim", over: connection).secret
    let greedy = try (0..<3).map { _ in try Self.token(of: "greedy", over: connection) }
    greedyTokens = greedy.map(\.secret)
    try hold(over: connection)
  }

  /// - Returns: the first column.
  @discardableResult
  private static func run(_ sql: String, in day: SimulatedDay) throws -> [String?] {
    try SQLProbe.run(
      "set statement_timeout = 0; set search_path = candled, candled_app; \(sql)",
      url: day.database.url
    ).map { $0[0] }
  }

  private static func token(
    of user: String, over connection: AppConnection
  ) throws -> (secret: String, userID: Int64) {
    var generator = SystemRandomNumberGenerator()
    let secret = TokenSecret(using: &generator)
    let token = try TokenTable(connection).create(
      secret, user: user, name: "bench", scopes: [.market, .account])
    return (secret.reveal(), token.userID)
  }

  private func hold(over connection: AppConnection) throws {
    let userID = try Self.token(of: "victim", over: connection).userID
    let account = try AccountTable(connection, userID: userID)
      .create(named: "bench", market: .mainland).id
    let held = symbols.prefix(Self.holdings).map { "'\($0)'" }.joined(separator: ",")
    try Self.run(
      """
      insert into posting (account_id, sequence, kind, at, trading_day)
      select \(account), n, 'settlement', '2026-07-03 15:00+08', '2026-07-03'
      from generate_series(1, 1 + \(Self.holdings * Self.postingsOfHolding)) n;
      insert into entry (
        account_id, posting_sequence, line, unit, kind, amount, balance_after)
      values
        (\(account), 1, 1, 'cash', 'world', -1000000, -1000000),
        (\(account), 1, 2, 'cash', 'available', 1000000, 1000000);
      insert into entry (
        account_id, posting_sequence, line, unit, kind, amount, balance_after)
      select
        \(account), 1 + (n - 1) * \(Self.holdings) + h.place, side.line, h.symbol, side.kind,
        side.amount, side.amount * n
      from generate_series(1, \(Self.postingsOfHolding)) n
      cross join unnest(array[\(held)]) with ordinality h (symbol, place)
      cross join (values (1, 'market', -100), (2, 'sellable', 100)) side (line, kind, amount);
      analyze posting, entry, book
      """, in: day)
  }

  // MARK: The past

  private static let prices = """
    cross join lateral (select ((i.id % 90) * 10 + 10)::numeric(10, 3)) x (p)
    """
  private static let columns = """
    p + 0.01, p + 0.05, p, p + 0.03, 1000, 1000 * p, null, null
    """

  private static let filling =
    [
      """
      select count(ensure_partition(month::date))
      from generate_series('2023-06-01'::timestamp, '2026-07-01', interval '1 month') month;
      insert into candle
      select o, o + interval '5.5 hours', o + interval '6 hours', i.id, d.day, 240, 0, 1, 0,
        \(columns)
      from (
        select day::date
        from generate_series('2023-06-01'::timestamp, '2026-07-03', interval '1 day') day
        where extract(isodow from day) = 5
          or day >= '2026-06-01' and extract(isodow from day) < 6
      ) d
      cross join lateral (select (d.day + time '09:30') at time zone 'Asia/Shanghai') t (o)
      cross join instrument i
      \(prices)
      order by i.id, o
      """
    ] + days.map(minutes) + [
      """
      insert into day_audit (
        instrument_id, trading_day, exchange_volume, exchange_turnover, minute_volume,
        minute_turnover, gap_volume, gap_turnover, after_hours_volume, after_hours_turnover,
        minutes_traded, minutes_untraded, minutes_missing, known_from)
      select id, '\(days[days.count - 2])', 240000, 1, 240000, 1, 0, 0, 0, 0, 240, 0, 0, now()
      from instrument;
      analyze
      """
    ]

  /// As the daemon writes them, minute by minute.
  private static func minutes(of day: String) -> String {
    """
    insert into candle
    select o, o + interval '1 minute', o + interval '65 seconds', i.id, '\(day)', 1, 0, 1, 0,
      \(columns)
    from (
      select m
      from market
      cross join lateral trading_sessions(market, '\(day)') d
      cross join lateral generate_series(
        d.opens, d.closes - interval '1 minute', interval '1 minute') m
      where market.code = 1
    ) t (o)
    cross join instrument i
    \(prices)
    order by o, i.id
    """
  }
}
