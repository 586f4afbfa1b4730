import Market
import TestSupport

/// Judges each day of the ten years: what must hold of all, and what of the day's events.
struct DecadeVerifier {
  private let database: StoreDatabase
  private let isShort: Bool
  private var complaints: [String] = []
  private var days = 0
  private var candles = 0
  /// Of each event by what the world does: its days, and what was wrong on them.
  private var found: [String: (days: Int, complaints: [String])] = [:]
  /// Days that were missed in part, with the event that did it: weeks and months may lack them.
  private var excused: Set<TradingDay>
  private var lastDay: TradingDay?
  private var costs: [DecadeCosts] = []
  private var commits: [Int] = []

  /// - Parameters:
  ///   - isShort: most days are left out, so that no week is whole.
  ///   - excused: days that nobody saw.
  init(database: StoreDatabase, isShort: Bool, excused: Set<TradingDay>) {
    (self.database, self.isShort, self.excused) = (database, isShort, excused)
  }

  mutating func verify(_ facts: DecadeFacts, events: [DecadeEvent]) throws {
    days += 1
    var wrong: [String] = []
    if facts.plan.mayMiss { excused.insert(facts.day) }
    if facts.plan.trades {
      wrong += try balance(facts)
      if !facts.plan.mayMiss { wrong += try compare(facts) }
      wrong += try compareReplay(facts)
    } else {
      let rows = try facts.count(
        "select count(*) from candle where \(Self.within(facts.day)) and source = 1")
      if rows > 0 { wrong.append("\(rows) candles of a day without trading") }
    }
    if let lastDay, facts.plan.trades, !isShort {
      wrong += try periods(before: facts.day, after: lastDay)
    }
    if facts.plan.trades { lastDay = facts.day }
    if events.isEmpty, facts.plan.cadenceSeconds > 60 { commits += facts.commits }
    complaints += wrong.map { "\(facts.day): \($0)" }
    for event in events {
      let own: [String]
      do {
        own = try event.check(facts)
      } catch let error as StoreError {
        // A question that the database cannot answer yet, as of a code that it does not know.
        own = ["\(error)"]
      }
      found[event.world, default: (0, [])].days += 1
      found[event.world]?.complaints += own.map { "\(facts.day): \($0)" }
    }
  }

  private static func within(_ day: TradingDay) -> String {
    "opened_at >= '\(day) 00:00+08' and opened_at < '\(day) 24:00+08'"
  }

  private func balance(_ facts: DecadeFacts) throws -> [String] {
    let row = try facts.rows(
      """
      select count(*), count(*) filter (where balanced is not true)
      from day_audit a join instrument i on i.id = a.instrument_id
      where trading_day = '\(facts.day)' and i.source = 1
      """)[0].map { Int($0 ?? "") ?? 0 }
    var wrong = row[1] == 0 ? [] : ["\(row[1]) certificates do not balance"]
    let expected = facts.minutes.count { !$0.value.isEmpty }
    if !facts.plan.mayMiss, row[0] < expected {
      wrong.append("\(row[0]) certificates of \(expected)")
    }
    return wrong
  }

  /// The stored minutes are those in which something traded, and none is missing.
  private mutating func compare(_ facts: DecadeFacts) throws -> [String] {
    let gaps = try facts.count(
      "select count(*) from gap where trading_day = '\(facts.day)' and known_to is null")
    var wrong = gaps == 0 ? [] : ["\(gaps) gaps"]
    var stored: [Symbol: [Int: (close: String, shares: Int64)]] = [:]
    for row in try facts.rows(
      """
      select i.symbol, extract(epoch from c.opened_at - '\(facts.day) 00:00+08')::int,
        (c.close * 1000)::bigint, c.volume::bigint
      from candle c join instrument i on i.id = c.instrument_id
      where \(Self.within(facts.day)) and timeframe = 1 and c.source = 1 and volume > 0
      """)
    {
      guard let symbol = row[0].flatMap({ Symbol($0) }), let second = row[1].flatMap(Int.init),
        let shares = row[3].flatMap(Int64.init)
      else { continue }
      stored[symbol, default: [:]][second] = (row[2] ?? "", shares)
    }
    candles += stored.values.reduce(0) { $0 + $1.count }
    for (symbol, minutes) in facts.minutes.sorted(by: { $0.key < $1.key }) {
      let found = stored[symbol] ?? [:]
      // The index moves in every sweep: its trades are in the minute of the sweep.
      if symbol == DecadeMarket.index { continue }
      let same =
        found.count == minutes.count
        && minutes.allSatisfy { second, minute in
          found[second].map { $0.close == "\(minute.close)" && $0.shares == minute.shares } == true
        }
      if !same {
        let lost = Set(minutes.keys).subtracting(found.keys).sorted().prefix(3)
        let more = Set(found.keys).subtracting(minutes.keys).sorted().prefix(3)
        let other = minutes.sorted { $0.key < $1.key }.first { second, minute in
          found[second].map { $0.close != "\(minute.close)" || $0.shares != minute.shares } == true
        }
        wrong.append(
          "\(symbol): \(found.count) minutes of \(minutes.count); lost "
            + "\(lost.map(ClockText.minute)), too many \(more.map(ClockText.minute))"
            + (other.map { "; not \($0.value.shares) at \(ClockText.minute($0.key))" } ?? ""))
      }
    }
    return wrong
  }

  /// What was stored across a restart is what an uninterrupted reading makes of the journal.
  private func compareReplay(_ facts: DecadeFacts) throws -> [String] {
    guard let replayed = facts.replayed else { return [] }
    let stored = StoredDay(url: database.url, day: facts.day)
    var wrong: [String] = []
    let candles = Dictionary(
      try stored.candles().map { (DayRows.CandleKey($0), $0) }, uniquingKeysWith: { $1 })
    let expected = replayed.candles.filter { _, candle in
      candle.source == .live && candle.tradingDay == facts.day
    }
    let different = Set(candles.keys).union(expected.keys).filter { key in
      guard let (mine, theirs) = candles[key].flatMap({ mine in expected[key].map { (mine, $0) } })
      else { return true }
      return mine.open != theirs.open || mine.high != theirs.high || mine.low != theirs.low
        || mine.close != theirs.close || mine.volume != theirs.volume
        || mine.turnover != theirs.turnover || mine.flags != theirs.flags
    }
    if let first = different.min(by: { $0.openedAt < $1.openedAt }) {
      let both = [candles[first], expected[first]].map { $0.map { "\($0)" } ?? "none" }
      wrong.append("\(different.count) candles differ after a restart: \(both)")
    }
    let (gaps, replayedGaps) = (
      try stored.gaps().count, replayed.gaps.count { $0.tradingDay == facts.day }
    )
    if gaps != replayedGaps {
      wrong.append("\(gaps) gaps, and \(replayedGaps) without a restart")
    }
    let certificates = try stored.certificates().filter { $0.symbol != DecadeAmerica.symbol }
    let others = certificates.filter { certificate in
      guard let other = replayed.certificates[certificate.symbol] else { return true }
      return certificate.exchangeVolume != other.exchangeVolume
        || certificate.minuteVolume != other.minuteVolume
        || certificate.minutesMissing != other.minutesMissing
    }
    if !others.isEmpty { wrong.append("\(others.count) certificates differ after a restart") }
    return wrong
  }

  /// Once a week or a month is over its bar is whole, unless a day of it was missed for a reason.
  private func periods(before day: TradingDay, after last: TradingDay) throws -> [String] {
    var wrong: [String] = []
    let monday = last.advanced(by: 1 - last.weekday)
    if day >= monday.advanced(by: 7) {
      wrong += try partial("1w", from: monday, through: monday.advanced(by: 6))
    }
    let (year, month, _) = last.civil
    if (day.civil.year, day.civil.month) != (year, month) {
      wrong += try partial("1mo", from: .of(year, month, 1), through: last)
    }
    return wrong
  }

  private func partial(
    _ timeframe: String, from first: TradingDay, through last: TradingDay
  ) throws -> [String] {
    guard !excused.contains(where: { first <= $0 && $0 <= last }) else { return [] }
    let row = try database.execute(
      """
      select flags & 2 <> 0 from candles('sh600000', '\(timeframe)', '\(first) 00:00+08',
        '\(last) 24:00+08')
      """)
    return row.first == ["f"]
      ? [] : ["the \(timeframe) bar from \(first) is \(row.isEmpty ? "missing" : "partial")"]
  }
}

// MARK: - Years

/// What a year left, and what was paid in it.
struct DecadeCosts {
  var year: Int
  var commitMicroseconds: Int
  var queryMicroseconds: Int
  var planningMicroseconds: Int
  var rows: [String: Int]
}

extension DecadeVerifier {
  /// Tables whose rows grow with trading, and so by as many in each year.
  private static let ledgers = [
    "candle", "candle_revision", "gap", "day_audit", "market_session", "instrument_list",
    "adjustment_factor", "disagreement", "rejected", "serving", "change", "instrument",
    "source_health", "trading_day",
  ]
  private static let newest = "select * from candles('sh600000', newest => 240)"

  mutating func endYear(_ year: Int) throws -> String {
    let rows = Dictionary(
      uniqueKeysWithValues: try Self.ledgers.map { table in
        (table, Int(try database.value("select count(*) from \(table)") ?? "") ?? 0)
      })
    try database.execute("analyze")
    let times = try database.execute(
      """
      set max_parallel_workers_per_gather = 0;
      do $$ begin for n in 1..20 loop perform count(*) from (\(Self.newest)) q; end loop; end $$;
      create temp table timed (microseconds integer, planning integer);
      do $$
      declare
        began timestamptz;
        plan json;
      begin
        for n in 1..60 loop
          began := clock_timestamp();
          perform count(*) from (\(Self.newest)) q;
          insert into timed values (extract(epoch from clock_timestamp() - began) * 1000000, null);
          execute $q$
            explain (summary, format json)
            select * from candle_1m where symbol = 'sh600000' order by opened_at desc limit 240 $q$
          into plan;
          insert into timed values (null, (plan -> 0 ->> 'Planning Time')::numeric * 1000);
        end loop;
      end $$;
      select percentile_disc(0.25) within group (order by microseconds),
        percentile_disc(0.25) within group (order by planning)
      from timed
      """
    )[0].map { Int($0 ?? "") ?? 0 }
    // Of a machine that others share, the quicker half says what work there is.
    let commit = commits.sorted()[safe: commits.count / 4] ?? 0
    let cost = DecadeCosts(
      year: year, commitMicroseconds: commit, queryMicroseconds: times[0],
      planningMicroseconds: times[1], rows: rows)
    costs.append(cost)
    commits = []
    let shown = Self.ledgers.map { "\($0) \(rows[$0] ?? 0)" }.joined(separator: ", ")
    return "\(year): commit \(commit) µs, newest 240 \(times[0]) µs, planning \(times[1]) µs; "
      + "\(complaints.count) complaints; \(shown)"
  }

  /// Of the first year and the last whole one.
  private func slower(percentMax: Int) -> [String] {
    guard let first = costs.first, let last = costs.dropLast().last, costs.count > 2 else {
      return []
    }
    return [
      ("a commit", first.commitMicroseconds, last.commitMicroseconds),
      ("newest 240", first.queryMicroseconds, last.queryMicroseconds),
      ("planning", first.planningMicroseconds, last.planningMicroseconds),
    ].compactMap { name, before, after in
      after * 100 > before * percentMax
        ? "\(name) takes \(after) µs in \(last.year), and \(before) µs in \(first.year)" : nil
    }
  }

  /// A year's growth is that of the second one, give or take what its events brought.
  private func grown() -> [String] {
    guard costs.count > 3 else { return [] }
    let growth = zip(costs, costs.dropFirst()).map { before, after in
      (after.year, after.rows.merging(before.rows) { $0 - $1 })
    }
    return growth.dropFirst().flatMap { year, rows in
      rows.filter { name, count in count > (growth[0].1[name] ?? 0) * 3 / 2 + 2_000 }
        .map { "\($0.key) grew by \($0.value) rows in \(year)" }
    }
  }

  /// - Parameter isWhole: all years were lived through, and so each event's day was.
  func verdict(
    _ events: [DecadeEvent], isWhole: Bool, slowerPercentMax: Int?
  ) -> ChaosVerdict {
    var verdict = ChaosVerdict()
    verdict.figures.append("\(days) days, \(candles) minutes with trades compared")
    var failed: [String] = []
    for event in events where !event.isMachineOff && (isWhole || found[event.world] != nil) {
      let (days, wrong) = found[event.world] ?? (0, ["its day was never reached"])
      let isHandled = wrong.isEmpty
      verdict.figures.append(
        "\(event.number) \(isHandled ? "handled" : "NOT HANDLED") (\(days) days) \(event.world): "
          + (isHandled ? event.how : wrong.prefix(3).joined(separator: "; ")))
      if !isHandled { failed.append("event \(event.number): \(wrong[0]) (\(wrong.count) in all)") }
    }
    verdict.complaints = failed + complaints + grown()
    if let slowerPercentMax { verdict.complaints += slower(percentMax: slowerPercentMax) }
    return verdict
  }
}

extension Array {
  fileprivate subscript(safe index: Int) -> Element? {
    indices.contains(index) ? self[index] : nil
  }
}
