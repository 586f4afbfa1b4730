/// Alpaca: bars of the American exchanges, their sessions and the names of their instruments, for
/// an account's key (docs/sources/alpaca.md).

import Market

package struct Alpaca: BarSource, SessionSource, NameSource {
  static let iex = Source(rawValue: 3)
  static let sip = Source(rawValue: 4)

  package let name = "alpaca"
  package let title = "Alpaca"
  package let market = MarketDefinition.unitedStates
  package let settings = AlpacaSettings.section
  /// Two series of the same stocks, never mixed: IEX sees some two percent of the volume.
  package let series = [
    SourceSeries(Alpaca.iex, name: "alpaca_iex"), SourceSeries(Alpaca.sip, name: "alpaca_sip"),
  ]
  package let credentials: CredentialDeclaration? = CredentialDeclaration(
    file: AlpacaSettings.keyFile, words: 2)
  package let workerName = "bars"
  /// A basic account has 200.
  package let pace = RequestPace(
    requestsPerMinute: AlpacaSettings.requestsPerMinute, requestsPerMinuteMax: 200, burst: 10,
    inFlightMax: 4)
  package let bars: BarsDeclaration? = BarsDeclaration(
    form: .window(
      symbolsMax: AlpacaBarsQuery.symbolsMax, pageBarsMax: AlpacaBarsQuery.pageBarsMax),
    recording: BarsRecording(
      symbols: AlpacaSettings.symbols, delay: AlpacaSettings.delay,
      // Trades before and after the regular session count (docs/sources/alpaca.md#bars).
      hours: SessionHours(opens: 4 * 3_600, closes: 20 * 3_600),
      series: { $0[AlpacaSettings.feed] == .sip ? Alpaca.sip : Alpaca.iex }),
    timeframes: Set(Timeframe.allCases.filter { $0.alpacaName != nil }),
    isRequestable: AlpacaBarsQuery.isRequestable)

  package let hosts: [HostSetting] = [
    .one(AlpacaSettings.base), .one(AlpacaSettings.tradingBase),
  ]

  package func query(reading words: [Substring], from source: Source) -> FeedQuery? {
    switch (words.first, words.count) {
    case ("bars", 6...7): AlpacaBarsQuery(words: words.dropFirst()).map { .bars($0.query) }
    case ("calendar", 4):
      TradingDay(words[2]).flatMap { from in
        TradingDay(words[3]).map { .sessions(from: from, to: $0) }
      }
    case ("assets", 2): .names
    default: nil
    }
  }

  /// `bars iex 1m 2026-09-03T13:30:00Z 2026-09-03T20:00:00Z AAPL,MSFT QUFQTHxNfDE%3D`
  package func barsRequest(_ query: BarsQuery, from source: Source) -> SourceRequest {
    SourceRequest(
      hosts: .one(AlpacaSettings.base), journalKey: "bars/\(query.timeframe.name)",
      text: { "bars \(AlpacaBarsQuery(query, from: source).text)" },
      endpoint: {
        AlpacaBarsQuery(query, from: source).endpoint(headers: Alpaca.headers(of: $0))
      },
      decode: { (body, status, _) throws(FeedRefusal) -> FeedResponse in
        .candles(
          try AlpacaBars.decode(
            body, status: status, source: source, timeframe: query.timeframe,
            requested: query.symbols))
      })
  }

  /// `calendar us 2026-01-01 2026-12-31`
  package func sessionsRequest(from first: TradingDay, to last: TradingDay) -> SourceRequest {
    SourceRequest(
      hosts: .one(AlpacaSettings.tradingBase), journalKey: "calendar",
      text: { "calendar us \(first) \(last)" },
      endpoint: {
        AlpacaCalendar.endpoint(from: first, to: last, headers: Alpaca.headers(of: $0))
      },
      decode: { (body, status, _) throws(FeedRefusal) -> FeedResponse in
        .sessions(try AlpacaCalendar.decode(body, status: status))
      })
  }

  /// `assets us`: 12,000 assets of half a kilobyte.
  package var namesRequest: SourceRequest {
    SourceRequest(
      hosts: .one(AlpacaSettings.tradingBase), journalKey: "assets", text: { "assets us" },
      bodyBytesMax: 16 << 20,
      endpoint: { AlpacaAssets.endpoint(headers: Alpaca.headers(of: $0)) },
      decode: { (body, status, _) throws(FeedRefusal) -> FeedResponse in
        .list(try AlpacaAssets.decode(body, status: status))
      })
  }

  private static func headers(of credentials: FeedCredentials?) -> [Endpoint.Header] {
    guard let words = credentials?.words, words.count == 2 else {
      preconditionFailure("Alpaca is asked with a pair of keys")
    }
    return [
      Endpoint.Header(name: "APCA-API-KEY-ID", value: words[0]),
      Endpoint.Header(name: "APCA-API-SECRET-KEY", value: words[1]),
    ]
  }
}
