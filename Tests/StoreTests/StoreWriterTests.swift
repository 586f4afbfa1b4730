import Commits
import Market
import Postgres
import Reader
import Store
import TestSupport
import TestTraits
import Testing

@Suite(.ownThread) struct StoreWriterTests {
  @Test func `an empty commit opens no transaction`() async throws {
    let database = try StoreDatabase()
    let writer = try await freshWriter(database)
    let receipt = try await writer.commit(
      Commit(position: JournalPosition(9), knownAt: StoreSamples.start))
    #expect(receipt.seq == nil)
    #expect(try database.value("select position from candled.journal_position") == "0")
  }

  /// The stages leave equal quotes out; some come all the same, as after an outage.
  @Test func `fifty commits of equal quotes write no row and at most 32 kB of log`() async throws {
    // What the server does for itself is not ours: a slow machine gives autovacuum its minute.
    let database = try StoreDatabase.alone(more: ["autovacuum": "off"])
    let writer = try await freshWriter(database)
    var samples = StoreSamples(seed: 1)
    var commit = samples.sweep(position: 1, instruments: 2_000)
    _ = try await writer.commit(commit)
    let before = try database.execute(
      "select changed_seq, xmin::text from candled.quote order by 1, 2")
    let from = try #require(try database.value("select pg_current_wal_insert_lsn()"))
    for position in 2...51 {
      commit.position = JournalPosition(Int64(position))
      #expect(try await writer.commit(commit).seq == nil)
    }
    let bytes = try #require(
      try database.value("select pg_current_wal_insert_lsn() - '\(from)'"))
    let after = try database.execute(
      "select changed_seq, xmin::text from candled.quote order by 1, 2")
    #expect(before == after)
    let written = try #require(Int(bytes))
    #expect(written <= 32_768)
    #expect(try database.value("select count(*) from candled.change") == "1")
  }

  @Test func `of two quotes of one instrument in a commit the later one is stored`() async throws {
    let database = try StoreDatabase()
    let writer = try await freshWriter(database)
    var samples = StoreSamples(seed: 11)
    var commit = samples.sweep(position: 1, instruments: 3)
    for last in [ExactDecimal(7), ExactDecimal(8)] {
      var repeated = commit.quotes[1]
      repeated.quote.last = last
      commit.quotes.append(repeated)
    }
    #expect(try await writer.commit(commit).quotes == 3)
    let symbol = commit.quotes[1].quote.symbol
    let found = try StoreReader(url: database.url).latest().filter { $0.quote.symbol == symbol }
    #expect(found.map(\.quote.last) == [ExactDecimal(8)])
  }

  @Test func `limits that a source states are stored as it states them`() async throws {
    let database = try StoreDatabase()
    let writer = try await freshWriter(database)
    var samples = StoreSamples(seed: 7)
    let band = PriceBand(lower: ExactDecimal(9), upper: ExactDecimal(11))
    var commit = samples.sweep(position: 1, instruments: 3)
    for (place, limits) in [StatedLimits.band(band), .none, .unstated].enumerated() {
      commit.quotes[place].quote.limits = limits
    }
    _ = try await writer.commit(commit)
    func found() throws -> [StatedLimits] {
      try StoreReader(url: database.url).latest().sorted {
        $0.quote.symbol < $1.quote.symbol
      }.map(\.quote.limits)
    }
    let order = commit.quotes.indices.sorted {
      commit.quotes[$0].quote.symbol < commit.quotes[$1].quote.symbol
    }
    let expected = order.map { commit.quotes[$0].quote.limits }
    #expect(try found() == expected)
    // Else a restart would take the next row for a change, and an uninterrupted run not.
    let restarted = try await freshWriter(database).load().quotes
    let loaded = restarted.map(\.quote).sorted { $0.symbol < $1.symbol }.map(\.limits)
    #expect(loaded == expected)
    #expect(
      try database.execute("select count(limit_up), count(limit_down) from candled.latest")
        == [["1", "1"]])
  }

  @Test func `seq counts commits without a gap`() async throws {
    let database = try StoreDatabase()
    let writer = try await freshWriter(database)
    var samples = StoreSamples(seed: 2)
    for position in 1...20 {
      let receipt = try await writer.commit(
        samples.sweep(position: Int64(position), instruments: 5))
      #expect(receipt.seq == Int64(position))
    }
    #expect(
      try database.execute("select min(seq), max(seq), count(*) from candled.change")
        == [["1", "20", "20"]])
  }

  @Test func `a commit that fails leaves nothing behind`() async throws {
    let database = try StoreDatabase()
    let writer = try await freshWriter(database)
    try database.execute("alter table candled.change rename to elsewhere")
    var samples = StoreSamples(seed: 3)
    let commit = samples.minute(0, position: 1, instruments: 3)
    let error = await #expect(throws: StoreError.self) { try await writer.commit(commit) }
    #expect(error?.code == .operatorNeeded)
    #expect(error?.sqlState == "42P01")
    for table in ["quote", "candle", "elsewhere", "instrument"] {
      #expect(try database.value("select count(*) from candled.\(table)") == "0", "\(table)")
    }
    try database.execute("alter table candled.elsewhere rename to change")
    #expect(try await writer.commit(commit).candles == 3)
    #expect(
      try database.execute("select id from candled.instrument order by 1") == [["1"], ["2"], ["3"]])
  }

  @Test func `a candle stored again with the same values is left alone`() async throws {
    let database = try StoreDatabase()
    let writer = try await freshWriter(database)
    var samples = StoreSamples(seed: 4)
    var commit = samples.minute(0, position: 1, instruments: 3)
    _ = try await writer.commit(commit)
    commit.position = JournalPosition(2)
    commit.quotes = []
    commit.candles.append(samples.candle(7, minute: 0))
    let receipt = try await writer.commit(commit)
    #expect(receipt.candles == 1)
    #expect(receipt.revisions == 0)
    #expect(try database.value("select count(*) from candled.candle") == "4")
  }

  @Test func `a candle stored again with other values becomes a revision`() async throws {
    let database = try StoreDatabase()
    let writer = try await freshWriter(database)
    var samples = StoreSamples(seed: 5)
    let first = samples.minute(0, position: 1, instruments: 2)
    _ = try await writer.commit(first)
    var second = Commit(
      position: JournalPosition(2), knownAt: StoreSamples.start.adding(seconds: 90))
    second.candles = [samples.candle(0, minute: 0)]
    let receipt = try await writer.commit(second)
    #expect(receipt.revisions == 1)
    let old = first.candles[0]
    let new = second.candles[0]
    #expect(
      try database.execute(
        "select open, volume, revision from candled.candle where instrument_id = 1")
        == [[new.open.description, new.volume.description, "1"]])
    #expect(
      try database.execute(
        "select open, volume, cause, known_to - known_from from candled.revisions")
        == [[old.open.description, old.volume.description, "rewritten", "00:00:30"]])
  }

  @Test func `a revision keeps the old values and its cause`() async throws {
    let database = try StoreDatabase()
    let writer = try await freshWriter(database)
    var samples = StoreSamples(seed: 6)
    let first = samples.minute(0, position: 1, instruments: 2)
    _ = try await writer.commit(first)
    for (position, minutes) in [(2, 1), (3, 2)] {
      var commit = Commit(
        position: JournalPosition(Int64(position)),
        knownAt: StoreSamples.start.adding(seconds: Int64(60 * minutes)))
      commit.revisions = [Revision(candle: samples.candle(1, minute: 0), cause: .latePrint)]
      #expect(try await writer.commit(commit).revisions == 1)
    }
    #expect(
      try database.execute("select revision, cause from candled.revisions order by 1")
        == [["0", "late_print"], ["1", "late_print"]])
    #expect(
      try database.value("select volume from candled.revisions where revision = 0")
        == first.candles[1].volume.description)
  }

  @Test func `revisions are counted to 32767, and go on behind it`() async throws {
    let database = try StoreDatabase()
    let writer = try await freshWriter(database)
    var samples = StoreSamples(seed: 6)
    _ = try await writer.commit(samples.minute(0, position: 1, instruments: 2))
    try database.execute("update candled.candle set revision = 32766 where instrument_id = 2")
    var newest = ""
    for minutes in 1...3 {
      var commit = Commit(
        position: JournalPosition(Int64(1 + minutes)),
        knownAt: StoreSamples.start.adding(seconds: Int64(60 * minutes)))
      let candle = samples.candle(1, minute: 0)
      commit.revisions = [Revision(candle: candle, cause: .latePrint)]
      newest = candle.volume.description
      #expect(try await writer.commit(commit).revisions == 1)
    }
    #expect(
      try database.execute("select revision, volume from candled.candle where instrument_id = 2")
        == [["32767", newest]])
    #expect(
      try database.execute(
        """
        select revision, known_to = (select known_from from candled.candle where instrument_id = 2)
        from candled.revisions
        order by 1
        """) == [["32766", "f"], ["32767", "t"]])
  }

  @Test func `another writer at the same journal is refused`() async throws {
    let database = try StoreDatabase()
    let one = try await freshWriter(database)
    let other = try await freshWriter(database)
    var samples = StoreSamples(seed: 7)
    _ = try await one.commit(samples.sweep(position: 1, instruments: 2))
    let late = samples.sweep(position: 1, instruments: 2)
    let error = await #expect(throws: StoreError.self) { try await other.commit(late) }
    #expect(error?.code == .positionConflict)
    _ = try await other.load()
    #expect(try await other.commit(samples.sweep(position: 2, instruments: 2)).seq == 2)
  }

  @Test func `the same rejected row is stored once a day`() async throws {
    let database = try StoreDatabase()
    let writer = try await freshWriter(database)
    var commit = Commit(position: JournalPosition(1), knownAt: StoreSamples.start)
    let row = Rejection(
      source: .sina, receivedAt: StoreSamples.start, symbol: nil, reason: .malformed,
      detail: "cut\0off", payload: [0, 255, 34])
    commit.rejections = [row, row]
    #expect(try await writer.commit(commit).rejections == 1)
    commit.position = JournalPosition(2)
    #expect(try await writer.commit(commit).seq == nil)
    #expect(
      try database.execute("select detail, payload from candled.rejected")
        == [["cutoff", "\\x00ff22"]])
  }

  @Test func `the database computes a certificate's residual itself`() async throws {
    let database = try StoreDatabase()
    let writer = try await freshWriter(database)
    var commit = Commit(position: JournalPosition(1), knownAt: StoreSamples.start)
    let certificate = DayCertificate(
      symbol: StoreSamples.symbol(1), tradingDay: StoreSamples.day,
      exchangeVolume: ExactDecimal(100),
      exchangeTurnover: ExactDecimal(1000), minuteVolume: ExactDecimal(70),
      minuteTurnover: ExactDecimal(700), gapVolume: ExactDecimal(30),
      gapTurnover: ExactDecimal(299), afterHoursVolume: .zero, afterHoursTurnover: .zero,
      minutesTraded: 200, minutesUntraded: 40, minutesMissing: 0)
    var unseen = certificate
    unseen.symbol = StoreSamples.symbol(2)
    (unseen.exchangeVolume, unseen.exchangeTurnover) = (nil, nil)
    commit.certificates = [certificate, unseen]
    #expect(try await writer.commit(commit).certificates == 2)
    #expect(
      try database.execute(
        """
        select residual_volume, residual_turnover, balanced
        from candled.day_audit
        order by balanced
        """) == [["0", "1", "f"], [nil, nil, nil]])
    // A day whose end was not seen balances neither way.
    let status = try StoreReader(url: database.url).status()
    #expect(status.certified.certificates == 2 && status.certified.residuals == 1)
    commit.position = JournalPosition(2)
    #expect(try await writer.commit(commit).seq == nil)
  }

  @Test func `the daemon's role needs no right beyond its own`() async throws {
    let database = try StoreDatabase()
    let role = "daemon_of_a_test"
    try database.execute("create role \(role) login in role candled nosuperuser")
    // The cluster's superuser is called candled; its grants reach members all the same.
    let writer = StoreWriter(url: database.url(role: role))
    try await writer.connect()
    var samples = StoreSamples(seed: 8)
    #expect(try await writer.commit(samples.minute(3, position: 1, instruments: 3)).candles == 3)
    let error = #expect(throws: StoreError.self) {
      try SQLProbe.run("delete from candled.candle", url: database.url(role: role))
    }
    #expect(error?.sqlState == "42501")
  }
}
