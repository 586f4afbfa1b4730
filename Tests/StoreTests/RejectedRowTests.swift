import Commits
import Market
import Store
import TestSupport
import Testing

/// Commits with rows the database refuses: those end in `rejected`, everything else is stored.
@Suite struct RejectedRowTests {
  private func strictDatabase() async throws -> (StoreDatabase, StoreWriter) {
    let database = try StoreDatabase()
    try database.execute(PoisonedCommit.constraints)
    return (database, try await freshWriter(database))
  }

  private static let tables = [
    "quote": "quote", "candle": "candle where timeframe = 1 and source = 1",
    "bar": "candle where source = 3", "gap": "gap", "audit": "day_audit",
    "rejection": "rejected where reason = 'malformed'",
    "watermark": "bar_watermark", "list": "instrument_list", "session": "market_session",
  ]

  @Test(arguments: 1...6)
  func `all but the poisoned rows are stored, and those are rejected`(_ seed: Int) async throws {
    let (database, writer) = try await strictDatabase()
    var poisoned: [String: Int] = [:]
    var good: [String: Int] = [:]
    for position in 1...3 {
      let sample = PoisonedCommit(
        seed: UInt64(seed * 10 + position), position: Int64(position), rows: 24,
        among: seed * 4)
      let receipt = try await writer.commit(sample.commit)
      #expect(receipt.seq == Int64(position))
      #expect(receipt.refusals.rows == sample.poisoned.values.reduce(0, +), "seed \(seed)")
      poisoned.merge(sample.poisoned, uniquingKeysWith: +)
      good.merge(sample.good, uniquingKeysWith: +)
    }
    let refused = try database.execute(
      """
      select split_part(detail, ':', 1), count(*)
      from candled.rejected
      where reason = 'refused_by_store'
      group by 1
      order by 1
      """)
    #expect(
      refused == poisoned.sorted { $0.key < $1.key }.map { [$0.key, "\($0.value)"] },
      "seed \(seed)")
    for (kind, table) in Self.tables {
      var expected = good[kind, default: 0]
      if kind == "candle" { expected += good["revision", default: 0] }
      // Quotes of one instrument are one row, and the next commit brings it again.
      if kind == "quote" { continue }
      #expect(
        try database.value("select count(*) from candled.\(table)") == "\(expected)",
        "\(kind), seed \(seed)")
    }
    #expect(try database.value("select position from candled.journal_position") == "3")
    #expect(
      try database.execute("select min(seq), max(seq), count(*) from candled.change")
        == [["1", "3", "3"]])
  }

  @Test func `one bad row among many costs two groups a halving`() async throws {
    let (database, writer) = try await strictDatabase()
    var samples = StoreSamples(seed: 41)
    var commit = samples.minute(0, position: 1, instruments: 1_024)
    commit.candles[777].high = ExactDecimal(units: 1, scale: 3)
    let receipt = try await writer.commit(commit)
    #expect(receipt.refusals.rows == 1 && receipt.candles == 1_023 && receipt.quotes == 1_024)
    // The whole, and one half of each of ten halvings.
    #expect(receipt.refusals.groups == 11)
    #expect(
      try database.execute("select symbol, reason, trading_day from candled.rejections")
        == [["sh600777", "refused_by_store", "2026-07-06"]])
    let row = try #require(
      try database.execute("select detail, convert_from(payload, 'UTF8') from candled.rejected")
        .first)
    #expect(row[0]?.contains("high_is_highest") == true)
    #expect(row[0]?.hasSuffix("[23514]") == true)
    #expect(row[1]?.hasPrefix("candle symbol=sh600777 timeframe=") == true)
    #expect(row[1]?.contains("high=0.001") == true)
  }

  @Test func `a gap closes also where the database refuses its instrument`() async throws {
    let (database, writer) = try await strictDatabase()
    try database.execute(
      "alter table candled.instrument add constraint unwanted check (symbol <> 'sh600001')")
    let gaps = (0..<2).map { number in
      Gap(
        symbol: StoreSamples.symbol(number), tradingDay: StoreSamples.day,
        from: StoreSamples.start, to: StoreSamples.start.adding(seconds: 60), volume: .zero,
        turnover: .zero, cause: .outage)
    }
    var commit = Commit(position: JournalPosition(1), knownAt: StoreSamples.start)
    commit.gaps = gaps
    #expect(try await writer.commit(commit).seq == 1)
    #expect(try database.value("select count(*) from candled.gap where known_to is null") == "1")
    commit = Commit(position: JournalPosition(2), knownAt: StoreSamples.start.adding(seconds: 9))
    commit.closedGaps = gaps
    #expect(try await writer.commit(commit).seq == 2)
    #expect(try database.value("select count(*) from candled.gap where known_to is null") == "0")
    #expect(try database.value("select position from candled.journal_position") == "2")
  }

  @Test func `a certificate over a refused minute shows what is missing`() async throws {
    let (database, writer) = try await strictDatabase()
    var samples = StoreSamples(seed: 42)
    var first = samples.minute(0, position: 1, instruments: 2)
    for place in first.candles.indices { first.candles[place].volume = ExactDecimal(100) }
    let turnovers = first.candles.map { $0.turnover ?? .zero }
    first.candles[1].high = ExactDecimal(units: 1, scale: 3)
    #expect(try await writer.commit(first).refusals.rows == 1)
    // The book knows nothing of that: its account of the day balances.
    var close = Commit(
      position: JournalPosition(2), knownAt: StoreSamples.start.adding(seconds: 20_000))
    close.certificates = (0..<2).map { number in
      DayCertificate(
        symbol: StoreSamples.symbol(number), tradingDay: StoreSamples.day,
        exchangeVolume: ExactDecimal(100), exchangeTurnover: turnovers[number],
        minuteVolume: ExactDecimal(100), minuteTurnover: turnovers[number], gapVolume: .zero,
        gapTurnover: .zero, afterHoursVolume: .zero, afterHoursTurnover: .zero,
        minutesTraded: 1, minutesUntraded: 0, minutesMissing: 239)
    }
    close.events = [.dayComplete(day: StoreSamples.day, instruments: 2, residuals: 0)]
    _ = try await writer.commit(close)
    #expect(
      try database.execute(
        "select symbol, residual_volume, balanced from candled.coverage order by 1")
        == [["sh600000", "0", "t"], ["sh600001", "100", "f"]])
    #expect(try database.value("select residuals from candled.trading_day") == "1")
    #expect(
      try database.value("select events -> 0 ->> 'residuals' from candled.change where seq = 2")
        == "1")
  }

  @Test func `a refused revision turns a certificate that balanced`() async throws {
    let (database, writer) = try await strictDatabase()
    var samples = StoreSamples(seed: 43)
    var first = samples.minute(0, position: 1, instruments: 1)
    first.candles[0].volume = ExactDecimal(100)
    let turnover = first.candles[0].turnover ?? .zero
    var certificate = DayCertificate(
      symbol: StoreSamples.symbol(0), tradingDay: StoreSamples.day,
      exchangeVolume: ExactDecimal(100), exchangeTurnover: turnover,
      minuteVolume: ExactDecimal(100), minuteTurnover: turnover, gapVolume: .zero,
      gapTurnover: .zero, afterHoursVolume: .zero, afterHoursTurnover: .zero,
      minutesTraded: 1, minutesUntraded: 0, minutesMissing: 239)
    first.certificates = [certificate]
    _ = try await writer.commit(first)
    #expect(try database.value("select balanced from candled.day_audit") == "t")
    var late = Commit(
      position: JournalPosition(2), knownAt: StoreSamples.start.adding(seconds: 20_000))
    var revised = first.candles[0]
    revised.volume = ExactDecimal(130)
    revised.high = ExactDecimal(units: 1, scale: 3)
    late.revisions = [Revision(candle: revised, cause: .latePrint)]
    certificate.exchangeVolume = ExactDecimal(130)
    certificate.minuteVolume = ExactDecimal(130)
    late.certificates = [certificate]
    #expect(try await writer.commit(late).refusals.rows == 1)
    #expect(
      try database.execute("select residual_volume, balanced from candled.day_audit")
        == [["30", "f"]])
  }

  @Test func `an instrument that cannot be registered takes only its own rows along`() async throws
  {
    let (database, writer) = try await strictDatabase()
    try database.execute(
      "alter table candled.instrument add constraint strange check (symbol <> 'sh600001')")
    var samples = StoreSamples(seed: 44)
    let receipt = try await writer.commit(samples.minute(0, position: 1, instruments: 3))
    #expect(receipt.instruments == 2 && receipt.quotes == 2 && receipt.candles == 2)
    #expect(
      try database.execute(
        """
        select split_part(detail, ':', 1)
        from candled.rejected
        where symbol = 'sh600001'
        order by 1
        """) == [["candle"], ["instrument"], ["quote"]])
    // It is not tried again for the same quote, and the others go on.
    #expect(try await writer.commit(samples.minute(1, position: 2, instruments: 3)).candles == 2)
  }

  @Test func `a backfill with a bad bar stores the others`() async throws {
    let (database, _) = try await strictDatabase()
    let history = HistoryWriter(url: database.url)
    try await history.connect()
    var samples = StoreSamples(seed: 45)
    var bars = (0..<200).map { samples.candle(0, minute: $0) }
    bars[99].volume = ExactDecimal(-1)
    let receipt = try await history.commit(
      HistoryCommit(
        knownAt: StoreSamples.start,
        bars: [
          BarBatch(
            symbol: StoreSamples.symbol(0), source: .sina, timeframe: .minute1, candles: bars,
            receivedAt: StoreSamples.start)
        ],
        chunk: HistoryCommit.Chunk(name: "days", through: StoreSamples.start.shanghaiDay)))
    #expect(receipt.candles == 199 && receipt.refusals.rows == 1 && receipt.seq == 1)
    #expect(try await history.doneChunks(["days"]).count == 1)
  }
}
