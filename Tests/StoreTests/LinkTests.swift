import Commits
import Market
import Reader
import Store
import TestSupport
import Testing

/// What becomes of an instrument: a change of its code, a merger, a code that another one gets.
@Suite struct LinkTests {
  private static let old = StoreSamples.symbol(819)
  private static let new = StoreSamples.symbol(919)
  /// Recorded under one code all the time.
  private static let whole = StoreSamples.symbol(1)
  private static let change = StoreSamples.day.advanced(by: 1)
  private static let knownAt = Timestamp(
    day: StoreSamples.day.advanced(by: 3), secondOfDay: Session.afternoonClose)

  /// Three days of minutes and day candles, of which the new code has those from the change on.
  private static func recorded(seed: UInt64) async throws -> AskedStore {
    var samples = StoreSamples(seed: seed)
    var store = try await AskedStore()
    var candles: [Candle] = []
    for day in (0..<3).map({ StoreSamples.day.advanced(by: $0) }) {
      var rows = (0..<Session.minutesPerDay).map { minute in
        samples.minute(
          whole, day: day,
          opened: Timestamp(day: day, secondOfDay: Session.opening(ofMinute: minute)))
      }
      var daily = samples.candle(1, minute: 0)
      daily.timeframe = .day1
      daily.tradingDay = day
      daily.openedAt = Timestamp(day: day, secondOfDay: Session.morningOpen)
      daily.closedAt = Timestamp(day: day, secondOfDay: Session.afternoonClose)
      daily.source = .sina
      daily.flags = []
      rows.append(daily)
      for row in rows {
        var own = row
        own.symbol = day < change ? old : new
        candles += [row, own]
      }
    }
    try await store.commit(at: knownAt, candles: candles)
    return store
  }

  private static func link(
    _ database: StoreDatabase, from: Symbol = old, to: Symbol = new, on day: TradingDay = change,
    verdict: String = "proven", kind: String = "rename", isOrdered: Bool = false
  ) throws -> String? {
    try database.value(
      """
      select candled.link_instruments(
        '\(from)', '\(to)', '\(day)', '\(kind)', '\(verdict)', null, null, 'a test',
        clock_timestamp(), \(isOrdered))
      """)
  }

  private static func unlink(_ database: StoreDatabase) throws -> String? {
    try database.value(
      "select candled.unlink_instruments('\(old)', '\(new)', clock_timestamp())")
  }

  @Test func `a change of code is one series, by either code, in every timeframe`() async throws {
    let seed = UInt64.random(in: .min ... .max)
    let store = try await Self.recorded(seed: seed)
    #expect(try Self.link(store.database) == "t")
    for code in [Self.old, Self.new] {
      for timeframe in RollUpTests.intraday + [.minute1, .day1, .week1, .month1] {
        let ways: [(inout CandleQuery) -> Void] = [
          { _ in }, { $0.newest = 2 }, { $0.newest = 300 },
          { $0.from = Timestamp(day: Self.change, secondOfDay: 10 * 3_600) },
          { $0.asOf = Self.knownAt.adding(seconds: 1) },
        ]
        for set in ways {
          #expect(
            try store.ask(code, timeframe, set) == store.ask(Self.whole, timeframe, set),
            "\(code) \(timeframe), seed \(seed)")
        }
      }
      #expect(
        try store.ask(code, .minute5) { $0.fill = .flat }
          == store.ask(Self.whole, .minute5) { $0.fill = .flat }, "seed \(seed)")
    }
    #expect(
      try store.database.execute(
        """
        select high, low, high_days, highs, low_days, lows
        from candled.price_range r join candled.instrument i on i.id = r.instrument_id
        where i.symbol = '\(Self.new)'
        """)
        == store.database.execute(
          """
          select high, low, high_days, highs, low_days, lows
          from candled.price_range r join candled.instrument i on i.id = r.instrument_id
          where i.symbol = '\(Self.whole)'
          """))
  }

  @Test func `prices of 52 weeks go by the factors of the code that has any`() async throws {
    let database = try await Self.recorded(seed: 10).database
    try database.execute(
      """
      insert into candled.adjustment_factor (instrument_id, kind, from_day, factor, known_from)
      select i.id, 2, f.day, f.factor, now()
      from candled.instrument i
      cross join (values ('1900-01-01'::date, 1), ('\(Self.change)'::date, 2)) f (day, factor)
      where i.symbol in ('\(Self.old)', '\(Self.whole)')
      """)
    _ = try Self.link(database)
    try database.execute(
      """
      select candled.keep_ranges(array[i.id], array[null::timestamptz])
      from candled.instrument i
      where i.symbol = '\(Self.whole)'
      """)
    let ranges = try [Self.new, Self.whole].map { code in
      try database.execute(
        """
        select high, low, high_days, highs, low_days, lows, r.known_from,
          candled.price_ratio(i.id, '\(StoreSamples.day)')
        from candled.price_range r join candled.instrument i on i.id = r.instrument_id
        where i.symbol = '\(code)'
        """)
    }
    #expect(ranges[0] == ranges[1] && ranges[0].first?.last == "0.50000000000000000000")
  }

  @Test func `the old code answers for ever, and each code has its days`() async throws {
    let database = try await Self.recorded(seed: 1).database
    _ = try Self.link(database)
    #expect(
      try database.execute(
        """
        select instrument_id('\(Self.old)') = instrument_id('\(Self.new)'),
          security_id(instrument_id('\(Self.new)')) = instrument_id('\(Self.old)@2026-01-01'),
          living_id(instrument_id('\(Self.old)@2026-01-01')) = instrument_id('\(Self.new)')
        """) == [["t", "t", "t"]])
    #expect(
      try database.execute(
        """
        select symbol, from_day, to_day
        from instrument_codes
        where symbol in ('\(Self.old)', '\(Self.new)')
        order by from_day nulls first
        """) == [
          ["\(Self.old)", nil, "\(Self.change)"], ["\(Self.new)", "\(Self.change)", nil],
        ])
    #expect(
      try database.execute("select count(*) from market_candles('cn', '1w', adjust => 'raw')")
        == [["2"]])
  }

  @Test func `a link that is ended leaves two series, and only an order links again`() async throws
  {
    let store = try await Self.recorded(seed: 2)
    let before = try store.ask(Self.old, .minute1)
    _ = try Self.link(store.database)
    #expect(try Self.unlink(store.database) == "t")
    #expect(try Self.unlink(store.database) == "f")
    #expect(try store.ask(Self.old, .minute1) == before && before.count == 240)
    #expect(try store.ask(Self.new, .minute1).count == 480)
    #expect(try Self.link(store.database, verdict: "declared") == "f")
    #expect(try store.ask(Self.new, .minute1).count == 480)
    #expect(try Self.link(store.database, verdict: "declared", isOrdered: true) == "t")
    #expect(try store.ask(Self.new, .minute1).count == 720)
    #expect(
      try store.database.execute(
        "select verdict, known_to is null from links order by known_from") == [
          ["proven", "f"], ["declared", "t"],
        ])
  }

  @Test func `what is suspected and declared in one commit is declared`() async throws {
    let database = try await Self.recorded(seed: 11).database
    let said = try database.execute(
      """
      select candled.link_instruments(
        '\(Self.old)', '\(Self.new)', '\(Self.change)', 'rename', v.verdict, null, null, 'a test',
        '2026-07-01')
      from (values ('suspected'), ('declared')) v (verdict)
      """)
    #expect(said == [["t"], ["t"]])
    #expect(
      try database.execute("select verdict, known_to from links") == [["declared", nil]])
    #expect(
      try database.execute("select instrument_id('\(Self.old)') = instrument_id('\(Self.new)')")
        == [["t"]])
  }

  @Test(arguments: [("suspected", "rename"), ("declared", "merger"), ("declared", "conversion")])
  func `what is only suspected, and a merger, joins nothing`(
    verdict: String, kind: String
  ) async throws {
    let store = try await Self.recorded(seed: 3)
    #expect(try Self.link(store.database, verdict: verdict, kind: kind) == "t")
    #expect(try store.ask(Self.new, .minute1).count == 480)
    #expect(
      try store.database.execute("select from_symbol, to_symbol, kind, verdict from links")
        == [["\(Self.old)", "\(Self.new)", kind, verdict]])
  }

  @Test func `a code that was never recorded answers with the one that has its history`()
    async
    throws
  {
    let store = try await Self.recorded(seed: 4)
    try store.database.execute(
      """
      select candled.link_instruments(
        'sz000022', '\(Self.whole)', '2018-12-26', 'rename', 'declared', null, null, 'a test',
        clock_timestamp())
      """)
    #expect(
      try store.ask(try #require(Symbol("sz000022")), .minute1)
        == store.ask(Self.whole, .minute1))
  }

  @Test func `a code in the middle that has no rows hides none of the newest`() async throws {
    let store = try await Self.recorded(seed: 7)
    let middle = StoreSamples.symbol(869)
    _ = try Self.link(store.database, from: Self.old, to: middle, on: Self.change)
    _ = try Self.link(store.database, from: middle, to: Self.new, on: Self.change.advanced(by: 1))
    for code in [Self.old, middle, Self.new] {
      #expect(try store.ask(code, .minute1) == store.ask(Self.whole, .minute1))
    }
  }

  @Test func `a link the wrong way round is ended by an order, and never made beside another`()
    async throws
  {
    let store = try await Self.recorded(seed: 8)
    _ = try Self.link(store.database, from: Self.new, to: Self.old, isOrdered: true)
    #expect(try Self.link(store.database, verdict: "declared") == "f")
    #expect(try Self.link(store.database, verdict: "declared", isOrdered: true) == "t")
    #expect(
      try store.database.execute(
        "select from_symbol, to_symbol from links where known_to is null") == [
          ["\(Self.old)", "\(Self.new)"]
        ])
    #expect(try store.ask(Self.old, .minute1) == store.ask(Self.whole, .minute1))
  }

  @Test func `what is declared takes the place of what rows prove, and of nothing else`()
    async throws
  {
    let database = try await Self.recorded(seed: 9).database
    _ = try Self.link(database, to: Self.whole)
    #expect(try Self.link(database) == "f")
    #expect(try Self.link(database, verdict: "declared") == "t")
    #expect(try Self.link(database, to: Self.whole, verdict: "declared") == "f")
    #expect(
      try database.execute("select to_symbol, verdict from links where known_to is null")
        == [["\(Self.new)", "declared"]])
  }

  @Test func `a code that another instrument gets is another series`() async throws {
    let store = try await Self.recorded(seed: 5)
    let database = store.database
    let first = try database.value("select instrument_id('\(Self.old)')")
    try database.execute(
      """
      update candled.instrument set reused_on = '2026-09-01' where symbol = '\(Self.old)';
      insert into candled.instrument (id, symbol, source, first_seen)
      values (900, '\(Self.old)', 1, now())
      """)
    #expect(try database.value("select instrument_id('\(Self.old)')") == "900")
    #expect(try database.value("select instrument_id('\(Self.old)@2026-08-31')") == first)
    #expect(try database.value("select instrument_id('\(Self.old)@2026-09-01')") == "900")
    #expect(try store.ask(Self.old, .minute1).isEmpty)
    #expect(
      try database.value("select count(*) from candles('\(Self.old)@2026-08-31')") == "240")
    let error = try #require(try store.refusal("select instrument_id('sh600519@soon')"))
    #expect(error.sqlState == "22023")
  }

  // MARK: - Through the writer

  @Test func `links, names and codes of others are stored, and a restart knows them`()
    async throws
  {
    let database = try StoreDatabase()
    let writer = try await freshWriter(database)
    var samples = StoreSamples(seed: 6)
    var first = samples.sweep(position: 1, instruments: 2)
    first.quotes[0].name = "N样本"
    first.quotes[1].name = "样本"
    _ = try await writer.commit(first)
    let link = InstrumentLink(
      from: StoreSamples.symbol(0), to: Self.new, day: Self.change, verdict: .proven,
      source: "rows")
    let merger = InstrumentLink(
      from: StoreSamples.symbol(1), to: Self.new, day: Self.change, kind: .merger,
      verdict: .declared, ratio: try ExactDecimal("0.1339"), source: "a file")
    var second = Commit(
      position: JournalPosition(2), knownAt: Self.knownAt, bookState: [2])
    second.reference.links = [link, merger]
    second.events = [.codesChanged(day: Self.change, count: 1)]
    #expect(try await writer.commit(second).reference == 2)
    let stored = try await writer.load()
    #expect(stored.links == [link, merger].map { StoredLink(link: $0, stands: true) })
    #expect(
      try database.execute(
        """
        select event ->> 'event', event ->> 'instruments'
        from candled.change, jsonb_array_elements(events) event
        """) == [["codes_changed", "1"]])
    #expect(
      try database.execute(
        """
        select i.symbol, n.name, n.marks
        from candled.instrument_name n join candled.instrument i on i.id = n.instrument_id
        where n.name like '%样本'
        order by 1
        """) == [
          ["\(StoreSamples.symbol(0))", "N样本", "{first_day}"],
          ["\(StoreSamples.symbol(1))", "样本", "{}"],
        ])

    var third = samples.sweep(position: 3, instruments: 2)
    third.reference.reused = [StoreSamples.symbol(1)]
    _ = try await writer.commit(third)
    #expect(
      try database.value(
        "select count(*) from candled.instrument where symbol = '\(StoreSamples.symbol(1))'")
        == "2")
    #expect(
      try database.value(
        """
        select count(*) from candled.quote q join candled.instrument i on i.id = q.instrument_id
        where i.symbol = '\(StoreSamples.symbol(1))'
        """) == "2")
    let after = try await writer.load()
    let symbols = after.quotes.map(\.symbol)
    #expect(Set(symbols).count == symbols.count)
    // Of the one that has the code now nothing is known.
    #expect(after.links.map(\.stands) == [true, false])
  }
}
