import ExchangeSimulator
import Foundation
import Glibc
import Journal
import Ledgers
import Market
import TestExchange
import TestSupport
import TestTraits
import Testing

/// Days just behind us, since a source only tells its newest bars.
private struct Past {
  let exchange: ExchangeServer
  var history: SimulatedHistory
  let database: StoreDatabase
  let folder: String

  static var now: Timestamp { Timestamp(seconds: Int64(time(nil))) }

  init(days: Int = 2, clock: MarketClock = .function { Past.now }) throws {
    let sessions = RecentSessions(
      before: Past.now.shanghaiDay, minuteDaysMax: days, earlierDays: 40)
    history = SimulatedHistory(
      seed: 23, instruments: 20, days: sessions.minuteDays, earlierDays: sessions.earlierDays)
    exchange = try ExchangeServer(history: history, clock: clock)
    database = try StoreDatabase()
    try sessions.learn(into: database.url)
    folder = try PrivateCluster.freshDirectory()
  }

  /// Such as have minutes to tell of.
  func symbols(_ count: Int) -> [String] {
    var history = history
    let stocks = history.symbols.filter { $0.description.hasPrefix("sh60") }
    return stocks.filter { symbol in
      !history.candles(of: symbol, .minute1, at: Past.now, count: 1).isEmpty
    }
    .prefix(count).map(\.description)
  }

  func run(_ arguments: [String], server: String? = nil) throws -> BuiltBinary.Run {
    let url = server ?? exchange.url
    return try BuiltBinary.run(
      arguments + [
        "--config", "/dev/stdin", "--set", "state_directory=\(folder)",
        "--set", "sina.history_base=\(url)", "--set", "sina.reference_base=\(url)",
        "--set", "sina.history_requests_per_minute=60000",
      ], input: SimulatedMorning.configuration(database))
  }

  func count(_ sql: String) throws -> Int {
    let text = try database.value("select count(*) \(sql)") ?? ""
    return try #require(Int(text))
  }
}

@Suite(.ownThread) struct `candled backfill` {
  private static func file(_ text: String, mode: mode_t) throws -> String {
    let path = try PrivateCluster.freshDirectory() + "/keys"
    let file = open(path, O_WRONLY | O_CREAT, 0o600)
    defer { close(file) }
    #expect(write(file, text, text.utf8.count) == text.utf8.count)
    chmod(path, mode)
    return path
  }

  @Test func `plans without asking`() throws {
    let past = try Past()
    let symbols = past.symbols(2)
    let run = try past.run(
      ["backfill"] + symbols + ["--from", "\(past.history.days[0])", "--dry-run"])
    #expect(run.status == 0 && run.output.isEmpty)
    #expect(run.errors.contains("2 instruments, 2 of 2 chunks to do, about 6 requests"))
    #expect(past.exchange.requestsAnswered == 0)
    #expect(try past.count("from candle") == 0)
  }

  @Test func `today is the configured clock's, and so is the time of what it stores`() throws {
    let history = try Past().history
    let (from, today) = (history.earlierDays[10], history.days[0])
    let past = try Past(clock: .function { Timestamp(day: today, secondOfDay: 18 * 3_600) })
    let run = try past.run(
      ["backfill"] + past.symbols(1)
        + [
          "--from", "\(from)", "--set", "clock.mode=scaled",
          "--set", "clock.start=\(today)T18:00:00+08:00",
        ])
    #expect(run.status == 0, "\(run.errors)")
    #expect(run.errors.contains("sina 1d, \(from) to \(today): 1 instrument,"))
    #expect(try past.count("from candle where timeframe = 240") > 0, "\(run.errors)")
    #expect(try past.count("from candle where trading_day > '\(today)'") == 0)
    #expect(
      try past.count(
        "from candle where (known_from at time zone 'Asia/Shanghai')::date <> '\(today)'") == 0)
  }

  @Test func `stores days and factors, and resumes without what is done`() throws {
    let past = try Past()
    var history = past.history
    let symbols = past.symbols(2)
    let from = history.earlierDays[10]
    let arguments = ["backfill"] + symbols + ["--from", "\(from)"]
    let run = try past.run(arguments)
    #expect(run.status == 0, "\(run.errors)")
    #expect(run.errors.contains("2 of 2 chunks stored"))
    #expect(!(run.errors + run.output).contains("\u{1B}"))
    for name in symbols {
      let symbol = try #require(Symbol(name))
      let truth = history.candles(of: symbol, .day1, at: Past.now, count: 100)
        .count { $0.tradingDay >= from }
      let stored = try past.count(
        "from candle c join instrument i on i.id = c.instrument_id "
          + "where i.symbol = '\(name)' and timeframe = 240")
      #expect(stored == truth && truth > 20)
    }
    #expect(try past.count("from adjustment_factor") >= 4)
    let asked = past.exchange.requestsAnswered
    let again = try past.run(arguments + ["--resume"])
    #expect(again.status == 0 && again.errors.contains("0 of 2 chunks to do"))
    #expect(past.exchange.requestsAnswered == asked)
  }

  @Test(.enabled(if: geteuid() == 0, "only root may give a folder away"))
  func `of root in a service's folder leaves nothing that the service could not open`() throws {
    let past = try Past()
    // Who may also enter the folder of the test's database.
    let owner = try #require(getpwnam("postgres")).pointee.pw_uid
    #expect(chown(past.folder, owner, .max) == 0)
    let run = try past.run(["backfill"] + past.symbols(1) + ["--from", "\(past.history.days[0])"])
    #expect(run.status == 0, "\(run.errors)")
    let owners = try FileManager.default.subpathsOfDirectory(atPath: past.folder).map {
      try FileManager.default.attributesOfItem(atPath: "\(past.folder)/\($0)")[.ownerAccountID]
        as? Int
    }
    #expect(owners.count > 3 && owners.allSatisfy { $0 == Int(owner) })
  }

  @Test func `leaves a running daemon its budget, and asks beside no other command`() throws {
    let past = try Past()
    let arguments = ["backfill"] + past.symbols(1) + ["--from", "\(past.history.days[0])"]
    let daemon = try JournalIdentity(directory: past.folder + "/journal")
    let beside = try past.run(arguments)
    #expect(beside.status == 0 && beside.errors.contains("at 6000 a minute"))
    #expect(beside.errors.contains("the daemon sends requests to sina, too: this command"))
    withExtendedLifetime(daemon) {}
    let asked = past.exchange.requestsAnswered
    let other = try JournalIdentity(directory: past.folder + "/backfill/line-sina")
    let second = try past.run(arguments)
    #expect(second.status == 75 && second.errors.contains("another command sends requests to sina"))
    #expect(past.exchange.requestsAnswered == asked)
    withExtendedLifetime(other) {}
  }

  @Test func `asks first for what was never stored, then for the days since`() throws {
    let past = try Past()
    let symbols = past.symbols(3)
    let arguments = { (count: Int) in
      ["backfill"] + symbols.prefix(count) + ["--from", "\(past.history.earlierDays[10])"]
    }
    #expect(try past.run(arguments(2)).status == 0)
    let whole = try past.count("from candle where timeframe = 240")
    // As if that had been a week ago.
    try past.database.execute("update candled.backfill_chunk set through = through - 7")
    try past.database.execute(
      "delete from candled.candle where trading_day > current_date - 7 and timeframe = 240")
    #expect(try past.count("from candle where timeframe = 240") < whole)
    let new = try #require(Symbol(symbols[2]))
    past.exchange.order(Fault(.internalError, on: .sinaHistory, symbols: [new]))
    let asked = past.exchange.requestsAnswered
    let failed = try past.run(arguments(3) + ["--resume"])
    #expect(failed.status == 75 && failed.errors.contains("3 of 3 chunks to do"))
    #expect(failed.errors.contains("2 of these chunks, stored on an earlier day, come last"))
    #expect(failed.errors.contains("3 of 3 chunks left"), "\(failed.errors)")
    #expect(past.exchange.requestsAnswered > asked)
    #expect(try past.count("from candle where timeframe = 240") < whole)
    past.exchange.cancelFaults()
    let healed = try past.run(arguments(3) + ["--resume"])
    #expect(healed.status == 0 && healed.errors.contains("3 of 3 chunks stored"))
    #expect(try past.count("from candle where timeframe = 240") > whole)
    #expect(try past.run(arguments(3) + ["--resume"]).errors.contains("0 of 3 chunks to do"))
  }

  @Test func `goes on where a source that failed left it`() throws {
    let past = try Past()
    let symbols = past.symbols(3)
    let lost = try #require(Symbol(symbols[1]))
    past.exchange.order(Fault(.internalError, on: .sinaHistory, symbols: [lost]))
    let arguments =
      ["backfill"] + symbols + ["--from", "\(past.history.days[0])", "--timeframe", "1m"]
    let first = try past.run(arguments)
    #expect(first.status == 75)
    #expect(first.errors.contains("1 of 3 chunks left: rerun with --resume"))
    past.exchange.cancelFaults()
    let second = try past.run(arguments + ["--resume"])
    #expect(second.status == 0 && second.errors.contains("1 of 3 chunks to do"))
    let instruments = try past.database.value(
      "select count(distinct instrument_id) from candle where timeframe = 1")
    #expect(instruments == "3")
  }

  @Test func `believes the bars of a year whose days the daemon learnt`() throws {
    let past = try Past()
    let newYear = TradingCalendar.shanghai.lastDay.advanced(by: 1)
    let sessions = RecentSessions.invented(through: newYear)
    try past.database.execute(RecentSessions.insertion(of: sessions))
    let day = max(sessions[0], past.history.days[0])
    let bar = #""open":"4.21","high":"4.21","low":"4.21","close":"4.21","volume":"100""#
    let server = try CannedServer(#"[{"day":"\#(day) 10:30:00",\#(bar)}]"#)
    defer { server.stop() }
    let run = try past.run(
      ["backfill", "sh600519", "--from", "\(past.history.days[0])", "--timeframe", "60m"],
      server: server.url)
    #expect(run.status == 0 && run.errors.contains("1 of 1 chunk stored"), "\(run.errors)")
  }

  @Test func `has nothing to do where all of it lies in the future`() throws {
    let past = try Past()
    let keys = try Self.file("PKTEST0001 secret-0001\n", mode: 0o600)
    let day = Past.now.shanghaiDay.advanced(by: 2)
    let run = try past.run([
      "backfill", "AAPL", "--from", "\(day)", "--to", "\(day)", "--source", "alpaca_iex",
      "--set", "alpaca.key_file=\(keys)", "--set", "alpaca.base=\(past.exchange.url)",
      "--set", "alpaca.trading_base=\(past.exchange.url)",
    ])
    #expect(run.status == 0 && run.errors.contains("0 of 1 chunk to do"), "\(run.errors)")
    #expect(past.exchange.requestsAnswered == 0)
  }

  @Test func `plans without a database, and writes nothing`() throws {
    let folder = try PrivateCluster.freshDirectory()
    chmod(folder, 0o755)
    let arguments = [
      "--from", "2026-07-01", "--dry-run", "--resume", "--config", "/dev/null", "--set",
      "state_directory=\(folder)/state",
    ]
    let run = try BuiltBinary.run(["backfill", "sh600519"] + arguments)
    #expect(run.status == 0 && run.errors.contains("1 instrument, 1 of 1 chunk"), "\(run.errors)")
    #expect(run.errors.contains("no database is running"))
    let all = try BuiltBinary.run(["backfill", "--all"] + arguments)
    #expect(all.status == 69 && all.errors.contains("--all needs the database"), "\(all.errors)")
    #expect(access(folder + "/state", F_OK) != 0)
  }

  @Test func `leaves no server behind where it started one`() throws {
    let folder = try PrivateCluster.freshDirectory()
    // The server runs as a user of its own.
    chmod(folder, 0o755)
    let run = try BuiltBinary.run([
      "gaps", "--fill", "--config", "/dev/null", "--set", "state_directory=\(folder)",
    ])
    #expect(run.status == 0 && run.output == "no gaps\n", "\(run.errors)")
    #expect(access(folder + "/postgres/data/postmaster.pid", F_OK) != 0)
    let status = try BuiltBinary.run(["status", "--set", "state_directory=\(folder)"])
    #expect(status.status == 69)
  }

  @Test(arguments: [
    (["6005!9", "--from", "2026-07-01"], Int32(64), "6005!9: expected a symbol"),
    (["sh600519", "--from", "2026-07-02", "--to", "2026-07-01"], 64, "is after --to"),
    (["--from", "2026-07-01"], 64, "Name at least one instrument, or use --all"),
    (["sh600519", "--from", "yesterday"], 64, "yesterday"),
    (["AAPL", "--from", "2026-07-01", "--source", "sina"], 64, "sina does not know AAPL"),
    (["AAPL", "--from", "2026-07-01"], 78, "needs a key: set alpaca.key_file"),
  ])
  func `refuses a slip before anything is started`(
    arguments: [String], status: Int32, words: String
  ) throws {
    let folder = try PrivateCluster.freshDirectory()
    let run = try BuiltBinary.run(
      ["backfill"] + arguments + [
        "--config", "/dev/null", "--set", "state_directory=\(folder)",
      ])
    #expect(run.status == status && run.errors.contains(words), "\(run.errors)")
    #expect(run.output.isEmpty && access(folder + "/postgres", F_OK) != 0)
  }

  @Test func `refuses a file with keys that is missing or open to all`() throws {
    let open = try Self.file("PKID secret\n", mode: 0o644)
    for (path, status, words) in [
      (open, Int32(78), "others can read it: chmod 600"),
      ("/nonexistent/keys", 66, "/nonexistent/keys"),
    ] {
      let run = try BuiltBinary.run([
        "backfill", "AAPL", "--from", "2026-07-01", "--config", "/dev/null",
        "--set", "alpaca.key_file=\(path)",
      ])
      #expect(run.status == status && run.errors.contains(words), "\(run.errors)")
      #expect(!run.errors.contains("PKID"))
    }
  }

  @Test func `ends at once when the key is refused`() throws {
    let past = try Past()
    let keys = try Self.file("PKCANARYKEY some-long-secret\n", mode: 0o600)
    let run = try past.run([
      "backfill", "AAPL", "MSFT", "--from", "2020-01-01", "--timeframe", "1m",
      "--set", "alpaca.key_file=\(keys)", "--set", "alpaca.base=\(past.exchange.url)",
    ])
    #expect(run.status == 65 && run.errors.contains("refused the API key"), "\(run.errors)")
    #expect(past.exchange.requestsAnswered < 12)
    #expect(!run.errors.contains("CANARY") && !run.errors.contains("some-long-secret"))
  }
}

@Suite(.ownThread) struct `candled gaps` {
  @Test func `prints that there are none`() throws {
    let past = try Past()
    let run = try past.run(["gaps"])
    #expect(run.status == 0 && run.output == "no gaps\n")
  }

  @Test func `counts for somebody who may only read, and names the nearest of an unknown symbol`()
    throws
  {
    let past = try Past()
    try past.database.execute(
      "insert into candled.instrument (id, symbol, first_seen) values (1, 'sh600519', now())")
    let reader = try past.database.daemonURL().replacing("candled@", with: "candled_reader@")
    let configuration = Array("[store]\nurl = \"\(reader)\"\n[admin]\nlisten = \"\"\n".utf8)
    let arguments = ["--config", "/dev/stdin", "--set", "state_directory=\(past.folder)"]
    let run = try BuiltBinary.run(["gaps"] + arguments, input: configuration)
    #expect(run.status == 0 && run.output == "no gaps\n", "\(run.errors)")
    let slip = try BuiltBinary.run(["gaps", "sh600591"] + arguments, input: configuration)
    #expect(slip.status == 65 && slip.errors.contains("nearest known: sh600519"), "\(slip.errors)")
  }

  @Test func `asks nothing of a day that the machine's clock has not come to`() throws {
    let past = try Past()
    let symbol = past.symbols(1)[0]
    let day = Past.now.shanghaiDay.advanced(by: 3)
    try past.database.execute(
      """
      insert into candled.instrument (id, symbol, first_seen) values (1, '\(symbol)', now());
      insert into candled.gap
        (instrument_id, trading_day, from_at, to_at, volume, turnover, cause, known_from)
      values (1, '\(day)', '\(day) 09:31+08', '\(day) 09:32+08', 7, 70, 2, now())
      """)
    let fill = try past.run(["gaps", symbol, "--fill"])
    #expect(fill.status == 0, "\(fill.errors)")
    #expect(fill.errors.contains("requesting the minutes of 0 instruments"), "\(fill.errors)")
    #expect(fill.output.hasPrefix("open ") && past.exchange.requestsAnswered == 0)
  }

  /// An afternoon with an outage in it, observed from 14:40 on.
  private func hole(in past: Past, _ symbols: [String]) throws {
    let day = past.history.days[0]
    let server = try ExchangeServer(history: past.history, from: day)
    defer { server.stop() }
    let outage = Timestamp(day: day, secondOfDay: 14 * 3600 + 45 * 60)
    server.order(.silence(from: outage, to: outage.adding(seconds: 240)))
    let run = try BuiltBinary.run(
      [
        "run", "--config", "/dev/stdin", "--set", "state_directory=\(past.folder)",
        "--set", "quotes.sources=sina", "--set", "sina.base=\(server.url)",
        "--set", "quotes.overview=",
        "--set", "sina.history_base=\(server.url)", "--set", "sina.list_base=\(server.url)",
        "--set", "sina.reference_base=\(server.url)", "--set", "repair.requests_per_night=0",
        "--set", "quotes.symbols=\((["sh000001"] + symbols).joined(separator: ","))",
        "--set", "clock.mode=stepped", "--set", "clock.start=\(day)T14:40:00+08:00",
        "--set", "clock.stop=\(day)T15:45:00+08:00",
      ], input: SimulatedMorning.configuration(past.database))
    #expect(run.status == 0, "\(run.errors)")
  }

  @Test func `shows what is open and finds it again`() throws {
    let past = try Past()
    let symbols = past.symbols(3)
    try hole(in: past, symbols)
    let before = try past.run(["gaps"])
    #expect(before.status == 0 && before.output.contains("open outage"), "\(before.output)")
    let fill = try past.run(["gaps", symbols[0], "--fill"])
    #expect(fill.status == 0, "\(fill.errors)")
    #expect(fill.errors.contains("requesting the minutes of 1 instrument\n"))
    #expect(!fill.output.contains("open") && fill.output.contains("closed outage"))
    #expect(!(fill.output + fill.errors).contains("\u{1B}"))
    let others = try past.run(["gaps", symbols[1]])
    #expect(others.output.contains("open outage"))
    let balanced = try past.database.value(
      "select count(*) from day_audit where balanced is not true")
    #expect(balanced == "0")
  }
}
