import Commits
import Market
import Store
import TestSupport
import Testing

/// Ready-made bars that are taken as delivered, and what sources say beside prices.
@Suite struct BarTests {
  private func bar(
    _ source: Source, minute: Int64, volume: Int64 = 100, timeframe: Timeframe = .minute1
  ) throws -> Candle {
    let openedAt = StoreSamples.start.adding(seconds: minute * 60)
    let price = ExactDecimal(units: 19_123, scale: 2)
    return Candle(
      symbol: try #require(Symbol("AAPL")), timeframe: timeframe, tradingDay: StoreSamples.day,
      openedAt: openedAt, closedAt: openedAt.adding(seconds: 60), open: price, high: price,
      low: price, close: price, volume: ExactDecimal(volume), turnover: nil, trades: 7,
      vwap: price, flags: [], source: source)
  }

  private func commit(_ position: Int64) -> Commit {
    Commit(
      position: JournalPosition(position),
      knownAt: StoreSamples.start.adding(seconds: position * 60))
  }

  private func batch(_ candles: [Candle], receivedAt: Timestamp) throws -> BarBatch {
    let first = try #require(candles.first)
    return BarBatch(
      symbol: first.symbol, source: first.source, timeframe: first.timeframe, candles: candles,
      receivedAt: receivedAt)
  }

  @Test func `two sources of one symbol are two series`() async throws {
    let database = try StoreDatabase()
    let writer = try await freshWriter(database)
    var commit = commit(1)
    for source in [Source.alpacaIEX, .alpacaSIP] {
      commit.bars.append(
        try batch([bar(source, minute: 0, volume: 5)], receivedAt: commit.knownAt))
    }
    #expect(try await writer.commit(commit).candles == 2)
    #expect(
      try database.execute(
        """
        select i.symbol, i.source, c.source, c.volume
        from candled.candle c join candled.instrument i on i.id = c.instrument_id order by i.id
        """) == [["AAPL", "3", "3", "5"], ["AAPL", "4", "4", "5"]])
  }

  @Test func `a day bar changes no certified day, and what it contradicts is reported`()
    async throws
  {
    let database = try StoreDatabase()
    let writer = try await freshWriter(database)
    var day = try bar(.sina, minute: 0, timeframe: .day1)
    day.symbol = StoreSamples.symbol(1)
    (day.turnover, day.trades, day.vwap) = (ExactDecimal(1_912), nil, nil)
    var first = commit(1)
    first.candles = [day]
    let none = ExactDecimal.zero
    first.certificates = [
      DayCertificate(
        symbol: day.symbol, tradingDay: day.tradingDay, exchangeVolume: day.volume,
        exchangeTurnover: day.turnover, minuteVolume: day.volume,
        minuteTurnover: ExactDecimal(1_912), gapVolume: none, gapTurnover: none,
        afterHoursVolume: none, afterHoursTurnover: none, minutesTraded: 1, minutesUntraded: 239,
        minutesMissing: 0)
    ]
    _ = try await writer.commit(first)
    day.turnover = nil
    var second = commit(2)
    second.bars = [try batch([day], receivedAt: second.knownAt)]
    #expect(try await writer.commit(second).seq == nil)
    day.volume = ExactDecimal(101)
    second.bars = [try batch([day], receivedAt: second.knownAt)]
    second.position = JournalPosition(3)
    let receipt = try await writer.commit(second)
    #expect(receipt.repairs.disagreements == 1 && receipt.revisions == 0)
    #expect(
      try database.execute(
        "select field, ours, theirs from candled.disagreement where timeframe = 240")
        == [["volume", "100", "101"]])
    #expect(
      try database.execute("select volume, turnover from candled.candle where timeframe = 240")
        == [["100", "1912"]])
  }

  @Test func `bars read again with other values are revisions of their source`() async throws {
    let database = try StoreDatabase()
    let writer = try await freshWriter(database)
    var first = commit(1)
    first.bars = [
      try batch(
        [bar(.alpacaIEX, minute: 0), bar(.alpacaIEX, minute: 1)], receivedAt: first.knownAt)
    ]
    #expect(try await writer.commit(first).candles == 2)
    var again = commit(2)
    again.bars = [
      try batch(
        [
          bar(.alpacaIEX, minute: 0), bar(.alpacaIEX, minute: 1, volume: 90),
          bar(.alpacaIEX, minute: 2),
        ], receivedAt: again.knownAt)
    ]
    let receipt = try await writer.commit(again)
    #expect(receipt.candles == 1 && receipt.revisions == 1)
    #expect(
      try database.execute("select cause, volume from candled.revisions")
        == [["source_corrected", "100"]])
    again.position = JournalPosition(3)
    #expect(try await writer.commit(again).seq == nil)
  }

  @Test func `factors that changed or vanished end, and those that stayed are untouched`()
    async throws
  {
    let database = try StoreDatabase()
    let writer = try await freshWriter(database)
    func factors(_ rows: [(Int, Int64)], _ position: Int64) async throws -> Int {
      var commit = commit(position)
      commit.reference.factors = [
        FactorBatch(
          source: .sina,
          factors: rows.map { day, factor in
            AdjustmentFactor(
              symbol: StoreSamples.symbol(0), kind: .qfq,
              from: StoreSamples.day.advanced(by: day),
              factor: ExactDecimal(units: factor, scale: 1))
          })
      ]
      return try await writer.commit(commit).reference
    }
    // Beside them hfq, made of them; and since the last of them there was no split.
    #expect(try await factors([(0, 10), (-100, 12), (-200, 15)], 1) == 7)
    #expect(try await factors([(0, 10), (-100, 12), (-200, 15)], 2) == 0)
    #expect(try await factors([(50, 10), (0, 11), (-200, 15)], 3) == 10)
    #expect(
      try database.execute(
        """
        select from_day - date '2026-07-06', factor, known_to is null
        from candled.adjustment_factor where kind = 1 order by 1, known_from
        """) == [
          ["-200", "1.5", "t"], ["-100", "1.2", "f"], ["0", "1.0", "f"], ["0", "1.1", "t"],
          ["50", "1.0", "t"],
        ])
  }

  @Test func `a restart finds the universe, the keys, the lists and the plans as they were`()
    async throws
  {
    let database = try StoreDatabase()
    let writer = try await freshWriter(database)
    var commit = commit(1)
    let symbol = StoreSamples.symbol(4)
    let instrument = InstrumentRow(
      symbol: symbol, source: .live, exchange: .shanghai, kind: .stock)
    let marks = InstrumentMarks(
      symbol: symbol, source: .live, delistedAt: StoreSamples.day, missedLists: 3,
      listedPart: "hslt")
    var usage = KeyUsage(
      source: .mairui, label: "main", day: StoreSamples.day, requests: 50,
      parkedUntil: StoreSamples.start, parkedReason: .quota)
    let list = ListVerdict(
      source: .mairui, part: "hslt", decidedAt: StoreSamples.start, rows: 5_400,
      contentHash: .max - 5, verdict: .accepted, detail: "as before")
    let watermark = BarWatermark(
      source: .alpacaIEX, chunk: "a", timeframe: .minute1, through: StoreSamples.start)
    let session = MarketSession(
      exchange: .unitedStates, day: StoreSamples.day, opens: StoreSamples.start,
      closes: StoreSamples.start.adding(seconds: 3600))
    commit.instruments = [instrument]
    commit.reference.instrumentMarks = [marks]
    commit.reference.keyUsage = [usage]
    var quarantined = list
    quarantined.verdict = .quarantined
    commit.reference.lists = [list, quarantined]
    commit.reference.watermarks = [watermark]
    commit.reference.sessions = [session]
    let receipt = try await writer.commit(commit)
    #expect(receipt.reference == 6 && receipt.seq == 1)
    let state = try await freshWriter(database).load()
    #expect(
      state.instruments == [
        StoredInstrument(row: instrument, marks: marks, firstSeen: commit.knownAt)
      ])
    usage.recordedAt = commit.knownAt
    #expect(state.keyUsage == [usage])
    #expect(state.lists == [list])
    #expect(state.watermarks == [watermark])
    #expect(state.sessions == [session])
    commit.position = JournalPosition(2)
    commit.reference.lists = []
    #expect(try await writer.commit(commit).seq == nil)
  }

  @Test func `another reading of a day takes the place of the one before, and both stay`()
    async throws
  {
    let database = try StoreDatabase()
    let writer = try await freshWriter(database)
    var reading = MarketSession(
      exchange: .shanghai, day: StoreSamples.day, opens: StoreSamples.start,
      closes: StoreSamples.start.adding(seconds: 3600))
    for (position, grade) in [(1, CalendarReading.Grade.declared), (2, .observed), (3, .observed)] {
      var commit = self.commit(Int64(position))
      reading.closes = grade == .observed ? reading.opens : reading.closes
      reading.grade = grade
      commit.reference.sessions = [reading]
      #expect(try await writer.commit(commit).reference == (position == 3 ? 0 : 1))
    }
    #expect(try await freshWriter(database).load().sessions == [reading])
    #expect(!reading.trades && reading.reading.grade == .observed)
    #expect(
      try database.execute(
        """
        select grade, opens < closes, known_to - known_from
        from candled.market_session
        order by known_from
        """) == [["1", "t", "00:01:00"], ["2", "f", nil]])
  }

  @Test func `a day that contradicts its calendar is one disagreement of the index`() async throws {
    let database = try StoreDatabase()
    let writer = try await freshWriter(database)
    let index = StoreSamples.symbol(1)
    for position in [1, 2] as [Int64] {
      var commit = self.commit(position)
      commit.instruments = [InstrumentRow(symbol: index, source: .live)]
      commit.reference.contradictions = [
        DayContradiction(day: StoreSamples.day, trades: false, symbol: index, source: .live)
      ]
      let receipt = try await writer.commit(commit)
      #expect(receipt.repairs.disagreements == (position == 1 ? 1 : 0))
    }
    #expect(
      try database.execute(
        """
        select symbol, timeframe, trading_day, field, ours, theirs, state
        from candled.disagreements
        """) == [["\(index)", "1d", "\(StoreSamples.day)", "trades", "0", "1", "open"]])
  }
}
