import Market
import TestSupport
import Testing

@testable import Feeds

@Suite struct FeedRequestTests {
  private static let keys = FeedCredentials(words: ["PKCANARY", "canary-secret"])
  private static let licence = FeedCredentials(words: ["CANARY-66D8/9+="])
  private static let open = Timestamp(seconds: 1_788_442_200)  // 2026-09-03T13:30:00Z
  private static let day = TradingDay(daysSince1970: 20_699)

  private static func symbols(_ names: String...) throws -> [Symbol] {
    try names.map { try #require(Symbol($0)) }
  }

  private static func bars(
    _ timeframe: Timeframe = .minute1, token: String? = nil
  ) throws -> BarsQuery {
    BarsQuery(
      symbols: try symbols("MSFT", "AAPL", "BRK.B", "AAPL"), timeframe: timeframe, start: open,
      end: open.adding(seconds: 86_400), pageToken: token)
  }

  private static func every() throws -> [FeedRequest] {
    [
      .mairuiList(.hslt), .mairuiList(.bj), .alpacaBars(try bars()),
      .alpacaBars(try bars(token: "QUF+/ Q=\u{1}京")),
      .alpacaCalendar(from: day, to: day.advanced(by: 365)), .alpacaAssets,
    ]
  }

  @Test func `a list is asked with the licence in the path alone`() {
    let endpoint = FeedRequest.mairuiList(.hslt).endpoint(credentials: Self.licence)
    #expect(endpoint.path == "/hslt/list/CANARY-66D8%2F9%2B%3D")
    #expect(endpoint.route == "/hslt/list/{licence}")
    #expect(endpoint.headers.isEmpty)
    let beijing = FeedRequest.mairuiList(.bj).endpoint(credentials: Self.licence)
    #expect(beijing.path == "/bj/list/all/CANARY-66D8%2F9%2B%3D")
  }

  @Test func `a request for bars states everything and excludes the end`() throws {
    let request = FeedRequest.alpacaBars(try Self.bars(token: "QUF+/Q=="))
    let endpoint = request.endpoint(credentials: Self.keys)
    #expect(
      endpoint.path == "/v2/stocks/bars?symbols=AAPL,BRK.B,MSFT&timeframe=1Min"
        + "&start=2026-09-03T13%3A30%3A00Z&end=2026-09-04T13%3A29%3A59.999Z&limit=10000"
        + "&adjustment=raw&asof=-&feed=iex&sort=asc&page_token=QUF%2B%2FQ%3D%3D")
    #expect(endpoint.route == "/v2/stocks/bars")
    #expect(endpoint.headers.map(\.name) == ["APCA-API-KEY-ID", "APCA-API-SECRET-KEY"])
    #expect(endpoint.headers.map(\.value) == ["PKCANARY", "canary-secret"])
  }

  @Test func `days are asked by New York dates`() throws {
    let midnight = Timestamp(day: Self.day, newYorkSecondOfDay: 0)
    let query = BarsQuery(
      symbols: try Self.symbols("AAPL"), timeframe: .day1, start: midnight,
      end: Timestamp(day: Self.day.advanced(by: 1), newYorkSecondOfDay: 0))
    let path = FeedRequest.alpacaBars(query, from: .alpacaSIP).endpoint(credentials: Self.keys).path
    #expect(path.contains("&start=2026-09-03&end=2026-09-03&"))
    #expect(!path.contains("page_token"))
  }

  @Test func `sessions and assets are asked of the trading host`() {
    let calendar = FeedRequest.alpacaCalendar(from: Self.day, to: Self.day.advanced(by: 30))
    #expect(
      calendar.endpoint(credentials: Self.keys).path
        == "/v2/calendar?start=2026-09-03&end=2026-10-03")
    #expect(
      FeedRequest.alpacaAssets.endpoint(credentials: Self.keys).path
        == "/v2/assets?status=active&asset_class=us_equity")
  }

  @Test func `a request reads back from its line, which is printable ASCII`() throws {
    for request in try Self.every() {
      #expect(FeedRequest(text: request.text, source: request.source) == request)
      #expect(request.text.utf8.allSatisfy { (0x20...0x7E).contains($0) })
    }
  }

  @Test func `the line of a request has one spelling`() throws {
    #expect(FeedRequest.mairuiList(.hslt).text == "list hslt")
    #expect(
      FeedRequest.alpacaBars(try Self.bars()).text
        == "bars iex 1m 2026-09-03T13:30:00Z 2026-09-04T13:30:00Z AAPL,BRK.B,MSFT")
    #expect(FeedRequest.alpacaAssets.text == "assets us")
  }

  @Test(arguments: [
    "", "list", "list hs", "list  hslt", "list hslt ", " list hslt", "assets", "assets cn",
    "bars iex 1m 2026-09-03T13:30:00Z 2026-09-04T13:30:00Z MSFT,AAPL",
    "bars iex 1m 2026-09-03T13:30:00Z 2026-09-03T13:30:00Z AAPL",
    "bars otc 1m 2026-09-03T13:30:00Z 2026-09-04T13:30:00Z AAPL",
    "bars iex after_hours 2026-09-03T13:30:00Z 2026-09-04T13:30:00Z AAPL",
    "bars iex 1m 2026-09-03T13:30:00+00:00 2026-09-04T13:30:00Z AAPL",
    "bars iex 1m 2026-09-03T13:30:00Z 2026-09-04T13:30:00Z AAPL %4",
    "bars iex 1m 2026-09-03T13:30:00Z 2026-09-04T13:30:00Z AAPL %zz",
    "bars iex 1m 2026-09-03T13:30:00Z 2026-09-04T13:30:00Z AAPL,x1",
    "calendar us 2026-02-30 2026-03-01", "calendar us 2026-02-01", "quotes",
  ])
  func `a line that is no request's is none`(_ text: String) {
    for source in SourceRegistry.series.map(\.source) {
      #expect(FeedRequest(text: text, source: source) == nil)
    }
  }

  @Test(arguments: 1...4 as ClosedRange<UInt64>)
  func `no damage to a line makes another spelling of a request`(_ seed: UInt64) throws {
    var random = SplitMix(seed: seed)
    for request in try Self.every() {
      for _ in 0..<500 {
        var line = Array(request.text.utf8)
        let place = Int.random(in: 0..<line.count, using: &random)
        line[place] ^= 1 << UInt8.random(in: 0...6, using: &random)
        let text = String(decoding: line, as: UTF8.self)
        if let read = FeedRequest(text: text, source: request.source) {
          #expect(read.text == text, "seed \(seed)")
        }
      }
    }
  }

  @Test func `series have short names of their own`() throws {
    let keys = try Self.every().map { "\($0.source.name) \($0.journalKey)" }
    #expect(
      Set(keys) == [
        "mairui list/hslt", "mairui list/bj", "alpaca_iex bars/1m", "alpaca_iex calendar",
        "alpaca_iex assets",
      ])
    #expect(try Self.every().allSatisfy { $0.journalKey.utf8.count <= 64 })
  }

  @Test func `no secret shows in what prints or reflects`() throws {
    let list = FeedRequest.mairuiList(.hslt).endpoint(credentials: Self.licence)
    let page = FeedRequest.alpacaBars(try Self.bars()).endpoint(credentials: Self.keys)
    var shown = "\(list) \(page) \(page.headers) \(Self.licence) \(Self.keys)"
    for value in [list, page, page.headers, Self.licence, Self.keys] as [Any] {
      shown += String(reflecting: value)
      dump(value, to: &shown)
    }
    for secret in ["CANARY", "canary"] { #expect(!shown.contains(secret)) }
  }

  @Test(arguments: ["x1", "A1", "aapl", "BTC/USD", "0029900E0", "TAOP_X", ".A", "-A"])
  func `a symbol that would void its request cannot be asked for`(_ name: String) throws {
    let symbol = try #require(Symbol(name))
    #expect(
      !AlpacaBarsQuery.isSupported(
        BarsQuery(
          symbols: [symbol], timeframe: .minute1, start: Self.open,
          end: Self.open.adding(seconds: 60))))
  }

  @Test func `a query holds 500 symbols and not one more`() throws {
    let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ").map(String.init)
    let symbols = try letters.flatMap { first in
      try letters.map { try #require(Symbol(first + $0)) }
    }
    func isSupported(_ count: Int) -> Bool {
      AlpacaBarsQuery.isSupported(
        BarsQuery(
          symbols: Array(symbols.prefix(count)), timeframe: .minute1, start: Self.open,
          end: Self.open.adding(seconds: 60)))
    }
    #expect(isSupported(500))
    #expect(!isSupported(501))
    #expect(!isSupported(0))
  }
}
