@testable import Feeds
@testable import Market

/// A made-up source, written by the contract alone: a market that never closes, with prices and
/// volumes of eight decimals, live quotes of its own and bars in pages.
struct Orbit: BarSource {
  static let quotes = Source(rawValue: 90)
  static let bars = Source(rawValue: 91)
  static let coin = Symbol(low: 0x4E_494F_43, high: 0)  // COIN

  let name = "orbit"
  let title = "Orbit"
  let market = MarketDefinition(
    code: 90, name: "orbit", zone: .utc, currency: "USD",
    sessions: [SessionHours(opens: 0, closes: 86_400)], tradingDays: .everyDay,
    hasEveryMinute: true)
  let settings = SettingSection(
    "orbit", OrbitSettings.base, OrbitSettings.batchSymbols, OrbitSettings.requestsPerMinute,
    OrbitSettings.symbols, OrbitSettings.delay)
  let series = [
    SourceSeries(Orbit.quotes, name: "orbit"), SourceSeries(Orbit.bars, name: "orbit_bars"),
  ]
  let priority = 9
  let workerName = "orbit_bars"
  let pace = RequestPace(
    requestsPerMinute: OrbitSettings.requestsPerMinute, requestsPerMinuteMax: 6_000, burst: 10,
    inFlightMax: 2)
  let quotes: QuotesDeclaration? = QuotesDeclaration(
    base: OrbitSettings.base, batchSymbols: OrbitSettings.batchSymbols,
    requestsPerMinute: OrbitSettings.requestsPerMinute, referenceSymbol: Orbit.coin,
    bodyBytesMax: 1 << 20, isRequestable: { $0 == Orbit.coin },
    endpoint: { symbols, _ in
      let list = symbols.map(\.description).joined(separator: ",")
      return Endpoint(route: "/quotes", path: "/quotes?symbols=\(list)", headers: [])
    },
    makeDecoder: { _ in OrbitQuotes() })
  let bars: BarsDeclaration? = BarsDeclaration(
    form: .window(symbolsMax: 10, pageBarsMax: 10_000),
    recording: BarsRecording(
      symbols: OrbitSettings.symbols, delay: OrbitSettings.delay,
      hours: SessionHours(opens: 0, closes: 86_400), series: { _ in Orbit.bars }),
    timeframes: [.minute1, .day1], isRequestable: { $0 == Orbit.coin })
  let hosts: [HostSetting] = [.one(OrbitSettings.base)]

  func query(reading words: [Substring], from source: Source) -> FeedQuery? {
    guard words.count == 4, words[0] == "bars", let timeframe = Timeframe(name: String(words[1])),
      let start = Int64(words[2]), let end = Int64(words[3])
    else { return nil }
    return .bars(
      BarsQuery(
        symbols: [Orbit.coin], timeframe: timeframe, start: Timestamp(seconds: start),
        end: Timestamp(seconds: end)))
  }

  /// `bars 1m 1788442200 1788528600`
  func barsRequest(_ query: BarsQuery, from source: Source) -> SourceRequest {
    let (timeframe, start, end) = (query.timeframe.name, query.start.seconds, query.end.seconds)
    return SourceRequest(
      hosts: .one(OrbitSettings.base), journalKey: "bars/\(timeframe)",
      text: { "bars \(timeframe) \(start) \(end)" },
      endpoint: { _ in
        Endpoint(
          route: "/bars", path: "/bars/\(timeframe)?from=\(start)&to=\(end)", headers: [])
      },
      decode: { (body, status, _) throws(FeedRefusal) -> FeedResponse in
        .candles(try Orbit.page(body, status: status, of: query, from: source))
      })
  }

  /// A line a bar: seconds of its open, then open, high, low, close, volume, turnover.
  private static func page(
    _ body: UnsafeRawBufferPointer, status: Int, of query: BarsQuery, from source: Source
  ) throws(FeedRefusal) -> CandlePage {
    guard status == 200 else { throw FeedRefusal(.transient, "HTTP \(status)") }
    var page = CandlePage(candles: [], refused: [])
    for (index, line) in body.split(separator: UInt8(ascii: "\n")).enumerated() {
      let words = String(decoding: line, as: UTF8.self).split(separator: ",")
      let numbers = words.dropFirst().compactMap { try? ExactDecimal(String($0)) }
      guard let seconds = words.first.flatMap({ Int64($0) }), numbers.count == 6 else {
        page.refused.append(
          RefusedRow(
            index, of: Orbit.coin, because: .malformed("expected seven numbers"), payload: line))
        continue
      }
      let opens = Timestamp(seconds: seconds)
      page.candles.append(
        Candle(
          symbol: Orbit.coin, timeframe: query.timeframe,
          tradingDay: MarketZone.utc.day(at: opens), openedAt: opens,
          closedAt: opens.adding(seconds: 60), open: numbers[0], high: numbers[1],
          low: numbers[2], close: numbers[3], volume: numbers[4], turnover: numbers[5],
          flags: [], source: source))
    }
    return page
  }
}

enum OrbitSettings {
  static let base = Setting.origin(
    "orbit.base", default: "https://orbit.example", help: "Host for quotes and bars.")
  static let batchSymbols = Setting.integer(
    "orbit.batch_symbols", default: 10, in: 1...10, help: "Symbols per request.")
  static let requestsPerMinute = Setting.integer(
    "orbit.requests_per_minute", default: 600, in: 1...6_000, help: "Rate limit.")
  static let symbols = Setting.symbols(
    "orbit.symbols", help: "Instruments whose bars are recorded.")
  static let delay = Setting.duration(
    "orbit.delay", default: .seconds(0), in: .zero ... .seconds(3_600),
    help: "How far behind to stay.")
}

/// A line a symbol: its code, day and second of the day, then the previous close, open, high, low,
/// last, volume and turnover.
struct OrbitQuotes: QuoteDecoder {
  private static let clock = TradingHours(Orbit().market)?.clock

  mutating func decode(
    _ body: UnsafeRawBufferPointer, status: Int, into batch: inout QuoteBatch
  ) -> QuoteOutcome {
    guard status == 200 else { return .transient }
    let lines = body.split(separator: UInt8(ascii: "\n"))
    for line in lines {
      let bytes = UnsafeRawBufferPointer(rebasing: body[line.startIndex..<line.endIndex])
      if let quote = Self.quote(String(decoding: line, as: UTF8.self)) {
        let name = UnsafeRawBufferPointer(rebasing: bytes[..<4])
        batch.quote(quote, name: RawName(bytes: name, charset: .utf8), line: bytes)
      } else {
        batch.rejected(
          RejectedRow(
            symbol: nil, reason: .malformed, detail: "expected ten fields", line: bytes))
      }
    }
    return .ok(lines: lines.count)
  }

  private static func quote(_ line: String) -> Quote? {
    let words = line.split(separator: ",").map(String.init)
    guard words.count == 10, let symbol = Symbol(words[0]), let day = TradingDay(words[1]),
      let second = Int32(words[2]), let clock
    else { return nil }
    let numbers = words.dropFirst(3).compactMap { try? ExactDecimal($0) }
    guard numbers.count == 7 else { return nil }
    var quote = Quote(symbol: symbol, tradingDay: day, secondOfDay: second)
    quote.clock = clock
    (quote.previousClose, quote.open) = (numbers[0], numbers[1])
    (quote.high, quote.low, quote.last) = (numbers[2], numbers[3], numbers[4])
    (quote.volume, quote.turnover) = (numbers[5], numbers[6])
    return quote
  }
}
