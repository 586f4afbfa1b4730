import Commits
import Market
import Reader
import Store
import TestSupport
import Testing

/// Factors on their way into the database: judged by the closes and previous closes that it has.
@Suite struct FactorTableTests {
  private let database: StoreDatabase
  private let writer: StoreWriter
  private static let symbol = StoreSamples.symbol(1)
  private static let exDay = StoreSamples.day

  /// A share that closed at 12.01 on the trading day before, and whose previous close is 8.39.
  init() async throws {
    database = try StoreDatabase()
    writer = try await freshWriter(database)
    try database.execute(
      """
      insert into candled.market_session values
        (1, '2026-07-03', '2026-07-03 09:30+08', '2026-07-03 15:00+08'),
        (1, '2026-07-06', '2026-07-06 09:30+08', '2026-07-06 15:00+08')
      """)
    var commit = Commit(position: JournalPosition(1), knownAt: StoreSamples.start)
    commit.candles = [try Self.closing("12.01", on: "2026-07-03")]
    commit.certificates = [try Self.certificate(of: Self.exDay, previousClose: "8.39")]
    _ = try await writer.commit(commit)
  }

  private static func closing(
    _ close: String, on day: String, of symbol: Symbol = symbol
  ) throws -> Candle {
    let (close, day) = (try ExactDecimal(close), try #require(TradingDay(day)))
    return Candle(
      symbol: symbol, timeframe: .day1, tradingDay: day,
      openedAt: Timestamp(day: day, secondOfDay: Session.morningOpen),
      closedAt: Timestamp(day: day, secondOfDay: Session.afternoonClose), open: close,
      high: close, low: close, close: close, volume: ExactDecimal(1_000),
      turnover: ExactDecimal(12_010), flags: [], source: .live)
  }

  private static func certificate(
    of day: TradingDay, previousClose: String, traded: ExactDecimal? = nil,
    _ symbol: Symbol = symbol
  ) throws -> DayCertificate {
    DayCertificate(
      symbol: symbol, tradingDay: day, exchangeVolume: traded, exchangeTurnover: traded,
      minuteVolume: .zero, minuteTurnover: .zero, gapVolume: .zero, gapTurnover: .zero,
      afterHoursVolume: .zero, afterHoursTurnover: .zero, minutesTraded: 0, minutesUntraded: 0,
      minutesMissing: 240,
      reference: DayReference(
        previousClose: try ExactDecimal(previousClose), limits: .unstated, source: .live))
  }

  private func file(
    _ step: String?, of symbol: Symbol = FactorTableTests.symbol
  ) throws -> FactorBatch {
    let rows = [("1900-01-01", "1")] + [step].compactMap(\.self).map { ("2026-07-06", $0) }
    return FactorBatch(
      source: .sina,
      factors: try rows.map { day, factor in
        AdjustmentFactor(
          symbol: symbol, kind: .hfq, from: try #require(TradingDay(day)),
          factor: try ExactDecimal(factor))
      })
  }

  private var exDays: FactorBatch {
    FactorBatch(
      source: .sina, factors: [],
      exDays: [FactorBatch.ExDay(symbol: Self.symbol, day: Self.exDay)])
  }

  private func commit(_ batch: FactorBatch, _ position: Int64) async throws -> CommitReceipt {
    var commit = Commit(
      position: JournalPosition(position), knownAt: StoreSamples.start.adding(seconds: position))
    commit.reference.factors = [batch]
    return try await writer.commit(commit)
  }

  private func served() throws -> [[String?]] {
    try database.execute(
      """
      select kind, from_day, round(factor, 6), basis, verdict, filed
      from candled.factors where known_to is null order by kind, from_day
      """)
  }

  @Test func `a step that the previous close proves is served as it is filed`() async throws {
    let receipt = try await commit(file("1.430978723404"), 2)
    #expect(receipt.reference == 3 && receipt.contradictedFactors.isEmpty)
    #expect(
      try served() == [
        ["hfq", "1900-01-01", "1.000000", "file", nil, "1"],
        ["hfq", "2026-07-06", "1.430979", "file", "proven", "1.430978723404"],
        ["split", "2026-07-06", "1.000000", "file", "proven", nil],
      ])
    #expect(try await commit(file("1.430978723404"), 3).reference == 0)
    #expect(try await commit(exDays, 4).reference == 0)
  }

  @Test func `the trading day before an ex-day is no closed or withdrawn one`() async throws {
    try database.execute(
      """
      insert into candled.market_session values
        (1, '2026-07-04', '2026-07-04 09:30+08', '2026-07-04 09:30+08', 2, default, default),
        (1, '2026-07-05', '2026-07-05 09:30+08', '2026-07-05 15:00+08', 1, default, 'infinity')
      """)
    _ = try await commit(file("1.430978723404"), 2)
    #expect(try served()[1][4] == "proven")
  }

  @Test func `a step that the exchange contradicts is kept, not served, and alarmed of once`()
    async throws
  {
    #expect(
      try await commit(file("14.30978723404"), 2).contradictedFactors == ["sh600001 2026-07-06"])
    #expect(
      try served()[1]
        == ["hfq", "2026-07-06", "1.431466", "derived", "contradicted", "14.30978723404"])
    #expect(try await commit(file("14.30978723404"), 3).contradictedFactors.isEmpty)
    // A person looks at it for a month.
    let found = try await writer.contradictedFactors(on: Self.exDay.advanced(by: 29))
    #expect(found.instruments == 1 && found.lastDay == Self.exDay)
    let later = try await writer.contradictedFactors(on: Self.exDay.advanced(by: 30))
    #expect(later.instruments == 0 && later.lastDay == nil)
    // The file is put right, and what was believed stays.
    #expect(try await commit(file("1.430978723404"), 4).contradictedFactors.isEmpty)
    #expect(try served()[1][4] == "proven")
    #expect(try await writer.contradictedFactors(on: Self.exDay).instruments == 0)
    #expect(
      try database.value(
        "select count(*) from candled.factors where verdict = 'contradicted'") == "2")
  }

  @Test func `a file that is late is waited for with the exchange's own step`() async throws {
    #expect(try await commit(exDays, 2).reference == 1)
    // Of what was before nobody knows anything.
    #expect(try served() == [["hfq", "2026-07-06", nil, "derived", "within_a_tick", nil]])
    let refusal = #expect(throws: StoreError.self) {
      try database.execute("select * from candled.candles('sh600001', '1d', adjust => 'hfq')")
    }
    #expect(refusal?.message.contains("no factors of sh600001 are known") == true)
    _ = try await commit(file(nil), 3)
    #expect(
      try served()[1] == ["hfq", "2026-07-06", "1.431466", "derived", "within_a_tick", nil])
    _ = try await commit(file("1.430978723404"), 4)
    #expect(try served()[1][4] == "proven")
  }

  @Test func `an ex-day of a suspended share is tested by the price it stood at`() async throws {
    let symbol = StoreSamples.symbol(2)
    let friday = Self.exDay.advanced(by: -3)
    func judged(_ position: Int64) async throws -> [[String?]] {
      let exDay = FactorBatch.ExDay(symbol: symbol, day: Self.exDay)
      _ = try await commit(FactorBatch(source: .sina, factors: [], exDays: [exDay]), position)
      return try served()
    }
    var rows = Commit(position: JournalPosition(2), knownAt: StoreSamples.start)
    rows.candles = [try Self.closing("5.00", on: "2026-06-29", of: symbol)]
    rows.certificates = [
      try Self.certificate(of: Self.exDay, previousClose: "4.50", traded: .zero, symbol)
    ]
    _ = try await writer.commit(rows)
    // Of Friday nothing is known: it may have traded.
    #expect(try await judged(3).isEmpty)
    rows.position = JournalPosition(4)
    rows.candles = []
    rows.certificates = [
      try Self.certificate(of: friday, previousClose: "5.00", traded: .zero, symbol)
    ]
    _ = try await writer.commit(rows)
    #expect(
      try await judged(5) == [["hfq", "2026-07-06", nil, "derived", "within_a_tick", nil]])
  }

  @Test func `a step that was filed before its day is tested once it is over`() async throws {
    let symbol = StoreSamples.symbol(2)
    var rows = Commit(position: JournalPosition(2), knownAt: StoreSamples.start)
    rows.candles = [try Self.closing("12.01", on: "2026-07-03", of: symbol)]
    _ = try await writer.commit(rows)
    _ = try await commit(file("14.30978723404", of: symbol), 3)
    #expect(try served()[1][4] == "untestable")
    rows = Commit(position: JournalPosition(4), knownAt: StoreSamples.start.adding(seconds: 4))
    rows.certificates = [
      try Self.certificate(of: Self.exDay, previousClose: "12.01", symbol)
    ]
    rows.events = [.dayComplete(day: Self.exDay, instruments: 1, residuals: 0)]
    #expect(try await writer.commit(rows).contradictedFactors == ["sh600002 2026-07-06"])
    #expect(try served()[1][4] == "contradicted")
  }

  @Test func `what a fund paid is not compared with a price of long ago`() async throws {
    let fund = try #require(Symbol("sh510050"))
    let rows = try [("1900-01-01", "0"), ("2026-07-06", "0.05")].map { day, cash in
      AdjustmentFactor(
        symbol: fund, kind: .hfq, from: try #require(TradingDay(day)), factor: ExactDecimal(1),
        fund: .init(cash: try ExactDecimal(cash), split: ExactDecimal(1)))
    }
    var served: [[String?]] = []
    for (place, day) in ["2026-05-29", "2026-06-30"].enumerated() {
      let position = Int64(2 * place + 2)
      var prices = Commit(position: JournalPosition(position), knownAt: StoreSamples.start)
      prices.instruments = [InstrumentRow(symbol: fund, source: .live, kind: .fund)]
      prices.candles = [try Self.closing("2.500", on: day, of: fund)]
      _ = try await writer.commit(prices)
      _ = try await commit(FactorBatch(source: .sina, factors: rows), position + 1)
      served.append(try self.served().prefix(2).map { $0[2] })
    }
    #expect(served == [[nil, "1.000000"], ["1.000000", "1.020408"]])
  }

  @Test func `a candle says what its adjustment rests on`() async throws {
    _ = try await commit(file("14.30978723404"), 2)
    _ = try await commit(exDays, 3)
    #expect(
      try database.value(
        """
        select detail from candled.why('sh600001', '2026-07-03 10:00+08', '1d')
        where what = 'factor' limit 1
        """) == "hfq 1 since 1900-01-01: file, the file has 1")
  }
}
