import Commits
import Feeds
import Market
import Postgres
import Reader
import Store
import TestSupport
import Testing

/// Who served live quotes, from the commit to what people query.
@Suite struct ServingTests {
  private static let second = Source(rawValue: 200)
  private static let row = SourceRow(
    source: second, name: "understudy", market: .mainlandChina, instruments: .live, priority: 9,
    hasQuotes: true, quotedKinds: [.stock: [.shanghai, .shenzhen, .beijing]])
  private static let symbol = StoreSamples.symbol(0)

  private let database: StoreDatabase
  private let writer: StoreWriter

  init() async throws {
    database = try StoreDatabase()
    try Schema.apply(url: database.url, sources: [Self.row])
    writer = try await freshWriter(database)
  }

  private static func serving(_ source: Source, at second: Int, day: Int = 0) -> ServingRow {
    ServingRow(
      series: .live,
      since: Timestamp(day: StoreSamples.day.advanced(by: day), secondOfDay: second),
      source: source)
  }

  /// From 10:00:30 to 10:01:30 the second source.
  private static let rows = [
    serving(second, at: 36_030), serving(.live, at: 36_090),
  ]

  private static func certificate(isCoarse: Bool) -> DayCertificate {
    var certificate = DayCertificate(
      symbol: symbol, tradingDay: StoreSamples.day, exchangeVolume: ExactDecimal(5),
      exchangeTurnover: ExactDecimal(50), minuteVolume: ExactDecimal(5),
      minuteTurnover: ExactDecimal(50), gapVolume: .zero, gapTurnover: .zero,
      afterHoursVolume: .zero, afterHoursTurnover: .zero, minutesTraded: 1, minutesUntraded: 239,
      minutesMissing: 0)
    certificate.isCoarse = isCoarse
    return certificate
  }

  private func commit(
    _ serving: [ServingRow], position: Int64, edit: (inout Commit) -> Void = { _ in }
  ) async throws -> CommitReceipt {
    var samples = StoreSamples(seed: UInt64(position))
    var commit = samples.minute(30, position: position, instruments: 1)
    for place in commit.candles.indices { commit.candles[place].flags = [.coarse] }
    commit.reference.serving = serving
    edit(&commit)
    return try await writer.commit(commit)
  }

  private func classify(kind: InstrumentKind) throws {
    _ = try database.execute(
      "update candled.instrument set exchange = 1, kind = \(kind.rawValue)")
  }

  private func reading(_ sql: String) throws -> [[String?]] {
    try SQLProbe.run(sql, url: database.url(role: "candled_reader"))
  }

  @Test func `a change of source is stored, and the last one of a series loaded`() async throws {
    #expect(try await writer.load().serving.isEmpty)
    #expect(try await commit(Self.rows, position: 1).reference == 2)
    #expect(try await writer.load().serving == [Self.rows[1]])
    let reader = try StoreReader(url: database.url)
    #expect(try reader.serving() == Self.rows)
  }

  @Test func `a change that is stored already writes nothing`() async throws {
    var commit = Commit(position: JournalPosition(1), knownAt: StoreSamples.start)
    commit.reference.serving = Self.rows + Self.rows
    #expect(try await writer.commit(commit).reference == 2)
    commit.position = JournalPosition(2)
    #expect(try await writer.commit(commit).seq == nil)
  }

  @Test func `health says from which source live quotes come`() async throws {
    let health = """
      select source, endpoint, serves
      from health
      where source in ('sina', 'understudy')
      order by endpoint, source
      """
    _ = try await commit([], position: 1) { commit in
      commit.reference.health = [Source.live, Self.second].flatMap { source in
        ["quotes", "lists"].map { endpoint in
          SourceHealthRow(
            source: source, endpoint: endpoint, state: .up, since: StoreSamples.start,
            lastSuccessAt: nil, requests: 1, failures: 0, detail: "")
        }
      }
    }
    let lists: [[String?]] = [["sina", "lists", nil], ["understudy", "lists", nil]]
    #expect(
      try reading(health) == lists + [["sina", "quotes", "t"], ["understudy", "quotes", "f"]])
    _ = try await commit([Self.rows[0]], position: 2)
    #expect(
      try reading(health) == lists + [["sina", "quotes", "f"], ["understudy", "quotes", "t"]])
  }

  @Test func `coverage says by which sources a day was served, and whether its total is coarse`()
    async throws
  {
    let coverage = "select certified, coarse, served_by from coverage"
    _ = try await commit([Self.serving(Self.second, at: 60_000, day: -1)], position: 1)
    try classify(kind: .stock)
    #expect(try reading(coverage) == [["f", nil, "{understudy}"]])
    _ = try await commit([Self.serving(.live, at: 33_000)], position: 2)
    #expect(try reading(coverage) == [["f", nil, "{sina}"]])
    _ = try await commit(Self.rows + [Self.serving(Self.second, at: 40_000, day: 1)], position: 3) {
      $0.certificates = [Self.certificate(isCoarse: true)]
    }
    #expect(try reading(coverage) == [["t", "t", "{sina,understudy}"]])
    _ = try await commit([], position: 4) {
      $0.certificates = [Self.certificate(isCoarse: false)]
    }
    #expect(try reading(coverage) == [["t", "f", "{sina,understudy}"]])
  }

  @Test func `coverage names no source that does not quote the instrument's kind`() async throws {
    _ = try await commit(Self.rows, position: 1)
    let coverage = "select served_by from coverage"
    try classify(kind: .stock)
    #expect(try reading(coverage) == [["{sina,understudy}"]])
    try classify(kind: .convertibleBond)
    #expect(try reading(coverage) == [["{sina}"]])
  }

  @Test func `why names the source of each stretch of its interval`() async throws {
    _ = try await commit(Self.rows, position: 1) {
      $0.certificates = [Self.certificate(isCoarse: true)]
    }
    func served(_ at: String, _ timeframe: String = "1m") throws -> [[String?]] {
      try reading(
        """
        set timezone = 'Asia/Shanghai';
        select to_char(at, 'HH24:MI:SS'), detail
        from why('sh600000', '2026-07-06 \(at)', '\(timeframe)')
        where what = 'served'
        """)
    }
    let second = "live quotes of understudy since 2026-07-06 10:00:30+08"
    #expect(
      try served("10:00") == [["10:00:00", "live quotes of sina"], ["10:00:30", second]])
    #expect(
      try served("10:00", "5m") == [
        ["10:00:00", "live quotes of sina"], ["10:00:30", second],
        ["10:01:30", "live quotes of sina since 2026-07-06 10:01:30+08"],
      ])
    let facts = try StoreReader(url: database.url).why(
      Self.symbol, at: Timestamp(day: StoreSamples.day, secondOfDay: 36_000), timeframe: .minute1)
    #expect(facts.first { $0.what == "candle" }?.detail.hasSuffix(", coarse") == true)
    #expect(facts.first { $0.what == "certificate" }?.detail.contains("day 5 (coarse),") == true)
  }

  @Test func `a coarse minute makes every larger candle coarse`() async throws {
    _ = try await commit([], position: 1) { commit in
      var samples = StoreSamples(seed: 2)
      var exact = samples.candle(0, minute: 31)
      exact.flags = []
      var later = samples.candle(0, minute: 61)
      later.flags = []
      commit.candles += [exact, later]
    }
    #expect(
      try reading("select coarse from candle_1m order by opened_at limit 3") == [
        ["t"], ["f"], ["f"],
      ])
    #expect(
      try reading(
        """
        select to_char(opened_at, 'HH24:MI'), flag_names(flags)::text
        from candles('sh600000', '5m')
        """) == [["10:00", "{partial,coarse}"], ["10:30", "{partial}"]])
    #expect(
      try reading("select coarse from candle_60m where opened_at < '2026-07-06 10:30+08'") == [
        ["t"]
      ])
  }

  @Test func `certificates of a reader and of the change feed say whether they are coarse`()
    async throws
  {
    _ = try await commit([], position: 1) {
      $0.certificates = [Self.certificate(isCoarse: true)]
    }
    let reader = try StoreReader(following: database.url)
    #expect(try reader.certificates().map(\.certificate) == [Self.certificate(isCoarse: true)])
    let change = try #require(try reader.changes(after: 0).changes.first)
    #expect(change.certificates == [Self.certificate(isCoarse: true)])
    #expect(change.candles.map(\.candle.flags) == [.coarse])
    let candidates = try await writer.repairCandidates(from: StoreSamples.day)
    #expect(candidates.map(\.want) == [.flagged])
  }
}
