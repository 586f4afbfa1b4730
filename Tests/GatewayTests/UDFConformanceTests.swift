import Foundation
import HTTPTypes
import Market
import TestSupport
import TestTraits
import Testing

@testable import Gateway

/// What TradingView's charting library demands of a datafeed, written from its documentation (pages
/// "UDF", "Symbology", "Time and sessions", "Marks") and from its adapter's requests.
@Suite(.ownThread) struct UDFConformanceTests {
  private struct Feed {
    let gateway: WholeGateway

    /// As the adapter: the body counts, whatever the status.
    func ask(_ path: String) async throws -> Any {
      let reply = try await gateway.ask("/udf/\(path)")
      return try JSONSerialization.jsonObject(
        with: Data(reply.body.utf8), options: .fragmentsAllowed)
    }

    func object(_ path: String) async throws -> [String: Any] {
      try #require(try await ask(path) as? [String: Any], "\(path)")
    }
  }

  private struct Bars {
    var times: [Int] = []
    var status = ""
    /// Milliseconds, as the library takes it.
    var nextTime: Int?
  }

  private static let columns = ["o", "h", "l", "c", "v"]

  /// Asks for bars and holds the answer against the protocol.
  private func bars(
    _ feed: Feed, _ symbol: String, _ resolution: String, from: Int, to: Int, countback: Int? = nil
  ) async throws -> Bars {
    let path =
      "history?symbol=\(symbol)&resolution=\(resolution)&from=\(from)&to=\(to)&currencyCode=CNY"
      + (countback.map { "&countback=\($0)" } ?? "")
    let answer = try await feed.object(path)
    let status = try #require(answer["s"] as? String)
    guard status == "ok" else {
      #expect(status == "no_data" && answer["t"] == nil, "\(path)")
      return Bars(status: status, nextTime: answer["nextTime"] as? Int)
    }
    let times = try #require(answer["t"] as? [Int], "\(path)")
    #expect(!times.isEmpty && zip(times, times.dropFirst()).allSatisfy(<), "\(path)")
    #expect(times.allSatisfy { $0 < to }, "\(path)")
    if let countback {
      #expect(times.count <= countback, "\(path)")
    } else {
      #expect(times.allSatisfy { $0 >= from }, "\(path)")
    }
    let columns = try Self.columns.map { try #require(answer[$0] as? [Double], "\(path)") }
    #expect(columns.allSatisfy { $0.count == times.count }, "\(path)")
    for index in times.indices {
      let (high, low) = (columns[1][index], columns[2][index])
      #expect(high >= low && columns[4][index] >= 0, "\(path)")
    }
    return Bars(times: times, status: status)
  }

  private func expectSession(_ times: [Int], of symbol: [String: Any], resolution: String) throws {
    let name = try #require(symbol["timezone"] as? String)
    let zone = try #require(TimeZone(identifier: name))
    var calendar = Calendar(identifier: .gregorian)
    guard Int(resolution) != nil else {
      #expect(times.allSatisfy { $0 % 86_400 == 0 }, "a day begins at 00:00 UTC")
      calendar.timeZone = .gmt
      for time in times {
        let date = Date(timeIntervalSince1970: TimeInterval(time))
        #expect(!calendar.isDateInWeekend(date), "\(date) is no trading day")
      }
      return
    }
    calendar.timeZone = zone
    let sessions = try #require(symbol["session"] as? String).split(separator: ",").map { hours in
      let ends = hours.split(separator: "-").compactMap { Int($0) }
      return (ends[0] / 100 * 60 + ends[0] % 100)..<(ends[1] / 100 * 60 + ends[1] % 100)
    }
    for time in times {
      let parts = calendar.dateComponents(
        [.hour, .minute, .second], from: Date(timeIntervalSince1970: TimeInterval(time)))
      let minute = (parts.hour ?? 0) * 60 + (parts.minute ?? 0)
      #expect(parts.second == 0 && sessions.contains { $0.contains(minute) }, "\(time)")
    }
  }

  @Test("the configuration is one the adapter works with")
  func configuration() async throws {
    let feed = Feed(gateway: try await WholeGateway())
    let config = try await feed.object("config")
    #expect(config["supports_search"] as? Bool == true)
    #expect(config["supports_group_request"] as? Bool == false)
    #expect(config["supports_marks"] as? Bool == true)
    #expect(config["supports_time"] as? Bool == true)
    #expect(
      config["supported_resolutions"] as? [String]
        == ["1", "5", "15", "30", "60", "1D", "1W", "1M"])
    let exchanges = try #require(config["exchanges"] as? [[String: String]])
    #expect(exchanges.first?["value"]?.isEmpty == true)
    #expect(exchanges.allSatisfy { Set($0.keys) == ["value", "name", "desc"] })
    let time = try #require(try await feed.ask("time") as? Int)
    let knownAt = try #require(feed.gateway.served.gateway.memory.state.knownAt)
    #expect((0...3_600).contains(time - Int(knownAt.seconds)))
  }

  @Test("a symbol that a search finds resolves, with its session and time zone")
  func symbols() async throws {
    let feed = Feed(gateway: try await WholeGateway())
    let all = try #require(
      try await feed.ask("search?query=&type=&exchange=&limit=30") as? [[String: String]])
    #expect(all.count == 5)
    for found in all {
      let ticker = try #require(found["ticker"])
      let full = try #require(found["full_name"])
      let symbol = try await feed.object("symbols?symbol=\(ticker)")
      #expect(symbol["s"] == nil && symbol["ticker"] as? String == ticker)
      #expect(try await feed.object("symbols?symbol=\(full)")["ticker"] as? String == ticker)
      let isAmerican = ticker == "AAPL"
      #expect(
        symbol["timezone"] as? String == (isAmerican ? "America/New_York" : "Asia/Shanghai"))
      #expect(
        symbol["session"] as? String == (isAmerican ? "0400-2000" : "0930-1130,1300-1500"))
      #expect(symbol["currency_code"] as? String == (isAmerican ? "USD" : "CNY"))
      #expect(symbol["minmov"] as? Int == 1 && symbol["pricescale"] as? Int == 100)
      for flag in ["has_intraday", "has_daily", "has_weekly_and_monthly"] {
        #expect(symbol[flag] as? Bool == true)
      }
    }
    for (query, count) in [("query=600001", 1), ("query=6000&limit=2", 2), ("query=ZZZ", 0)] {
      let found = try #require(try await feed.ask("search?\(query)") as? [Any])
      #expect(found.count == count, "\(query)")
    }
  }

  @Test("bars keep to the session, the range and the order, at every resolution")
  func history() async throws {
    let feed = Feed(gateway: try await WholeGateway())
    for ticker in ["sh600000", "AAPL"] {
      let symbol = try await feed.object("symbols?symbol=\(ticker)")
      for resolution in symbol["supported_resolutions"] as? [String] ?? [] {
        let all = try await bars(feed, ticker, resolution, from: -1, to: 1_900_000_000)
        // The American day has minutes alone.
        let hasBars = Int(resolution) != nil || ticker != "AAPL"
        #expect(all.status == (hasBars ? "ok" : "no_data"), "\(ticker) \(resolution)")
        try expectSession(all.times, of: symbol, resolution: resolution)
        guard let first = all.times.first, let last = all.times.last else { continue }
        let within = try await bars(feed, ticker, resolution, from: first, to: last)
        #expect(within.times == all.times.dropLast(), "\(ticker) \(resolution)")
        if all.times.count > 2 {
          let inner = try await bars(feed, ticker, resolution, from: first + 1, to: last)
          #expect(inner.times == all.times.dropFirst().dropLast(), "\(ticker) \(resolution)")
        }
        // Goes before from, and does not end before to.
        let counted = try await bars(
          feed, ticker, resolution, from: last, to: last + 1, countback: 7)
        #expect(counted.times == all.times.suffix(7), "\(ticker) \(resolution)")
      }
    }
  }

  @Test(
    "paging back by countback meets every bar once and ends with no_data", arguments: [1, 13, 60])
  func paging(countback: Int) async throws {
    let feed = Feed(gateway: try await WholeGateway())
    for resolution in ["1", "15", "1D"] {
      let all = try await bars(feed, "sh600000", resolution, from: 0, to: 1_900_000_000).times
      var found: [Int] = []
      var to = 1_900_000_000
      while true {
        let page = try await bars(
          feed, "sh600000", resolution, from: 0, to: to, countback: countback)
        guard let first = page.times.first else {
          #expect(page.status == "no_data" && page.nextTime == nil)
          break
        }
        found = page.times + found
        to = first
      }
      #expect(found == all, "\(resolution)")
    }
  }

  @Test("where a range has no bars, nextTime leads to the nearest before it")
  func nextTime() async throws {
    let feed = Feed(gateway: try await WholeGateway())
    for resolution in ["1", "5", "1D", "1W"] {
      let last = try #require(
        try await bars(feed, "sh600000", resolution, from: 0, to: 1_900_000_000).times.last)
      let empty = try await bars(
        feed, "sh600000", resolution, from: 1_800_000_000, to: 1_800_086_400)
      #expect(empty.status == "no_data" && empty.nextTime == last * 1_000, "\(resolution)")
      let found = try await bars(feed, "sh600000", resolution, from: last, to: last + 1)
      #expect(found.times == [last])
      let none = try await bars(feed, "sh600000", resolution, from: 0, to: 86_400)
      #expect(none.status == "no_data" && none.nextTime == nil)
    }
  }

  @Test("gaps and revisions are marks, each at the time of a bar, at most ten on one")
  func marks() async throws {
    let feed = Feed(gateway: try await WholeGateway())
    for resolution in ["1", "30", "1D", "1W"] {
      let range = "from=1780000000&to=1790000000"
      let times = try await bars(
        feed, "sh600000", resolution, from: 1_780_000_000, to: 1_790_000_000
      ).times
      let marks = try await feed.object(
        "marks?symbol=sh600000&resolution=\(resolution)&\(range)")
      let names = ["id", "time", "color", "text", "label", "labelFontColor", "minSize"]
      let counts = names.map { (marks[$0] as? [Any])?.count }
      #expect(Set(counts).count == 1 && (counts[0] ?? 0) > 1, "\(resolution) \(marks)")
      let placed = try #require(marks["time"] as? [Int])
      #expect(placed.allSatisfy(times.contains), "\(resolution)")
      #expect(Dictionary(grouping: placed) { $0 }.allSatisfy { $0.value.count <= 10 })
      let ids = try #require(marks["id"] as? [String])
      #expect(Set(ids).count == ids.count)
      #expect(Set(try #require(marks["label"] as? [String])) == ["G", "R"])
    }
  }

  @Test("quotes name each symbol as it was asked for")
  func quotes() async throws {
    let feed = Feed(gateway: try await WholeGateway())
    let answer = try await feed.object("quotes?symbols=600001.SH,sh600000,nothing,AAPL")
    #expect(answer["s"] as? String == "ok")
    let quotes = try #require(answer["d"] as? [[String: Any]])
    #expect(quotes.map { $0["n"] as? String } == ["600001.SH", "sh600000", "nothing", "AAPL"])
    #expect(quotes.map { $0["s"] as? String } == ["ok", "ok", "error", "ok"])
    let values = try #require(quotes[0]["v"] as? [String: Any])
    for name in ["lp", "ch", "chp", "open_price", "prev_close_price", "bid", "ask", "volume"] {
      #expect(values[name] is NSNumber, "\(name)")
    }
  }

  @Test("errors are in the feed's own format, also of paths that are not there")
  func errors() async throws {
    let feed = Feed(gateway: try await WholeGateway())
    let paths = [
      "symbols?symbol=nothing", "symbols", "history?symbol=sh600000&resolution=7&from=0&to=1",
      "history?symbol=nothing&resolution=1&from=0&to=1", "quotes", "nothing",
      "marks?symbol=sh600000&resolution=1&from=x&to=1", "symbol_info?group=shanghai",
      "history?symbol=sh600000&resolution=1&from=0&to=1&adjust=split",
    ]
    for path in paths {
      let answer = try await feed.object(path)
      #expect(answer["s"] as? String == "error", "\(path)")
      #expect((answer["errmsg"] as? String)?.isEmpty == false, "\(path)")
      #expect(answer.count == 2, "\(path)")
    }
  }

  @Test("numbers are the database's digits, adjusted ones, too", arguments: ["raw", "hfq"])
  func digits(_ adjust: String) async throws {
    let gateway = try await WholeGateway()
    try gateway.served.database.execute(
      """
      insert into candled.adjustment_factor (instrument_id, kind, from_day, factor, known_from)
      select id, 2, '1900-01-01', 2, now()
      from candled.instrument
      where symbol = 'sh600001'
      """)
    let reply = try await gateway.ask(
      "/udf/history?symbol=sh600001&resolution=1&from=0&to=1900000000&countback=1&adjust=\(adjust)")
    let stored = try gateway.served.database.execute(
      """
      select open::text, high::text, low::text, close::text, volume::text
      from candled.candles('sh600001', '1m', newest => 1, adjust => '\(adjust)')
      """)[0]
    let shown = zip(["o", "h", "l", "c", "v"], stored).map { "\"\($0)\":[\($1 ?? "")]" }
    for column in shown { #expect(reply.body.contains(column), "\(reply.body)") }
  }
}
