import ExchangeSimulator
import Foundation
import Glibc
import Market
import Platform
import Postgres
import Store
import TestSupport

/// `candled schema recluster` killed with SIGKILL again and again, beside a daemon that writes a
/// day at 60×, a writer that revises candles of the closed months, and readers that compare those
/// months with a table beside them to which the same was done. Nobody may wait for a lock for a
/// second, and in the end both months lie in key order and have the rows they should have.
package struct ReclusterTrial {
  package var binary: String
  package var kills: Int
  /// Of the two closed months.
  package var instruments: Int
  package var liveInstruments: Int
  package var seed: UInt64
  package var speed = 60
  /// Second of the daemon's day at which it ends.
  package var liveStop = TrialDay.stop

  /// Past each kill, from a run that has not begun its work to one in the middle of an index.
  private static let runMicroseconds: ClosedRange<UInt32> = 100_000...2_500_000
  private static let secondsMax = 3_600

  package init(
    binary: String, kills: Int, instruments: Int, liveInstruments: Int, seed: UInt64
  ) {
    self.binary = binary
    self.kills = kills
    self.instruments = instruments
    self.liveInstruments = liveInstruments
    self.seed = seed
  }

  package func run() throws -> ChaosVerdict {
    let world = try TrialDay("recluster", seed: seed, instruments: liveInstruments)
    defer { world.end() }
    var verdict = ChaosVerdict()
    let months = ClosedMonths(url: world.url)
    verdict.figures.append(try months.fill(instruments: instruments))
    var settings = try world.settings(stop: liveStop)
    settings.scale(by: speed)
    settings["log.level"] = "\"info\""
    let daemon = try world.daemon(settings, binary: binary)
    try daemon.start()
    let others = try ReclusterOthers(months, seed: seed)
    let start = Date()
    let (killed, again) = try killAndResume(world, months)
    verdict.figures.append(
      "\(killed) kills of candled schema recluster; months begun again when all were in order "
        + "too soon: \(again); \(Int(Date().timeIntervalSince(start))) s")
    if killed < kills { verdict.complaints.append("only \(killed) of \(kills) kills") }
    try daemon.finish(secondsMax: 900)
    let account = others.leave()
    verdict.figures.append(account.line)
    verdict.complaints += account.complaints
    let day = StoredDay(url: world.url, day: world.day)
    let (candles, certificates) = (try day.candles(), try day.certificates())
    verdict.figures.append(
      "the daemon's day: \(candles.count) candles, \(certificates.count) certificates")
    let unbalanced = certificates.filter { $0.exchangeVolume != nil && !$0.isBalanced }
    verdict.complaints += unbalanced.map { "\($0.symbol): the certificate does not balance" }
    if candles.isEmpty { verdict.complaints.append("the daemon wrote nothing") }
    verdict.complaints += try lockWaits(in: daemon)
    verdict.complaints += try months.complaints()
    return verdict
  }

  /// - Returns: kills, and how often a month had to be disordered for the next.
  private func killAndResume(
    _ world: TrialDay, _ months: ClosedMonths
  ) throws -> (kills: Int, again: Int) {
    var settings = try world.settings(daemon: "recluster")
    settings["store.data_directory"] = "\"/tmp\""
    let command = try DaemonProcess(
      binary: binary, folder: world.folder + "/recluster", settings: settings,
      arguments: ["schema", "recluster"])
    var random = SplitMix(seed: seed)
    let deadline = Date().addingTimeInterval(TimeInterval(Self.secondsMax))
    var (killed, again) = (0, 0)
    while Date() < deadline {
      try command.start()
      if killed < kills {
        usleep(UInt32.random(in: Self.runMicroseconds, using: &random))
        if command.isRunning {
          command.kill()
          killed += 1
          continue
        }
      }
      let status = command.end(secondsMax: 600)
      if status == 0, killed == kills { return (killed, again) }
      if status == 0 {
        again += 1
        try months.beginAgain()
      } else {
        // The server goes on with the step of the one that was killed.
        usleep(100_000)
      }
    }
    throw TrialFailure("not in order after \(Self.secondsMax) s: \(command.logTail)")
  }

  /// Its sessions give up a lock they wait a second for.
  private func lockWaits(in daemon: DaemonProcess) throws -> [String] {
    let text = try String(contentsOfFile: daemon.log, encoding: .utf8)
    let lines = text.split(separator: "\n").filter { $0.contains(StoreError.lockNotAvailable) }
    return lines.filter { !$0.contains("recluster") }.map { "the daemon waited: \($0)" }
  }
}

/// Two closed months as a market writes them, minute by minute, and the table beside them.
struct ClosedMonths: Sendable {
  let url: String
  static let months = ["2026-04", "2026-05"]

  private func value(_ sql: String) throws -> String {
    try SQLProbe.run("set search_path to candled; \(sql)", url: url).first?.first.flatMap { $0 }
      ?? ""
  }

  /// - Returns: what was made, for people.
  func fill(instruments: Int) throws -> String {
    let sql = """
      set search_path to candled;
      set statement_timeout = 0;
      select ensure_partition('2026-04-01'), ensure_partition('2026-05-01');
      insert into instrument (id, symbol, first_seen)
      select i, 'sh' || 690000 + i, now()
      from generate_series(1, \(instruments)) i;
      insert into candle
        (opened_at, closed_at, known_from, instrument_id, trading_day, timeframe, flags, source,
        open, high, low, close, volume, turnover)
      select opened_at, opened_at + length, opened_at + length, i, day, timeframe, 0, 1,
        10.12 + i, 10.34 + i, 9.5 + i, 10.2 + i, 100 * ((i * 7919 + minute * 31) % 9973),
        1234567.89
      from (
        select d::date as day
        from generate_series('2026-04-01'::timestamp, '2026-05-29', interval '1 day') d
        where extract(isodow from d) < 6
      ) d
      cross join lateral (
        select 1 as timeframe, interval '1 minute' as length, m as minute,
          (day + time '09:30') at time zone 'Asia/Shanghai' + m * interval '1 minute' as opened_at
        from generate_series(0, 239) m
        union all
        select 240, interval '5 hours', 0, (day + time '09:30') at time zone 'Asia/Shanghai'
      ) c
      cross join generate_series(1, \(instruments)) i
      order by day, timeframe = 240, opened_at, (i * 7919) % 10007;
      create table public.expected as select * from candle;
      alter table public.expected add primary key (instrument_id, timeframe, opened_at);
      vacuum analyze candle
      """
    // A statement a transaction: some may be in none.
    let connection = try PostgresConnection(url: url, application: "trial")
    for statement in sql.components(separatedBy: ";\n") {
      try connection.execute(statement, context: "fill")
    }
    try connection.execute(
      """
      do $$
      begin
        execute format('alter database %I set lock_timeout = ''1s''', current_database());
      end
      $$
      """, context: "fill")
    let count = try value("select count(*) from candle")
    let megabytes = try value(
      "select (sum(pg_total_relation_size(inhrelid)) / 1e6)::bigint from pg_inherits "
        + "where inhparent = 'candle'::regclass")
    return "\(count) candles in \(Self.months.joined(separator: " and ")), \(megabytes) MB"
  }

  /// As if it had grown.
  func beginAgain() throws {
    _ = try value("update candle_month set ordered_at = null where copied is null")
  }

  func complaints() throws -> [String] {
    var complaints: [String] = []
    let differing = """
      select count(*)
      from (select * from candle where opened_at < '2026-06-01') c
      full join public.expected e using (instrument_id, timeframe, opened_at)
      where c is distinct from e
      """
    let hashes = try SQLProbe.run(
      "set search_path to candled; set statement_timeout = 0; "
        + "select (\(Self.hash(of: "candle"))), (\(Self.hash(of: "public.expected")))", url: url)
    if hashes.first?[0] != hashes.first?[1] {
      complaints.append("\(try value(differing)) candles differ from what was written")
    }
    for month in Self.months {
      let name = "candle_\(month.replacing("-", with: "_"))"
      if try value(
        "select ordered_at is not null and copied is null from candle_month "
          + "where month = '\(month)-01'") != "t"
      {
        complaints.append("\(month) is not in order")
      }
      let pages = try value(
        """
        select count(distinct (ctid::text::point)[0])
        from \(name)
        where instrument_id = 1
          and timeframe = 1
        """)
      let days = try value("select count(distinct trading_day) from \(name)")
      // Four or five pages a day, and one for each revision.
      if (Int(pages) ?? .max) > 12 * (Int(days) ?? 0) {
        complaints.append("\(month): an instrument's minutes of \(days) days lie on \(pages) pages")
      }
    }
    let left = try value("select count(*) from pg_class where relname ~ '_ordered'")
    if left != "0" { complaints.append("\(left) copies are left") }
    return complaints
  }

  /// Of the closed months, whatever the order.
  static func hash(of table: String) -> String {
    """
    select count(*) || ' ' || sum(hashtextextended(c::text, 0)::numeric)
    from \(table) c
    where opened_at < '2026-06-01'
    """
  }
}
