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
      let shown = Self.decoded(body, by: quotes.makeDecoder())
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
