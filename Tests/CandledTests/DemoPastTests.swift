import EmbeddedPostgres
import ExchangeSimulator
import Foundation
import Glibc
import Ledgers
import Market
import Postgres
import TestExchange
import TestSupport
import TestTraits
import Testing

/// Thirty days behind a demo, asked from outside while it runs, beside what the simulator's history
/// says of them.
private struct DemoWithPast {
  static let days = 30
  static let instruments = 30
  let folder: String
  var history: SimulatedHistory
  private let demo: RunningBinary

  /// Standing on the first day, before it begins.
  var moment: Timestamp { Timestamp(day: history.days[0], secondOfDay: 7 * 3600) }

  init() throws {
    let folder = try PrivateCluster.freshDirectory()
    // The server runs as a user of its own.
    chmod(folder, 0o755)
    self.folder = folder + "/day"
    let day = try #require(TradingDay("2026-07-06"))
    history = SimulatedHistory(
      seed: 1, instruments: Self.instruments, days: [day],
      earlierDays: SimulatedHistory.tradingDays(Self.days, through: day.advanced(by: -1)),
      earlierMinuteDays: 5)
    demo = try RunningBinary.demo(
      "--days", "\(Self.days)", "--instruments", "\(Self.instruments)", "--speed", "1",
      "--keep", self.folder)
    #expect(demo.logContains("look inside"), "\(demo.captured)")
    #expect(demo.captured.contains("30 days behind it: 30 instruments, "), "\(demo.captured)")
  }

  func end() throws {
    demo.signal(SIGINT)
    #expect(try demo.ended() == 0, "\(demo.captured)")
  }

  func value(_ sql: String) throws -> String? {
    let url = EmbeddedServer(directory: folder + "/postgres").ownerConnectionString
    return try SQLProbe.run("set search_path = candled; " + sql, url: url).first?.first ?? nil
  }

  /// What `candled query candles` prints of the days behind.
  func candles(_ symbol: Symbol, _ timeframe: String, adjust: String = "raw") throws -> [String] {
    let last = try #require(history.earlierDays.last)
    let run = try BuiltBinary.run([
      "query", "candles", "\(symbol)", "--timeframe", timeframe, "--adjust", adjust, "--to",
      "\(last)", "--json", "--config", "/dev/null", "--set", "state_directory=\(folder)",
    ])
    #expect(run.status == 0, "\(run.errors)")
    return try Parsed.objects(run.output).map { candle in
      try ["trading_day", "open", "high", "low", "close", "volume"].map { field in
        let text = try #require(candle[field] as? String)
        return field == "trading_day" ? text : try ExactDecimal(text).description
      }.joined(separator: " ")
    }
  }

  /// The same from the simulator's history.
  mutating func truth(
    _ symbol: Symbol, _ timeframe: Timeframe, adjusted: Bool = false
  ) throws -> [String] {
    let factors = history.factors(of: symbol, kind: .qfq, at: moment) ?? []
    return try history.candles(of: symbol, timeframe, at: moment).map { candle in
      let factor = adjusted ? factors.first { $0.from <= candle.tradingDay }?.factor : nil
      let prices = try [candle.open, candle.high, candle.low, candle.close].map { price in
        let shown = try price.rescaled(places: 3)
        return try factor.map { try shown.divided(by: $0, scale: 4) } ?? shown
      }
      let numbers = (prices + [candle.volume]).map(\.description)
      return ([candle.tradingDay.description] + numbers).joined(separator: " ")
    }
  }
}

@Suite(.ownThread) struct `A demo with days behind it` {
  @Test func `has those of the simulator, in every timeframe and adjusted`() throws {
    var demo = try DemoWithPast()
    let market = demo.history.market(on: demo.history.days[0])
    var (days, traded) = (0, 0)
    for (place, symbol) in demo.history.symbols.enumerated() {
      let wanted = try demo.truth(symbol, .day1)
      #expect(try demo.candles(symbol, "1d") == wanted, "\(symbol)")
      days += wanted.count
      traded += wanted.isEmpty ? 0 : 1
      guard (3...8).contains(place) || market.listings[place].behaviour == .delisted else {
        continue
      }
      #expect(
        try demo.candles(symbol, "1d", adjust: "qfq") == demo.truth(symbol, .day1, adjusted: true))
      // Those that began before the first day behind have too few days.
      let first = demo.history.earlierDays[0]
      let weeks = try demo.spans(of: symbol) { $0.weekBegin }.filter { $0.begin >= first }
      #expect(try demo.candles(symbol, "1w").suffix(weeks.count) == weeks.map(\.text)[...])
      let months = try demo.spans(of: symbol) { $0.monthBegin }
      let june = try #require(months.first { $0.begin >= first || $0.begin.civil.month == 7 })
      #expect(try demo.candles(symbol, "1mo").contains(june.text), "\(symbol) \(june)")
      let minutes = demo.history.candles(of: symbol, .minute15, at: demo.moment)
      #expect(try demo.candles(symbol, "15m").count == minutes.count, "\(symbol)")
    }
    // One never listed, two new ones, and days of suspension, of a listing and of a delisting.
    #expect(traded == DemoWithPast.instruments - 3 && days < traded * DemoWithPast.days)
    try demo.expectWholeDays()
    try demo.end()
  }

  @Test func `is the same from the same seed and date`() throws {
    let digest = """
      select md5(string_agg(concat_ws(' ', i.symbol, timeframe, opened_at, open, high, low, close,
        volume, turnover, c.flags), '|' order by i.symbol, timeframe, opened_at))
      from candle c join instrument i on i.id = c.instrument_id
      where trading_day < '2026-07-06' and c.source = 1
      """
    let (one, two) = (try DemoWithPast(), try DemoWithPast())
    let first = try #require(try one.value(digest))
    #expect(try two.value(digest) == first)
    try one.end()
    try two.end()
  }

  @Test func `ends while they are filled in, and nothing of it stays`() throws {
    let demo = try RunningBinary.demo("--days", "250", "--instruments", "3000")
    #expect(demo.logContains("days behind it: "), "\(demo.captured)")
    let folder = try #require(demo.captured.firstMatch(of: #/(/tmp/candled-demo-\w+)/#)?.1)
    demo.signal(SIGINT)
    #expect(try demo.ended() == 0, "\(demo.captured)")
    #expect(access(String(folder), F_OK) != 0)
  }

  @Test(arguments: ["-1", "251", "many"])
  func `takes a number of days that it can have`(days: String) throws {
    let run = try BuiltBinary.runDemo("--days=\(days)")
    #expect(run.status == 64 && run.errors.contains("--days"), "\(run.errors)")
  }
}

extension DemoWithPast {
  /// Days put together by hand.
  fileprivate mutating func spans(
    of symbol: Symbol, begin: (TradingDay) -> TradingDay
  ) throws -> [(begin: TradingDay, text: String)] {
    let days = history.candles(of: symbol, .day1, at: moment)
    let spans = Dictionary(grouping: days) { begin($0.tradingDay) }
    return try spans.keys.sorted().map { begin in
      let days = try #require(spans[begin])
      let (first, last) = try (#require(days.first), #require(days.last))
      let high = try #require(days.map(\.high).max())
      let low = try #require(days.map(\.low).min())
      let volume = try days.reduce(ExactDecimal.zero) { try $0 + $1.volume }
      let prices = try [first.open, high, low, last.close].map { try $0.rescaled(places: 3) }
      let numbers = (prices + [volume]).map(\.description)
      return (begin, ([last.tradingDay.description] + numbers).joined(separator: " "))
    }
  }

  /// The minutes of a day add up to its day candle, and a suspended day is no gap.
  fileprivate func expectWholeDays() throws {
    let differing = """
      select count(*)
      from (
        select instrument_id, trading_day, sum(volume) as volume, max(high) as high,
          min(low) as low
        from candle
        where timeframe = 1 and volume > 0 and trading_day < '2026-07-06' and source = 1
        group by 1, 2
      ) m
      full join (
        select * from candle
        where timeframe = 240 and trading_day between '2026-06-29' and '2026-07-03'
          and source = 1
      ) d using (instrument_id, trading_day)
      where (m.volume, m.high, m.low) is distinct from (d.volume, d.high, d.low)
      """
    #expect(try value(differing) == "0")
    #expect(try value("select count(*) from gap where trading_day < '2026-07-06'") == "0")
    let unsound = "from coverage where trading_day < '2026-07-06' and source = 'sina'"
    #expect(try value("select count(*) \(unsound) and balanced") != "0")
    #expect(try value("select count(*) \(unsound) and balanced is not true") == "0")
  }
}

extension TradingDay {
  /// Monday.
  fileprivate var weekBegin: TradingDay { advanced(by: 1 - weekday) }
  fileprivate var monthBegin: TradingDay { advanced(by: 1 - civil.day) }
}
