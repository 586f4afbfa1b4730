import Commits
import Market
import Store
import TestSupport
import Testing

/// What is kept of highest and lowest prices, held against plain sums over all days after each of
/// many drawn commits.
@Suite struct RangeTests {
  private static let instruments = 6
  private static let firstDay = TradingDay(daysSince1970: 20_332)  // 2025-09-01

  /// Every day that counts: of candles, and of quotes whose day has none.
  private static let days = """
    select instrument_id, trading_day, high, low, true as is_candle
    from candle
    where timeframe = 240
    union all
    select q.instrument_id, q.trading_day, q.high, q.low, false
    from quote q
    where q.high > 0
      and not exists (
        select
        from candle c
        where c.instrument_id = q.instrument_id
          and c.timeframe = 240
          and c.trading_day = q.trading_day)
    """
  private static let newest = """
    (
      select max(d.trading_day)
      from (
        select trading_day from quote
        union all
        select trading_day from candle where timeframe = 240
      ) d
    )
    """

  private static let ranges = (
    found: """
    select instrument_id, trading_day, high_day, low_day, high_52w, low_52w, high_year, low_year,
      days
    from ranges
    """,
    expected: """
    select instrument_id, max(trading_day), max(high) filter (where trading_day = n.day),
      min(low) filter (where trading_day = n.day), max(high), min(low),
      max(high) filter (where extract(year from trading_day) = extract(year from n.day)),
      min(low) filter (where extract(year from trading_day) = extract(year from n.day)),
      count(distinct trading_day)::integer
    from (\(days)) d
    cross join (select \(newest) as day) n
    where trading_day > n.day - 364
    group by instrument_id
    """
  )
  private static let latest = (
    found: "select instrument_id, high_52w, low_52w, high_year, low_year from latest",
    expected: """
    select q.instrument_id, x.*
    from quote q
    cross join lateral (
      select greatest(
        q.trading_day,
        (
          select max(c.trading_day)
          from candle c
          where c.instrument_id = q.instrument_id and c.timeframe = 240
        )) as day
    ) n
    cross join lateral (
      select max(high), min(low),
        max(high) filter (where extract(year from trading_day) = extract(year from n.day)),
        min(low) filter (where extract(year from trading_day) = extract(year from n.day))
      from (\(days)) d
      where d.instrument_id = q.instrument_id
        and d.trading_day > n.day - 364
    ) x
    """
  )

  private static func movers(_ kind: String, on day: String) -> (found: String, expected: String) {
    let condition = kind == "new_highs" ? "d.high > max(b.high)" : "d.low < min(b.low)"
    return (
      found: "select instrument_id from movers('\(kind)', day => \(day), max_rows => 1000)",
      expected: """
      select d.instrument_id
      from (\(days)) d
      join candle b
        on b.instrument_id = d.instrument_id
        and b.timeframe = 240
        and b.trading_day < d.trading_day
        and b.trading_day > d.trading_day - 364
      where d.trading_day = coalesce(\(day), \(newest))
      group by d.instrument_id, d.high, d.low
      having \(condition)
      """
    )
  }

  @Test(arguments: 0..<2)
  func `ranges are those of all days, whatever is written`(_: Int) async throws {
    let seed = UInt64.random(in: 0...999_999)
    var market = try await DrawnMarket(seed: seed)
    for step in 0..<50 {
      let what = try await market.step()
      let past = "'\(market.day.advanced(by: -.random(in: 0...300, using: &market.random)))'::date"
      for question in [
        Self.ranges, Self.latest, Self.movers("new_highs", on: "null::date"),
        Self.movers("new_lows", on: "null::date"), Self.movers("new_highs", on: past),
      ] {
        let wrong = try market.database.execute(
          """
          set search_path = candled;
          with found as (\(question.found)),
          expected as (\(question.expected))
          (select 'unexpected', f from (table found except all table expected) f limit 3)
          union all
          (select 'missing', e from (table expected except all table found) e limit 3)
          """)
        #expect(wrong == [], "seed \(seed), step \(step), \(what): \(question.found)")
      }
    }
  }

  /// What is written to days, by every writer there is.
  private struct DrawnMarket {
    let database: StoreDatabase
    var random: SplitMix
    private(set) var day = RangeTests.firstDay
    private let writer: StoreWriter
    private let history: HistoryWriter
    private var position: Int64 = 0

    init(seed: UInt64) async throws {
      database = try StoreDatabase()
      random = SplitMix(seed: seed)
      writer = try await freshWriter(database)
      history = HistoryWriter(url: database.url)
      try await history.connect()
    }

    mutating func step() async throws -> String {
      let instrument = Int.random(in: 0..<RangeTests.instruments, using: &random)
      switch Int.random(in: 0..<8, using: &random) {
      case 0, 1, 2:
        day = day.advanced(by: [1, 1, 2, 3, 30, 60].randomElement(using: &random) ?? 1)
        _ = try await writer.commit(evening())
        return "an evening"
      case 3:
        var commit = nextCommit()
        commit.revisions = (0..<3).map { _ in
          Revision(candle: candle(instrument, on: pastDay()), cause: .sourceCorrected)
        }
        _ = try await writer.commit(commit)
        return "revisions"
      case 4:
        _ = try await history.commit(past(of: instrument))
        return "history"
      case 5:
        let commits = (evening: evening(), past: past(of: instrument))
        async let evening = writer.commit(commits.evening)
        async let past = history.commit(commits.past)
        _ = try await (evening, past)
        return "history beside an evening"
      case 6:
        try takeOut()
        return "days taken out by hand"
      default:
        try quote()
        return "quotes"
      }
    }

    private mutating func nextCommit() -> Commit {
      position += 1
      return Commit(
        position: JournalPosition(position), knownAt: Timestamp(day: day, secondOfDay: 60_000))
    }

    /// The day's candles of those that are not halted.
    private mutating func evening() -> Commit {
      var commit = nextCommit()
      for number in 0..<RangeTests.instruments where Int.random(in: 0..<5, using: &random) > 0 {
        commit.candles.append(candle(number, on: day))
      }
      return commit
    }

    /// Some days of one instrument, stored or not; one may be alone.
    private mutating func past(of instrument: Int) -> HistoryCommit {
      let days = Set((0..<Int.random(in: 1...30, using: &random)).map { _ in pastDay() })
      let candles = days.sorted().map { candle(instrument, on: $0) }
      return HistoryCommit(
        knownAt: Timestamp(day: day, secondOfDay: 60_000),
        bars: [
          BarBatch(
            symbol: StoreSamples.symbol(instrument), source: .sina, timeframe: .day1,
            candles: candles, receivedAt: Timestamp(day: day, secondOfDay: 60_000))
        ])
    }

    private mutating func pastDay() -> TradingDay {
      day.advanced(by: -.random(in: 0...450, using: &random))
    }

    /// Of few prices, so that some are equal.
    private mutating func candle(_ number: Int, on day: TradingDay) -> Candle {
      let low = Int64.random(in: 900...960, using: &random)
      let high = low + .random(in: 0...40, using: &random)
      let opened = Timestamp(day: day, secondOfDay: Session.morningOpen)
      return Candle(
        symbol: StoreSamples.symbol(number), timeframe: .day1, tradingDay: day, openedAt: opened,
        closedAt: opened.adding(seconds: 19_800), open: ExactDecimal(units: low, scale: 2),
        high: ExactDecimal(units: high, scale: 2), low: ExactDecimal(units: low, scale: 2),
        close: ExactDecimal(units: high, scale: 2), volume: ExactDecimal(100),
        turnover: ExactDecimal(950), flags: [], source: .sina)
    }

    private mutating func takeOut() throws {
      let share = Int.random(in: 2...9, using: &random)
      try database.execute(
        """
        set search_path = candled;
        delete from candle where (instrument_id + trading_day - date '2025-01-01') % \(share) = 0;
        select keep_ranges()
        """)
    }

    /// Of today, of tomorrow, of some day before; before the first trade there is no price.
    private mutating func quote() throws {
      let days = day.advanced(by: [-20, 0, 0, 1, 3].randomElement(using: &random) ?? 0)
      let low = Int.random(in: 880...1000, using: &random)
      let isTraded = Int.random(in: 0..<4, using: &random) > 0
      try database.execute(
        """
        set search_path = candled;
        insert into quote
          (changed_seq, quoted_at, received_at, instrument_id, trading_day, status, trading, open,
            previous_close, last, high, low, bid, ask, volume, turnover, bids, asks, book_state)
        select
          1, now(), now(), id, '\(days)', 0, 0, 9, 9, 9, \(isTraded ? low + 30 : 0) / 100.0,
          \(isTraded ? low : 0) / 100.0, 0, 0, 1, 9, '', '', ''
        from instrument
        where id % 3 = \(low % 3)
        on conflict (instrument_id) do update
        set trading_day = excluded.trading_day, high = excluded.high, low = excluded.low
        """)
    }
  }

  @Test func `what is kept is what all days give, read anew`() async throws {
    let seed = UInt64.random(in: 0...999_999)
    var market = try await DrawnMarket(seed: seed)
    for _ in 0..<20 { _ = try await market.step() }
    let kept = "select * from candled.price_range order by instrument_id"
    let found = try market.database.execute(kept)
    #expect(!found.isEmpty, "seed \(seed)")
    try market.database.execute("select candled.keep_ranges()")
    #expect(try market.database.execute(kept) == found, "seed \(seed)")
  }
}
