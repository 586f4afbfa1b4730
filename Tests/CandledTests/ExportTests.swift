import Foundation
import Glibc
import Market
import TestSupport
import TestTraits
import Testing

/// Days that are long over by any clock, in two markets, with numbers whose digits matter.
private struct ExportedDays {
  let database: StoreDatabase
  let folder: String

  static let days = ["2026-01-05", "2026-01-06"]
  static let instruments = 140
  /// The rights of a reader suffice.
  private static let role = "test_candled_reader"
  private static let shared = Result { try ExportedDays() }

  /// With a folder of its own for each test.
  static func get() throws -> ExportedDays { try ExportedDays(on: shared.get().database) }

  private init(on database: StoreDatabase) throws {
    self.database = database
    folder = try PrivateCluster.freshDirectory()
  }

  private init() throws {
    try self.init(on: StoreDatabase())
    _ = try database.url(memberOf: "candled_reader")
    try database.execute(
      """
      set search_path = candled;
      insert into instrument (id, symbol, source, exchange, kind, board, first_seen)
      select n, 'sz' || 300000 - n, 1, 1, 1, 1, '2021-01-01'
      from generate_series(1, \(Self.instruments)) n;
      insert into instrument (id, symbol, source, exchange, kind, board, first_seen)
      select 1000, 'AAPL', code, 1, 1, 1, '2021-01-01'
      from source
      where name = 'alpaca_iex';
      select ensure_partition('2026-01-05');
      insert into candle
        (opened_at, closed_at, known_from, instrument_id, trading_day, timeframe, flags, source,
          revision, open, high, low, close, volume, turnover)
      select
        m, m + interval '1 minute', m + interval '65 seconds', i.id, d, 1, (i.id % 2)::smallint,
        i.source, 0, 136.390, 136.400, 136.39, 136.4, 100 * i.id, 100 * i.id * 136.390
      from unnest('{2026-01-05,2026-01-06}'::date[]) d
      cross join instrument i
      join source s on s.code = i.source
      join market p on p.code = s.market
      cross join generate_series(
        (d + time '10:00') at time zone p.zone, (d + time '10:05') at time zone p.zone,
        interval '1 minute') m
      order by m desc
      """)
  }

  func export(_ arguments: String...) throws -> BuiltBinary.Run {
    try SimulatedMorning.ask(
      database, ["export", "--to", folder] + arguments, role: Self.role)
  }

  func path(_ name: String) -> String { "\(folder)/candles-1m/\(name)" }

  func text(_ name: String) throws -> String {
    try String(contentsOfFile: path(name), encoding: .utf8)
  }

  /// Each with its bytes, the hidden ones too, but for the lock.
  func files() throws -> [String: Data] {
    var found: [String: Data] = [:]
    let all = FileManager.default.enumerator(atPath: folder)
    while let name = all?.nextObject() as? String {
      let isFile = all?.fileAttributes?[.type] as? FileAttributeType == .typeRegular
      guard isFile, !name.hasSuffix("/.lock") else { continue }
      found[name] = try Data(contentsOf: URL(filePath: "\(folder)/\(name)"))
    }
    return found
  }
}

@Suite(.ownThread) struct `candled export` {
  @Test func `writes a file for each market and day, exact and in order`() throws {
    let days = try ExportedDays.get()
    let run = try days.export("--day", "2026-01-05..2026-01-07")
    #expect(run.status == 0 && run.errors.isEmpty, "\(run.errors)")
    let names = ["cn/2026-01-05", "cn/2026-01-06", "us/2026-01-05", "us/2026-01-06"]
    #expect(
      try Set(days.files().keys) == Set(names.map { "candles-1m/market=\($0).csv" }))
    #expect(run.output.contains("market=cn/2026-01-06.csv: 840 candles\n"), "\(run.output)")
    let lines = try days.text("market=cn/2026-01-05.csv").split(separator: "\n")
    #expect(lines.count == 1 + 6 * ExportedDays.instruments)
    #expect(lines.count { $0.hasPrefix("symbol,opened_at,closed_at,trading_day,open,") } == 1)
    #expect(lines.dropFirst() == lines.dropFirst().sorted()[...])
    #expect(
      lines.last == """
        sz299999,2026-01-05T10:05:00+08:00,2026-01-05T10:06:00+08:00,2026-01-05,136.390,136.400,\
        136.39,136.4,100,13639.000,,136.3900,no_trade,0,2026-01-05T10:06:05+08:00,sina
        """)
    #expect(try days.text("market=us/2026-01-06.csv").split(separator: "\n").count == 7)
  }

  @Test func `writes the lines that a query prints`() throws {
    let days = try ExportedDays.get()
    let run = try days.export(
      "--day", "2026-01-05", "--symbols", "299999.SZ,sz299990", "--market", "cn", "--format",
      "jsonl")
    #expect(run.status == 0, "\(run.errors)")
    #expect(try Array(days.files().keys) == ["candles-1m/market=cn/2026-01-05.jsonl"])
    var expected: [String] = []
    for symbol in ["sz299990", "sz299999"] {
      let query = try SimulatedMorning.ask(
        days.database,
        ["query", "candles", symbol, "--to", "2026-01-05", "--format", "jsonl"])
      expected += query.output.split(separator: "\n").map {
        "{\"symbol\":\"\(symbol)\",\($0.dropFirst())"
      }
    }
    #expect(expected.count == 12)
    #expect(
      try days.text("market=cn/2026-01-05.jsonl").split(separator: "\n").map(String.init)
        == expected)
  }

  @Test func `leaves alone what is there, and writes what lacks`() throws {
    let days = try ExportedDays.get()
    #expect(try days.export("--day", "2026-01-06").status == 0)
    let whole = try days.files()
    let kept = days.path("market=us/2026-01-06.csv")
    try Data("kept".utf8).write(to: URL(filePath: kept))
    #expect(unlink(days.path("market=cn/2026-01-06.csv")) == 0)
    let again = try days.export("--day", "2026-01-06")
    #expect(again.status == 0)
    #expect(again.output.contains("\(kept): left as it is\n"), "\(again.output)")
    #expect(try days.text("market=us/2026-01-06.csv") == "kept")
    let name = "candles-1m/market=cn/2026-01-06.csv"
    #expect(try days.files()[name] == whole[name])
  }

  @Test(arguments: [SIGKILL, SIGTERM])
  func `ended at any moment it leaves whole files, and a second run all of them`(
    number: Int32
  ) throws {
    let complete = try ExportedDays.get()
    let began = ContinuousClock.now
    #expect(try complete.export("--day", "2026-01-05..2026-01-06").status == 0)
    let whole = try complete.files()
    let microseconds = (ContinuousClock.now - began) / .microseconds(1)
    let moments = 8
    for moment in 0..<moments {
      let days = try ExportedDays.get()
      let running = try RunningBinary(
        [
          "export", "--to", days.folder, "--day", "2026-01-05..2026-01-06", "--config",
          "/dev/stdin",
        ] + (number == SIGTERM ? ["--follow"] : []),
        input: SimulatedMorning.configuration(days.database))
      usleep(useconds_t(microseconds * (Double(moment) + 0.5) / Double(moments)))
      running.signal(number)
      let status = try running.ended()
      #expect(status == 0 || number == SIGKILL, "\(running.captured)")
      for (name, bytes) in try days.files() where number == SIGTERM || !name.hasSuffix(".part") {
        #expect(bytes == whole[name], "\(name) at moment \(moment)")
      }
      #expect(try days.export("--day", "2026-01-05..2026-01-06").status == 0)
      #expect(try days.files() == whole, "after moment \(moment)")
    }
  }

  @Test func `does not write a day that is not over`() throws {
    let days = try ExportedDays.get()
    let tomorrow = try #require(
      try days.database.value("select (now() + interval '2 days')::date::text"))
    let run = try days.export("--day", tomorrow, "--market", "cn")
    #expect(run.status == 75 && run.output.isEmpty)
    #expect(run.errors.contains("\(tomorrow) is not over in the market cn"), "\(run.errors)")
    #expect(try days.files().isEmpty)
  }

  @Test func `one export at a time writes in a folder`() throws {
    let days = try ExportedDays.get()
    let folder = days.path("market=cn")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let lock = open("\(folder)/.lock", O_WRONLY | O_CREAT | O_CLOEXEC, 0o666)
    defer { close(lock) }
    #expect(flock(lock, LOCK_EX) == 0)
    let run = try days.export("--day", "2026-01-05", "--market", "cn")
    #expect(run.status == 75 && run.errors.contains("another export writes in this folder"))
    #expect(try days.files().isEmpty)
  }

  @Test(arguments: [
    (["--day", "2026-01-04"], 66, "there are no 1m candles of 2026-01-04"),
    (
      ["--day", "2026-01-05", "--market", "xx"], 65, "xx: no market of this database; there are: cn"
    ),
    (["--day", "2026-01-05", "--symbols", "sz29999"], 65, "nearest known: sz2"),
    (["--day", "2026-01-05", "--to", "/proc/none"], 73, "cannot create "),
    (["--day", "yesterday"], 64, "yesterday"),
    (["--day", "2026-01-06..2026-01-05"], 64, "2026-01-06..2026-01-05"),
    (["--day", "2026-01-05", "--format", "xml"], 64, "xml"),
    (["--day", "2026-01-05", "--follow", "--every", "0"], 64, "--every takes a number above 0"),
    (["--day", "2026-01-05", "--follow", "--market", "xx"], 65, "xx: no market of this database"),
  ])
  func `says what is wrong`(options: [String], status: Int32, words: String) throws {
    let days = try ExportedDays.get()
    let run = try SimulatedMorning.ask(
      days.database,
      ["export"] + (options.contains("--to") ? [] : ["--to", days.folder]) + options)
    #expect(run.status == status && run.errors.contains(words), "\(run.errors)")
    #expect(run.output.isEmpty)
    #expect(try days.files().isEmpty)
  }
}
