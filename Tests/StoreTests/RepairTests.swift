import CandledClient
import Commits
import Market
import TestSupport
import TestTraits
import Testing

@testable import Postgres
@testable import Store

/// Repairs in the tables: what `Reconciliation` decides is stored, and stays balanced whatever the
/// book says afterwards.
@Suite(.ownThread) struct RepairTests {
  private let day = StoreSamples.day
  private let symbol = StoreSamples.symbol(0)

  private func candle(_ minute: Int, volume: Int64, flags: CandleFlags = []) throws -> Candle {
    let openedAt = Timestamp(day: day, secondOfDay: Session.opening(ofMinute: minute))
    let price = ExactDecimal(units: 1000, scale: 2)
    return Candle(
      symbol: symbol, timeframe: .minute1, tradingDay: day, openedAt: openedAt,
      closedAt: openedAt.adding(seconds: 60), open: price, high: price, low: price, close: price,
      volume: ExactDecimal(volume), turnover: try price * ExactDecimal(volume),
      flags: volume == 0 ? .noTrade : flags, source: .sina)
  }

  private func volume(_ minute: Int) -> Int64 { (237...238).contains(minute) ? 0 : 100 }

  private func bars() throws -> BarBatch {
    BarBatch(
      symbol: symbol, source: .sina, timeframe: .minute1,
      candles: try (0..<240).filter { volume($0) > 0 }.map { try candle($0, volume: volume($0)) },
      receivedAt: StoreSamples.start.adding(seconds: 7 * 3600), role: .repair(day))
  }

  private func dayCertificate(exchange: Int64, minutes: Int64, gaps: Int64, missing: Int16)
    -> DayCertificate
  {
    DayCertificate(
      symbol: symbol, tradingDay: day, exchangeVolume: ExactDecimal(exchange),
      exchangeTurnover: ExactDecimal(exchange * 10), minuteVolume: ExactDecimal(minutes),
      minuteTurnover: ExactDecimal(minutes * 10), gapVolume: ExactDecimal(gaps),
      gapTurnover: ExactDecimal(gaps * 10), afterHoursVolume: .zero, afterHoursTurnover: .zero,
      minutesTraded: 238, minutesUntraded: 0, minutesMissing: missing)
  }

  private func gap(_ volume: Int64, from: Int, to: Int) -> Gap {
    Gap(
      symbol: symbol, tradingDay: day,
      from: StoreSamples.start.adding(seconds: Int64(from * 60)),
      to: StoreSamples.start.adding(seconds: Int64(to * 60)), volume: ExactDecimal(volume),
      turnover: ExactDecimal(volume * 10), cause: .outage)
  }

  /// Minute 9 seen in part, 10 and 11 not at all.
  private func watchedDay() throws -> Commit {
    var commit = Commit(position: JournalPosition(1), knownAt: StoreSamples.start)
    commit.candles = try (0..<240).filter { !(9...11).contains($0) }.map {
      try candle($0, volume: volume($0))
    }
    commit.candles.append(try candle(9, volume: 40, flags: .partial))
    commit.gaps = [gap(260, from: 9, to: 12)]
    commit.certificates = [dayCertificate(exchange: 23_800, minutes: 23_540, gaps: 260, missing: 2)]
    return commit
  }

  private func repair(_ batch: BarBatch, position: Int64) -> Commit {
    var commit = Commit(position: JournalPosition(position), knownAt: batch.receivedAt)
    commit.bars = [batch]
    return commit
  }

  private func certificate(_ database: StoreDatabase) throws -> [[String?]] {
    try database.execute(
      """
      select exchange_volume, minute_volume, gap_volume, balanced, minutes_missing,
        minute_volume = (select sum(volume) from candled.candle where timeframe = 1)
          and gap_volume
            = (select coalesce(sum(volume), 0) from candled.gap where known_to is null)
      from candled.day_audit
      """)
  }

  @Test func `a repair revises, completes, closes and certifies in one change`() async throws {
    let database = try StoreDatabase()
    let writer = try await freshWriter(database)
    _ = try await writer.commit(try watchedDay())
    let receipt = try await writer.commit(repair(try bars(), position: 2))
    #expect(receipt.seq == 2)
    #expect(
      [receipt.candles, receipt.revisions, receipt.repairs.closedGaps, receipt.certificates] == [
        3, 1, 1, 1,
      ])
    #expect(try certificate(database) == [["23800", "23800", "0", "t", "0", "t"]])
    #expect(
      try database.execute("select cause, volume from candled.revisions") == [["kline", "40"]])
    #expect(
      try database.execute("select state, closed_by, known_to is not null from candled.gaps")
        == [["closed", "kline", "t"]])
    #expect(try database.value("select repaired_at is not null from candled.day_audit") == "t")
  }

  @Test func `followers receive the gap that closed`() async throws {
    let database = try StoreDatabase()
    let writer = try await freshWriter(database)
    let client = try await CandledClient.connect(database.url)
    let snapshot = try await client.snapshot()
    _ = try await writer.commit(try watchedDay())
    _ = try await writer.commit(repair(try bars(), position: 2))
    var changes: [FeedChange] = []
    for try await case .change(let change) in client.follow(after: snapshot, pollSeconds: 1) {
      changes.append(change)
      if changes.count == 2 { break }
    }
    #expect(changes.map(\.gaps.count) == [1, 0])
    #expect(changes.map { $0.closedGaps.map(\.volume) } == [[], [ExactDecimal(260)]])
    #expect(changes[1].certificates.map(\.isBalanced) == [true])
  }

  @Test func `the same repair again writes nothing`() async throws {
    let database = try StoreDatabase()
    let writer = try await freshWriter(database)
    _ = try await writer.commit(try watchedDay())
    _ = try await writer.commit(repair(try bars(), position: 2))
    #expect(try await writer.commit(repair(try bars(), position: 3)).seq == nil)
  }

  @Test(arguments: [
    "insert into day_lock (day) values ('\(StoreSamples.day)')",
    "select from day_lock for update",
  ])
  func `who repairs a day waits for who does`(_ lock: String) async throws {
    let database = try StoreDatabase()
    if lock.hasPrefix("select") {
      try database.execute(
        "insert into candled.day_lock (day) values ('\(StoreSamples.day)')")
    }
    try database.setLockTimeout(seconds: 1)
    let writer = try await freshWriter(database)
    let other = try PostgresConnection(url: database.url, application: "other")
    try other.execute("begin; \(lock)", context: "test")
    let repair = repair(try bars(), position: 1)
    let error = await #expect(throws: StoreError.self) { try await writer.commit(repair) }
    #expect(error?.sqlState == "55P03")
    try other.execute("commit", context: "test")
    #expect(try await writer.commit(repair).certificates == 1)
  }

  @Test func `what the exchange adds to a repaired day becomes a gap that the next repair closes`()
    async throws
  {
    let database = try StoreDatabase()
    let writer = try await freshWriter(database)
    _ = try await writer.commit(try watchedDay())
    _ = try await writer.commit(repair(try bars(), position: 2))
    // The book knows nothing of the repair: its own minutes, its own gaps.
    var late = Commit(
      position: JournalPosition(3), knownAt: StoreSamples.start.adding(seconds: 8 * 3600))
    late.revisions = [Revision(candle: try candle(239, volume: 130), cause: .latePrint)]
    late.gaps = [gap(5, from: 9, to: 10)]
    late.certificates = [dayCertificate(exchange: 23_835, minutes: 23_570, gaps: 265, missing: 2)]
    let receipt = try await writer.commit(late)
    #expect(receipt.revisions == 0 && receipt.gaps == 1 && receipt.certificates == 1)
    #expect(try certificate(database) == [["23835", "23800", "35", "t", "0", "t"]])
    var more = try bars()
    more.candles[237] = try candle(239, volume: 135)
    let repaired = try await writer.commit(repair(more, position: 4))
    #expect(repaired.repairs.closedGaps == 1 && repaired.revisions == 1)
    #expect(try certificate(database) == [["23835", "23835", "0", "t", "0", "t"]])
  }

  /// As after an outage of the database, whose afternoon is still in the journal when somebody
  /// repairs the day. The row that the database refuses has the commit's rows sifted.
  @Test(arguments: [false, true])
  func `minutes delivered after the repair of their day change nothing`(
    _ isIsolated: Bool
  ) async throws {
    let database = try StoreDatabase()
    let writer = try await freshWriter(database)
    var morning = Commit(position: JournalPosition(1), knownAt: StoreSamples.start)
    morning.candles = try (0..<120).map { try candle($0, volume: volume($0)) }
    _ = try await writer.commit(morning)
    _ = try await writer.commit(repair(try bars(), position: 2))
    let before = try certificate(database)
    #expect(before == [["23800", "23800", "0", "t", "0", "t"]])
    // Cut a little differently at its edges.
    var afternoon = Commit(position: JournalPosition(3), knownAt: StoreSamples.start)
    afternoon.candles = try (120..<240).map {
      try candle($0, volume: volume($0) + ($0 % 2 == 0 ? 1 : 0))
    }
    if isIsolated {
      var wrong = try candle(120, volume: 100)
      wrong.symbol = StoreSamples.symbol(1)
      wrong.low = ExactDecimal(-1)
      afternoon.candles.append(wrong)
    }
    let receipt = try await writer.commit(afternoon)
    #expect(
      [receipt.candles, receipt.revisions, receipt.refusals.rows] == [0, 0, isIsolated ? 1 : 0])
    #expect(try certificate(database) == before)
  }

  @Test func `a gap that is not in the bars on two occasions is permanent, tries apart`()
    async throws
  {
    let database = try StoreDatabase()
    let writer = try await freshWriter(database)
    _ = try await writer.commit(try watchedDay())
    var wrong = try bars()
    wrong.candles[10] = try candle(10, volume: 99)
    func checkGap(_ hours: Int64, _ position: Int64) async throws -> [[String?]] {
      wrong.receivedAt = StoreSamples.start.adding(seconds: hours * 3600)
      _ = try await writer.commit(repair(wrong, position: position))
      return try database.execute("select sightings, state, permanent_reason from candled.gaps")
    }
    #expect(try await checkGap(7, 2) == [["1", "open", nil]])
    #expect(try await checkGap(9, 3) == [["1", "open", nil]])
    #expect(
      try await checkGap(24, 4) == [["2", "permanent", "the bars do not add up to it"]])
    #expect(try certificate(database) == [["23800", "23540", "260", "t", "2", "t"]])
  }

  /// An order for another day reads all eight days again, and so does `gaps --fill`.
  @Test func `checks closer together than configured count once, whoever made them`()
    async throws
  {
    let database = try StoreDatabase()
    let day: Int64 = 24 * 3600
    let writer = StoreWriter(url: database.url, confirmSeconds: day)
    try await writer.connect()
    _ = try await writer.load()
    _ = try await writer.commit(try watchedDay())
    let past = HistoryWriter(url: database.url, confirmSeconds: day)
    try await past.connect()
    var wrong = try bars()
    wrong.candles[10] = try candle(10, volume: 99)
    func state() throws -> [[String?]] {
      try database.execute("select sightings, state from candled.gaps")
    }
    wrong.receivedAt = StoreSamples.start.adding(seconds: 7 * 3600)
    _ = try await writer.commit(repair(wrong, position: 2))
    wrong.receivedAt = StoreSamples.start.adding(seconds: 20 * 3600)
    _ = try await writer.commit(repair(wrong, position: 3))
    #expect(try state() == [["1", "open"]])
    wrong.receivedAt = StoreSamples.start.adding(seconds: 30 * 3600)
    _ = try await past.commit(HistoryCommit(knownAt: wrong.receivedAt, bars: [wrong]))
    #expect(try state() == [["1", "open"]])
    wrong.receivedAt = StoreSamples.start.adding(seconds: 31 * 3600)
    _ = try await past.commit(HistoryCommit(knownAt: wrong.receivedAt, bars: [wrong]))
    #expect(try state() == [["2", "permanent"]])
  }

  @Test func `a disagreement stands once and is resolved by bars that add up`() async throws {
    let database = try StoreDatabase()
    let writer = try await freshWriter(database)
    _ = try await writer.commit(try watchedDay())
    var wrong = try bars()
    wrong.candles[10] = try candle(10, volume: 99)
    #expect(try await writer.commit(repair(wrong, position: 2)).repairs.disagreements == 4)
    #expect(try await writer.commit(repair(wrong, position: 3)).repairs.disagreements == 0)
    #expect(
      try database.execute(
        """
        select timeframe, field, ours, theirs from candled.disagreement
        where field = 'volume' order by 1
        """) == [["1", "volume", "300", "299"], ["240", "volume", "23800", "23799"]])
    #expect(try await writer.commit(repair(try bars(), position: 4)).repairs.disagreements == 4)
    #expect(
      try database.value(
        "select count(*) from candled.disagreement where resolved_at is null") == "0")
  }

  @Test func `bars of a day do not resolve that a calendar contradicts it`() async throws {
    let database = try StoreDatabase()
    let writer = try await freshWriter(database)
    _ = try await writer.commit(try watchedDay())
    var contradicted = Commit(position: JournalPosition(2), knownAt: StoreSamples.start)
    contradicted.reference.contradictions = [
      DayContradiction(day: day, trades: true, symbol: symbol, source: .sina)
    ]
    #expect(try await writer.commit(contradicted).repairs.disagreements == 1)
    #expect(try await writer.commit(repair(try bars(), position: 3)).repairs.disagreements == 0)
    #expect(
      try database.value("select field from candled.disagreement where resolved_at is null")
        == "trades")
  }

  @Test func `bars that lack part of the day resolve no disagreement`() async throws {
    let database = try StoreDatabase()
    let writer = try await freshWriter(database)
    _ = try await writer.commit(try watchedDay())
    var wrong = try bars()
    wrong.candles[10] = try candle(10, volume: 99)
    _ = try await writer.commit(repair(wrong, position: 2))
    let open = "select count(*) from candled.disagreement where resolved_at is null"
    #expect(try database.value(open) == "4")
    // What Sina still tells of the ninth day back.
    var part = try bars()
    part.candles = Array(part.candles.suffix(66))
    #expect(try await writer.commit(repair(part, position: 3)).repairs.disagreements == 0)
    part.candles = []
    #expect(try await writer.commit(repair(part, position: 4)).repairs.disagreements == 0)
    #expect(try database.value(open) == "4")
  }

  @Test func `minutes delivered by a backfill repair the days that have a certificate`()
    async throws
  {
    let database = try StoreDatabase()
    let writer = try await freshWriter(database)
    _ = try await writer.commit(try watchedDay())
    let past = HistoryWriter(url: database.url)
    try await past.connect()
    var delivered = try bars()
    delivered.role = .deliver
    var earlier = try candle(0, volume: 100)
    earlier.tradingDay = day.advanced(by: -3)
    earlier.openedAt = earlier.openedAt.adding(seconds: -3 * 86_400)
    earlier.closedAt = earlier.closedAt.adding(seconds: -3 * 86_400)
    delivered.candles.append(earlier)
    let receipt = try await past.commit(
      HistoryCommit(knownAt: delivered.receivedAt, bars: [delivered]))
    #expect([receipt.candles, receipt.revisions, receipt.repairs.closedGaps] == [4, 1, 1])
    #expect(
      try database.execute(
        "select minute_volume, gap_volume, balanced from candled.day_audit")
        == [["23800", "0", "t"]])
    var late = Commit(
      position: JournalPosition(2), knownAt: StoreSamples.start.adding(seconds: 8 * 3600))
    late.certificates = [dayCertificate(exchange: 23_800, minutes: 23_540, gaps: 260, missing: 2)]
    #expect(try await writer.commit(late).seq == nil)
  }

  @Test func `days are candidates for repair by their most urgent reason`() async throws {
    let database = try StoreDatabase()
    let writer = try await freshWriter(database)
    var commit = try watchedDay()
    for number in 1...3 {
      var certificate = dayCertificate(exchange: 100, minutes: 100, gaps: 0, missing: 0)
      certificate.symbol = StoreSamples.symbol(number)
      if number == 1 { certificate.exchangeVolume = nil }
      commit.certificates.append(certificate)
      var minute = try candle(0, volume: 100, flags: number == 2 ? .extremeAmbiguous : [])
      minute.symbol = certificate.symbol
      commit.candles.append(minute)
    }
    _ = try await writer.commit(commit)
    let before = try await writer.repairCandidates(from: day)
    #expect(before.map(\.symbol) == (0...3).map(StoreSamples.symbol))
    #expect(before.map(\.want) == [.gap, .unbalanced, .flagged, .confirmation])
    _ = try await writer.commit(repair(try bars(), position: 2))
    let after = try await writer.repairCandidates(from: day)
    #expect(after.map(\.symbol) == (1...3).map(StoreSamples.symbol))
    #expect(try await writer.repairCandidates(from: day.advanced(by: 1)) == [])
  }

  @Test func `gaps of days that the source no longer delivers are permanent`() async throws {
    let database = try StoreDatabase()
    let writer = try await freshWriter(database)
    _ = try await writer.commit(try watchedDay())
    func end(_ day: TradingDay, availableFrom first: TradingDay, _ position: Int64) async throws
      -> [[String?]]
    {
      var commit = Commit(
        position: JournalPosition(position),
        knownAt: StoreSamples.start.adding(seconds: position * 3600))
      commit.events = [.dayComplete(day: day, instruments: 1, residuals: 0)]
      commit.reference.firstDayAvailable = first
      _ = try await writer.commit(commit)
      return try database.execute("select state, permanent_reason from candled.gaps")
    }
    #expect(try await end(day.advanced(by: 9), availableFrom: day, 2) == [["open", nil]])
    #expect(
      try await end(day.advanced(by: 10), availableFrom: day.advanced(by: 1), 3)
        == [["permanent", "its source no longer has bars for it"]])
    #expect(try await writer.repairCandidates(from: day).map(\.want) == [.flagged])
  }
}
