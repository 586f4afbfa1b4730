import Foundation
import Market
import TestSupport
import TestTraits
import Testing

@Suite(.ownThread) struct `candled run` {
  @Test func `runs a stepped morning to its end and exits 0`() throws {
    let morning = try SimulatedMorning.get()
    #expect(morning.run.status == 0, "\(morning.run.errors)")
    let minutes = try morning.database.value(
      "select count(distinct opened_at) from candle where timeframe = 1")
    // 09:30 to 09:39; the minute that ends with the run is still within its grace.
    #expect(minutes == "9" || minutes == "10")
    #expect(try morning.database.value("select count(*) from gap") == "0")
  }
}

@Suite(.ownThread) struct `candled status` {
  @Test func `prints where the database stands`() throws {
    let run = try SimulatedMorning.get().ask("status", "--json")
    #expect(run.status == 0)
    let status = try Parsed.object(run.output)
    #expect(status["instruments"] as? Int == SimulatedMorning.instruments)
    #expect(status["trading_day"] as? String == "2026-07-06")
    #expect((status["candles"] as? Int ?? 0) > 0)
    #expect((status["position"] as? Int ?? 0) > 0)
    #expect((status["last_seq"] as? Int ?? 0) > 0)
    // Other tests of the cluster notify too: a share of its queue, seldom more than nothing.
    let queue = try #require(status["notification_queue"] as? String).first
    #expect(queue == "0")
    let health = try #require(status["health"] as? [[String: Any]])
    #expect(health.contains { $0["source"] as? String == "sina" })
  }

  @Test func `exits 69 where there is no database`() throws {
    let run = try BuiltBinary.run(["status", "--set", "state_directory=/tmp/candled-none"])
    #expect(run.status == 69)
    #expect(run.output.isEmpty)
  }
}

@Suite(.ownThread) struct `candled query` {
  @Test(arguments: ["sh000001", "SH000001", "000001.SH"])
  func `gives the candles of any spelling`(spelling: String) throws {
    let run = try SimulatedMorning.get().ask("query", "candles", spelling, "--json")
    #expect(run.status == 0, "\(run.errors)")
    let candles = try Parsed.objects(run.output)
    let opened = candles.compactMap { $0["opened_at"] as? String }
    #expect(opened.first == "2026-07-06T09:30:00+08:00")
    #expect(opened == opened.sorted())
    #expect(candles.allSatisfy { $0["close"] is String })
  }

  @Test func `takes Shanghai times and a limit`() throws {
    let run = try SimulatedMorning.get().ask(
      "query", "candles", "sh000001", "--from", "2026-07-06 09:32",
      "--to", "2026-07-06T01:38:00Z", "--limit", "2", "--format", "csv")
    #expect(run.status == 0, "\(run.errors)")
    let lines = run.output.split(separator: "\n")
    #expect(lines.first?.hasPrefix("opened_at,closed_at,") == true)
    #expect(
      lines.dropFirst().map { $0.prefix(16) } == ["2026-07-06T09:36", "2026-07-06T09:37"])
  }

  @Test func `rolls minutes up, fills and asks as of a time`() throws {
    let morning = try SimulatedMorning.get()
    func candles(_ options: String...) throws -> [[String: Any]] {
      let run = try SimulatedMorning.ask(
        morning.database, ["query", "candles", "sh000001", "--json"] + options)
      #expect(run.status == 0, "\(run.errors)")
      return try Parsed.objects(run.output)
    }
    let fives = try candles("--timeframe", "5m")
    #expect(
      fives.compactMap { $0["opened_at"] as? String }
        == ["2026-07-06T09:30:00+08:00", "2026-07-06T09:35:00+08:00"])
    #expect(fives.first?["flags"] as? [String] == [])
    #expect(fives.first?["source"] as? String == "sina")
    let minutes = try candles()
    #expect(try candles("--fill", "flat").count == minutes.count)
    let known = try candles("--as-of", "2026-07-06 09:33")
    #expect((1..<minutes.count).contains(known.count))
    #expect(try candles("--as-of", "2026-07-05").isEmpty)
  }

  @Test func `refuses adjusted prices nobody has factors for and exits 65`() throws {
    let run = try SimulatedMorning.get().ask("query", "candles", "sh000001", "--adjust", "qfq")
    #expect(run.status == 65)
    #expect(run.output.isEmpty)
    #expect(run.errors.contains("no factors of sh000001 are known"))
  }

  @Test(arguments: [["--adjust", "qfq:soon"], ["--fill", "linear"], ["--source", "reuters"]])
  func `takes a slip in an option for a usage error`(option: [String]) throws {
    let run = try BuiltBinary.run(["query", "candles", "sh000001"] + option)
    #expect(run.status == 64)
    #expect(run.errors.contains(option[1]))
  }

  @Test func `prints where a candle came from`() throws {
    let run = try SimulatedMorning.get().ask(
      "query", "why", "sh000001", "2026-07-06 09:31", "--format", "jsonl")
    #expect(run.status == 0, "\(run.errors)")
    let facts = try Parsed.lines(run.output)
    #expect(facts.compactMap { $0["what"] as? String } == ["candle", "change", "served"])
    let change = try #require(facts.dropLast().last?["detail"] as? String)
    #expect(change.contains("journal position"))
  }

  @Test func `names the nearest instruments for an unknown one and exits 65`() throws {
    let run = try SimulatedMorning.get().ask("query", "latest", "000001")
    #expect(run.status == 65)
    #expect(run.output.isEmpty)
    #expect(run.errors.contains("nearest known: sh000001"))
  }

  @Test(arguments: [
    ("sh00001", "nearest known: sh000001"), ("上证指数", "nearest known: sh000001\n"),
    ("typo", "`candled query instruments --like PART`"),
  ])
  func `names what is near by symbol or name, and nothing that is far`(
    spelling: String, hint: String
  ) throws {
    let run = try SimulatedMorning.get().ask("query", "candles", spelling)
    #expect(run.status == 65 && run.errors.contains(hint), "\(run.errors)")
  }

  @Test func `gives the latest quotes, one or all`() throws {
    let morning = try SimulatedMorning.get()
    let all = try Parsed.objects(morning.ask("query", "latest", "--json").output)
    #expect(
      all.compactMap { $0["symbol"] as? String } == morning.symbols.map(\.description).sorted())
    let one = try Parsed.objects(morning.ask("query", "latest", "sh000001", "--json").output)
    #expect(one.count == 1)
  }

  @Test func `shows no price and no change of what has not traded, as the view does`() throws {
    let morning = try SimulatedMorning.get()
    let rows = try Parsed.objects(morning.ask("query", "latest", "--json").output)
    let untraded = rows.filter { $0["volume"] as? String == "0" }
    for row in rows {
      let hasTraded = row["last"] is String
      #expect((row["change"] is String) == hasTraded)
      #expect((row["percent_change"] is String) == hasTraded)
      #expect(row["last"] as? String != "0.000" && row["trading"] is String)
    }
    // One of the simulated instruments is halted all day.
    #expect(untraded.contains { $0["last"] is NSNull }, "\(untraded)")
    let traded = try #require(rows.first { $0["last"] is String })
    let symbol = try #require(traded["symbol"] as? String)
    #expect(
      traded["percent_change"] as? String
        == (try morning.database.value(
          "select percent_change from candled.latest where symbol = '\(symbol)'")))
  }

  @Test func `takes an hour by either name`() throws {
    for name in ["60m", "1h"] {
      let run = try SimulatedMorning.get().ask(
        "query", "candles", "sh000001", "--timeframe", name, "--json")
      #expect(try run.status == 0 && Parsed.objects(run.output).count == 1, "\(run.errors)")
    }
  }

  @Test func `finds instruments by a part of their symbol`() throws {
    let run = try SimulatedMorning.get().ask("query", "instruments", "--like", "SH0", "--json")
    let symbols = try Parsed.objects(run.output).compactMap { $0["symbol"] as? String }
    #expect(symbols.contains("sh000001"))
    #expect(symbols.allSatisfy { $0.contains("sh0") })
  }

  @Test func `takes an hour by both of its names`() throws {
    let morning = try SimulatedMorning.get()
    let hours = try ["60m", "1h"].map {
      try morning.ask("query", "candles", "sh000001", "--timeframe", $0, "--json").output
    }
    #expect(hours[0] == hours[1] && !hours[0].isEmpty)
  }

  @Test func `latest shows no price of what has not traded`() throws {
    let database = try StoreDatabase()
    try database.execute(
      """
      insert into candled.instrument (id, symbol, first_seen) values (1, 'sh600519', now());
      insert into candled.quote
        (changed_seq, quoted_at, received_at, instrument_id, trading_day, status, trading, open,
        previous_close, last, high, low, bid, ask, volume, turnover, bids, asks, book_state)
      values (1, now(), now(), 1, '2026-07-06', 3, 1, 0, 8, 0, 0, 0, 0, 0, 0, 0, '', '', '')
      """)
    let rows = try Parsed.objects(
      SimulatedMorning.ask(database, ["query", "latest", "--json"]).output)
    let row = try #require(rows.first)
    #expect(row["trading"] as? String == "halted" && row["previous_close"] as? String == "8")
    for name in ["last", "change", "open", "high", "low"] {
      #expect(row[name] is NSNull, "\(name)")
    }
  }

  @Test(arguments: [["gaps"], ["query", "gaps"], ["query", "candles", "sh000001"]])
  func `asks as one who may only read`(_ command: [String]) throws {
    let morning = try SimulatedMorning.get()
    let reader = "query_reader"
    try morning.database.execute(
      """
      do $$
      begin
        create role \(reader) login in role candled_reader;
      exception
        when duplicate_object or unique_violation then null;
      end
      $$
      """)
    let run = try SimulatedMorning.ask(morning.database, command, role: reader)
    #expect(run.status == 0, "\(run.errors)")
  }

  @Test(arguments: ["gaps", "audit", "disagreements"])
  func `gives an empty result where there is nothing yet`(what: String) throws {
    let run = try SimulatedMorning.get().ask("query", what, "--date", "2026-07-06", "--json")
    #expect(run.status == 0, "\(run.errors)")
    #expect(try Parsed.objects(run.output).isEmpty)
  }
}

@Suite(.ownThread) struct `candled watch` {
  @Test func `begins with the latest quotes`() throws {
    let run = try SimulatedMorning.get().ask("watch", "--json", "--timeout", "10")
    #expect(run.status == 0, "\(run.errors)")
    let kinds = try Parsed.lines(run.output).compactMap { $0["kind"] as? String }
    #expect(kinds == Array(repeating: "quote", count: SimulatedMorning.instruments))
  }

  @Test func `goes on behind a change and ends after a count`() throws {
    let run = try SimulatedMorning.get().ask(
      "watch", "sh000001", "--json", "--after", "0", "--count", "5")
    #expect(run.status == 0, "\(run.errors)")
    let lines = try Parsed.lines(run.output)
    #expect(lines.count == 5)
    let sequence = lines.compactMap { $0["seq"] as? Int }
    #expect(sequence == sequence.sorted())
    let candle = try #require(lines.first { $0["kind"] as? String == "candle" })
    #expect(candle["symbol"] as? String == "sh000001")
  }
}
