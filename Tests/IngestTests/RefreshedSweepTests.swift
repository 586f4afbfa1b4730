import Candles
import Commits
import ExchangeSimulator
import Feeds
import Journal
import Ledgers
import Market
import TestExchange
import TestSupport
import Testing

@testable import Ingest

/// Sweeps of a source that stamps each line when it writes it.
@Suite struct RefreshedSweepTests {
  @Test(arguments: 1...3 as ClosedRange<UInt64>)
  func `a sweep writes the rows that say something else than a new stamp`(
    _ seed: UInt64
  ) throws {
    let market = SimulatedMarket(
      seed: seed, day: TradingDay(daysSince1970: 20_640), instruments: 200)
    var exchange = MemoryExchange(history: SimulatedHistory(market))
    let source = try #require(
      SourceRegistry.liveSources(of: .live).first { $0.quotes?.hasRefreshStamps == true })
    let quotes = try #require(source.quotes)
    let symbols = market.symbols.filter(quotes.isRequestable)
    var pipeline = Pipeline()
    var known: [Symbol: Quote] = [:]
    var (restamped, changed) = (0, 0)
    // No minute ends meanwhile, nor is one given up.
    for (place, second) in stride(from: 36_030, to: 36_060, by: 3).enumerated() {
      let moment = Timestamp(day: market.day, secondOfDay: second)
      let answer = exchange.response(
        quotes.endpoint(symbols, moment).path, headers: [:], at: moment)
      let body = try #require(answer?.body)
      pipeline.process(
        .quotes(
          group: 0, symbols: Array(symbols.map(\.description).joined(separator: ",").utf8),
          from: source.mainSeries, requestedAt: moment, receivedAt: moment, body: body),
        at: JournalPosition(Int64(place + 1)))
      let written = pipeline.takeCommit()?.quotes.map(\.quote.symbol) ?? []
      let shown = Self.decoded(body, by: quotes.makeDecoder(nil))
      let others = shown.filter { symbol, quote in
        guard var before = known[symbol] else { return true }
        before.secondOfDay = quote.secondOfDay
        return before != quote
      }
      #expect(Set(written) == Set(others.keys), "seed \(seed), second \(second)")
      if place > 0 {
        restamped += shown.count { known[$0]?.secondOfDay != $1.secondOfDay }
        changed += written.count
      }
      known = shown
    }
    #expect(changed > 0 && restamped > 2 * changed, "\(restamped) stamps, \(changed) rows")
  }

  @Test func `the stamps of what does not trade neither date nor move a response`() throws {
    var market = SimulatedMarket(
      seed: 1, day: TradingDay(daysSince1970: 20_640), instruments: 200)
    let (now, later) = (36_030, 36_100)
    market.advance(to: Timestamp(day: market.day, secondOfDay: now))
    var body = market.body(for: market.symbols)
    let idle = Self.decoded(body, by: SourceRegistry.quotes(of: .live).makeDecoder(nil)).filter {
      [.halted, .delisted, .notListed].contains($1.trading) && $1.tradingDay == market.day
    }
    #expect(!idle.isEmpty)
    for symbol in idle.keys { body.editLine(of: symbol) { $0.stamp(later) } }
    var pipeline = Pipeline()
    let entry = JournalEntry.quotes(
      group: 0, symbols: Array(market.symbols.map(\.description).joined(separator: ",").utf8),
      from: .live, requestedAt: Timestamp(day: market.day, secondOfDay: later),
      receivedAt: Timestamp(day: market.day, secondOfDay: later), body: body)
    let newest = try #require(pipeline.process(entry, at: JournalPosition(1)).newestAt)
    #expect(newest.shanghaiSecondOfDay <= now && newest.shanghaiDay == market.day)
    #expect(Pipeline.read(entry, calendar: .shanghai, rules: CandleRules()).newestAt == newest)
  }

  @Test func `rows of what does not trade count for no majority`() {
    let (today, earlier) = (
      TradingDay(daysSince1970: 20_640), TradingDay(daysSince1970: 20_637)
    )
    var batch = QuoteBatch()
    [UInt8(ascii: "a")].withUnsafeBytes { text in
      batch.begin(body: text)
      for place in 0..<7 {
        var quote = Quote(
          symbol: SourceRegistry.quotes(of: .live).referenceSymbol,
          tradingDay: place < 2 ? today : earlier, secondOfDay: 36_000)
        (quote.last, quote.previousClose) = (ExactDecimal(1), ExactDecimal(1))
        if place > 2 { quote.status = .delisted }
        batch.quote(quote, name: RawName(bytes: text, charset: .gb18030), line: text)
      }
    }
    #expect(batch.hasMostRows(of: today) && !batch.hasMostRows(of: earlier))
  }

  private static func decoded(
    _ body: [UInt8], by decoder: any QuoteDecoder
  ) -> [Symbol: Quote] {
    var (decoder, batch) = (decoder, QuoteBatch())
    body.withUnsafeBytes {
      batch.begin(body: $0)
      _ = decoder.decode($0, status: 200, into: &batch)
    }
    return Dictionary(uniqueKeysWithValues: batch.quotes.map { ($0.quote.symbol, $0.quote) })
  }
}
