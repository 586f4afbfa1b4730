import Commits
import Foundation
import Market
import Postgres
import Store
import TestSupport
import TestTraits
import Testing

@testable import Gateway
@testable import Reader

@Suite(.ownThread) struct MarketAnswerTests {
  private func symbols(_ fixture: ServedFixture, _ query: String) async throws -> [String] {
    let reply = try await fixture.get("/v1/stocks\(query)")
    #expect(reply.status == 200, "\(reply.body)")
    return try (reply.json["stocks"] as? [[String: Any]] ?? []).compactMap {
      ($0["symbol"] as? String).map { String($0.suffix(1)) }
    }
  }

  @Test("the arguments of a list narrow and order it together")
  func lists() async throws {
    let fixture = try await ServedFixture()
    let byPrice = try await symbols(fixture, "?sort=price")
    let cases = [
      ("", ["0", "1", "2"]), ("?order=desc", ["2", "1", "0"]),
      ("?symbols=sh600002,sh600000", ["2", "0"]), ("?symbols=sh600002,sh600000&limit=1", ["2"]),
      ("?symbols=sh600002,nothing,sh600000&sort=symbol", ["0", "2"]), ("?q=600001", ["1"]),
      ("?q=6000&order=desc", ["2", "1", "0"]), ("?q=60000&symbols=sh600001,AAPL", ["1"]),
      ("?q=nothing&symbols=sh600001", []), ("?q=6000&sort=price", byPrice),
    ]
    for (query, expected) in cases {
      #expect(try await symbols(fixture, query) == expected, "\(query)")
    }
  }

  @Test("pages of named symbols hold each once, in their order")
  func namedPages() async throws {
    let fixture = try await ServedFixture()
    let query = "?symbols=sh600002,sh600000,sh600001&limit=2"
    #expect(try await symbols(fixture, query) == ["2", "0"])
    let cursor = try await fixture.get("/v1/stocks\(query)").json["nextCursor"] as? String
    #expect(try await symbols(fixture, "\(query)&cursor=\(try #require(cursor))") == ["1"])
    let other = try await fixture.get("/v1/stocks?q=6000&cursor=\(try #require(cursor))")
    #expect(other.status == 404)
  }

  @Test("pages of gaps and disagreements hold every row once", arguments: [1, 3, 10, 11, 12])
  func ledgerPages(limit: Int) async throws {
    let gateway = try await WholeGateway()
    let lists = [
      ("/v1/stocks/sh600000/gaps", "gaps", 11), ("/v1/disagreements?day=2026-07-06", "", 10),
      ("/v1/disagreements?symbol=sh600001", "", 10),
    ]
    for (path, given, count) in lists {
      let name = given.isEmpty ? "disagreements" : given
      var found: [String] = []
      var cursor: String?
      repeat {
        let separator = path.contains("?") ? "&" : "?"
        let reply = try await gateway.ask(
          path + "\(separator)limit=\(limit)" + (cursor.map { "&cursor=\($0)" } ?? ""))
        let rows = try #require(try reply.json[name] as? [[String: Any]])
        #expect(rows.count <= limit)
        found += rows.compactMap { ($0["openedAt"] ?? $0["from"]) as? String }
        cursor = try reply.json["nextCursor"] as? String
      } while cursor != nil
      #expect(found.count == count && found == found.sorted(), "\(path)")
      #expect(Set(found).count == count, "\(path)")
    }
  }

  @Test("the phase of the session is by the hours of its day")
  func phases() throws {
    let rules = RuleFile.parse("cn,,,hours,09:30-11:30 13:00-16:00,2029-01-08,,SSE").rules
    let book = RuleBook(operators: rules)
    let times: [(Int, Int)] = [
      (9, 0), (9, 20), (9, 27), (9, 30), (12, 0), (14, 59), (15, 0), (15, 10), (16, 0),
    ]
    func phases(_ text: String) throws -> [SessionPhase] {
      let market = book.mainlandChina(on: try #require(TradingDay(text)))
      return times.map { SessionPhase(second: $0.0 * 3_600 + $0.1 * 60, of: market) }
    }
    let morning: [SessionPhase] = [.preOpen, .auction, .preOpen, .open, .lunch, .open]
    #expect(try phases("2029-01-05") == morning + [.closed, .afterHours, .closed])
    #expect(try phases("2029-01-08") == morning + [.open, .open, .closed])
  }

  @Test("the phase of the session is by the daemon's clock, which may show another day")
  func daemonClock() async throws {
    let fixture = try await ServedFixture()
    let session = try await fixture.get("/v1/market").json["session"] as? [String: Any]
    // The fixture's last commit is known at 11:29 of a Monday.
    #expect(session?["phase"] as? String == "open")
    var state = fixture.gateway.memory.state
    let committedAt = try #require(state.committedAt)
    #expect(state.clock(at: committedAt) == state.knownAt)
    let later = state.clock(at: committedAt.adding(seconds: 3_600))
    #expect(later == state.knownAt?.adding(seconds: 3_600))
    state.knownAt = nil
    #expect(state.clock(at: committedAt) == committedAt)
  }

  @Test("the highest and lowest price of 52 weeks are those of the view latest")
  func year() async throws {
    let fixture = try await ServedFixture { writer in
      var samples = StoreSamples(seed: 8)
      let days = [400, 363, 200, 100, 3].map { back in
        var candle = samples.candle(0, minute: 0)
        candle.timeframe = .day1
        candle.tradingDay = StoreSamples.day.advanced(by: -back)
        candle.openedAt = Timestamp(day: candle.tradingDay, secondOfDay: Session.morningOpen)
        candle.closedAt = candle.openedAt.adding(seconds: 19_800)
        return candle
      }
      var commit = samples.sweep(position: 1, instruments: 2)
      commit.candles = days
      commit.reference.factors = [
        FactorBatch(
          source: .sina,
          factors: ["1900-01-01", "2024-05-06", "2026-05-06"].enumerated().compactMap {
            place, day in
            TradingDay(day).map {
              AdjustmentFactor(
                symbol: StoreSamples.symbol(0), kind: .hfq, from: $0,
                factor: ExactDecimal(Int64(place + 1)))
            }
          })
      ]
      _ = try await writer.commit(commit)
      // A quote of the next day: the window moves.
      var next = samples.sweep(position: 2, instruments: 2)
      for index in next.quotes.indices {
        next.quotes[index].quote.tradingDay = StoreSamples.day.advanced(by: 1)
        next.quotes[index].forming = nil
      }
      next.knownAt = next.knownAt.adding(seconds: 86_400)
      _ = try await writer.commit(next)
      return 2
    }
    let stored = try fixture.database.execute(
      "select high_52w::text, low_52w::text, ex_day::text from candled.latest order by symbol")
    #expect(stored.map { $0.last ?? nil } == ["2026-05-06", nil])
    var served: [[String?]] = []
    for symbol in ["sh600000", "sh600001"] {
      let stock = try await fixture.get("/v1/stocks/\(symbol)").json
      served.append(
        ["yearHigh", "yearLow", "yearExDay"].map { stock[$0] as? String })
    }
    #expect(served == stored && stored.count == 2)
  }

  @Test("the numbers of a quote and of the ledger are the database's own text")
  func decimals() async throws {
    let gateway = try await WholeGateway()
    let stock = try await gateway.ask("/v1/stocks/sh600001").json
    let names = [
      "currentPrice", "change", "changePercent", "openPrice", "highPrice", "lowPrice",
      "previousClose", "volume", "turnover", "bidPrice", "askPrice", "yearHigh", "yearLow",
    ]
    let latest = try gateway.served.database.execute(
      """
      select last::text, change::text, percent_change::text, open::text, high::text, low::text,
        previous_close::text, volume::text, turnover::text, bid::text, ask::text, high_52w::text,
        low_52w::text, bid_prices[1]::text, ask_volumes[1]::text
      from candled.latest where symbol = 'sh600001'
      """)
    let bid = (stock["bids"] as? [[String: String]])?.first?["price"]
    let ask = (stock["asks"] as? [[String: String]])?.first?["volume"]
    #expect(latest == [names.map { stock[$0] as? String } + [bid, ask]])
    try await expectRows(
      of: gateway, at: "/v1/stocks/sh600000/gaps", named: "gaps", fields: ["volume", "turnover"],
      sql: "select volume::text, turnover::text from candled.gaps order by from_at, id")
    try await expectRows(
      of: gateway, at: "/v1/disagreements", named: "disagreements", fields: ["ours", "theirs"],
      sql: "select ours::text, theirs::text from candled.disagreements order by opened_at, id")
    try await expectRows(
      of: gateway, at: "/v1/stocks/sh600000/revisions", named: "revisions",
      fields: ["open", "high", "low", "close", "volume", "turnover"],
      sql: """
        select open::text, high::text, low::text, close::text, volume::text, turnover::text
        from candled.revisions
        """)
    try await expectRows(
      of: gateway, at: "/v1/coverage?day=2026-07-06", named: "coverage",
      fields: ["minuteVolume", "gapVolume"],
      sql: """
        select minute_volume::text, gap_volume::text from candled.coverage
        where trading_day = '2026-07-06' order by symbol, source
        """)
  }

  @Test("the gateway's role may ask all that it is asked")
  func rights() async throws {
    let gateway = try await WholeGateway()
    let database = gateway.served.database
    let reader = try StoreReader(url: database.url(role: DatabaseRole.app))
    let series = try #require(try reader.series().first { $0.symbol == StoreSamples.symbol(0) })
    for interval in HistoryRequest.intervals {
      let query = CandleQuery(series.symbol, timeframe: interval)
      #expect(try !reader.page(query, points: 4, forming: series.id).candles.isEmpty)
    }
    #expect(try reader.gaps(of: series.id, limit: 5).count == 5)
    #expect(try reader.disagreements(day: nil, symbol: nil, after: nil, limit: 5).count == 5)
    #expect(try reader.snapshot().knownAt != nil)
  }

  private func expectRows(
    of gateway: WholeGateway, at path: String, named name: String, fields: [String], sql: String
  ) async throws {
    let rows = try await gateway.ask(path).json[name] as? [[String: Any]] ?? []
    let served = rows.map { row in fields.map { row[$0] as? String } }
    let stored = try gateway.served.database.execute(sql)
    #expect(served == stored && !stored.isEmpty, "\(path)")
  }
}
