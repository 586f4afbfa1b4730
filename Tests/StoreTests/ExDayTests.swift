import Commits
import Market
import Reader
import Store
import TestSupport
import Testing

/// Days on which a share trades without a dividend: its close before is no price to compare with.
@Suite struct ExDayTests {
  private let database: StoreDatabase

  /// Two days of 10 new shares for 10, 20.00 and 10.10, and two that paid nothing.
  init() throws {
    database = try StoreDatabase()
    try database.execute(
      """
      insert into candled.instrument (id, symbol, source, first_seen) values
        (1, 'sh600001', 1, now()), (2, 'sh600002', 1, now()), (3, 'sh600003', 1, now());
      select candled.ensure_partition('2026-07-06');
      insert into candled.candle
        (opened_at, closed_at, known_from, instrument_id, trading_day, timeframe, flags, source,
        open, high, low, close, volume, turnover)
      select (d.day + time '09:30') at time zone 'Asia/Shanghai',
        (d.day + time '15:00') at time zone 'Asia/Shanghai', now(), d.id, d.day, 240, 0, 1,
        d.close, d.close, d.close, d.close, 100, 100 * d.close
      from (values
        (1, date '2026-07-06', 20.00), (1, '2026-07-07', 10.10), (1, '2026-07-08', 10.20),
        (2, '2026-07-06', 20.00), (2, '2026-07-07', 10.10), (2, '2026-07-08', 10.20),
        (3, '2026-07-06', 20.00), (3, '2026-07-07', 20.20), (3, '2026-07-08', 20.00)
      ) d (id, day, close)
      """)
    try database.execute("select candled.keep_ranges()")
  }

  private func movers(_ kind: String) throws -> [[String?]] {
    try database.execute(
      """
      select symbol, previous_close, percent_change
      from candled.movers('\(kind)', day => '2026-07-07') order by symbol
      """)
  }

  private func certify(previousClose: String) throws {
    try database.execute(
      """
      insert into candled.day_audit
        (instrument_id, trading_day, minute_volume, minute_turnover, gap_volume, gap_turnover,
        after_hours_volume, after_hours_turnover, minutes_traded, minutes_untraded,
        minutes_missing, known_from, previous_close)
      values (1, '2026-07-07', 0, 0, 0, 0, 0, 0, 0, 0, 0, now(), \(previousClose))
      """)
  }

  private func know(factor: String, of id: Int) throws {
    try database.execute(
      """
      insert into candled.adjustment_factor values
        (\(id), 2, '1900-01-01', 1, now(), null), (\(id), 2, '2026-07-07', \(factor), now(), null)
      """)
  }

  @Test func `movers of a past day go by the previous close that the exchange had`() throws {
    try certify(previousClose: "10.00")
    try know(factor: "2", of: 2)
    #expect(
      try movers("gainers") == [
        ["sh600001", "10.00", "1.00"], ["sh600002", "10.00", "1.00"],
        ["sh600003", "20.00", "1.00"],
      ])
    #expect(try movers("losers").isEmpty)
  }

  @Test func `without either the close before is all there is`() throws {
    #expect(try movers("losers").first == ["sh600001", "20.00", "-49.50"])
  }

  @Test func `a range over an ex-day is adjusted and marked with it`() throws {
    func ranges() throws -> [[String?]] {
      try database.execute("select candled.keep_ranges()")
      return try database.execute(
        "select symbol, high_52w, low_52w, ex_day from candled.ranges order by symbol")
    }
    let asTraded = ["20.00", "10.10", nil]
    let others = [["sh600002"] + asTraded, ["sh600003", "20.20", "20.00", nil]]
    #expect(try ranges() == [["sh600001"] + asTraded] + others)
    try know(factor: "2", of: 1)
    #expect(try ranges() == [["sh600001", "10.20", "10.00", "2026-07-07"]] + others)
    // What the days before are worth is not known, nor then what the highest is.
    try database.execute(
      "update candled.adjustment_factor set factor = null where from_day = '1900-01-01'")
    #expect(try ranges() == [["sh600001", nil, nil, "2026-07-07"]] + others)
    try database.execute(
      """
      insert into candled.quote
        (changed_seq, quoted_at, received_at, instrument_id, trading_day, status, trading, open,
          previous_close, last, high, low, bid, ask, volume, turnover, bids, asks, book_state)
      values
        (1, now(), now(), 1, '2026-07-09', 0, 0, 9, 9, 9, 21, 9, 0, 0, 1, 9, '', '', '')
      """)
    #expect(
      try database.execute(
        """
        select high_52w, low_52w, high_year from candled.ranges where symbol = 'sh600001'
        union all
        select high_52w, low_52w, low_year from candled.latest
        """) == [[nil, nil, nil], [nil, nil, nil]])
    #expect(try database.execute("select symbol from candled.movers('new_highs')").isEmpty)
    try database.execute("delete from candled.quote")
    try database.execute("update candled.adjustment_factor set known_to = now()")
    #expect(try ranges() == [["sh600001"] + asTraded] + others)
  }

  @Test func `a range that an ex-day after the newest day has moved is no new high`() throws {
    try database.execute(
      """
      insert into candled.adjustment_factor values
        (1, 2, '1900-01-01', 1, now(), null), (1, 2, '2026-07-09', 2, now(), null)
      """)
    try database.execute("select candled.keep_ranges()")
    #expect(try database.execute("select symbol from candled.movers('new_highs')").isEmpty)
    // 20.00 and 10.10 became 10.00 and 5.05.
    try database.execute("update candled.candle set low = 10.00 where close = 10.20")
    #expect(
      try database.execute("select symbol from candled.movers('new_lows')")
        == [["sh600001"], ["sh600002"]])
  }

  @Test func `what the exchange said of a day is kept, whatever is certified later`() async throws {
    let database = try StoreDatabase()
    let writer = try await freshWriter(database)
    let reference = DayReference(
      previousClose: ExactDecimal(units: 1000, scale: 2),
      limits: .band(
        PriceBand(
          lower: ExactDecimal(units: 900, scale: 2), upper: ExactDecimal(units: 1100, scale: 2))),
      source: .live)
    var certificate = DayCertificate(
      symbol: StoreSamples.symbol(1), tradingDay: StoreSamples.day, exchangeVolume: nil,
      exchangeTurnover: nil, minuteVolume: .zero, minuteTurnover: .zero, gapVolume: .zero,
      gapTurnover: .zero, afterHoursVolume: .zero, afterHoursTurnover: .zero, minutesTraded: 0,
      minutesUntraded: 0, minutesMissing: 240, reference: reference)
    for (position, missing) in [(1, 240), (2, 239)] as [(Int64, Int16)] {
      var commit = Commit(position: JournalPosition(position), knownAt: StoreSamples.start)
      certificate.minutesMissing = missing
      commit.certificates = [certificate]
      #expect(try await writer.commit(commit).certificates == 1)
      let stored = try StoreReader(url: database.url).certificates(day: StoreSamples.day)
      #expect(stored.map(\.certificate.reference) == [reference])
      #expect(stored.map(\.certificate.minutesMissing) == [missing])
      certificate.reference = nil
    }
    #expect(
      try database.execute("select previous_close, limit_up, limit_down from candled.coverage")
        == [["10.00", "11.00", "9.00"]])
  }
}
