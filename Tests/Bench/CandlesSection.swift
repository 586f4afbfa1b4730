/// The candle book alone: decoded quotes of a simulated market in, candles out.
///
/// The quotes are decoded beforehand, sweep by sweep, and the book's work on them is timed with
/// what belongs to it: timers, minute boundaries, taking the output away.

import Candles
import ExchangeSimulator
import Feeds
import Market
import TestExchange

let candlesSection = BenchSection(
  name: "candles", title: "CandleBook, 5,400 instruments, every sweep of 20 minutes from 09:30"
) { _ in
  var bench = CandlesBench()
  bench.run()
  report([bench.book, bench.copying])
  let quotes = Double(bench.quotes)
  printLine(
    "  \(bench.quotes) snapshots, \(decimals(Double(bench.moved) / quotes * 100, 1)) % moved, "
      + "\(bench.candles) candles")
  let seconds = bench.book.rounds.reduce(0, +) / 1000
  check("one core takes", quotes / seconds / 1_000_000, atLeast: 5, "M snapshots/s")
}

private struct CandlesBench {
  private static let sweepsMax = 400
  private static let batch = 800
  private static let day = TradingDay(daysSince1970: 20_640)  // 2026-07-06

  private var market = SimulatedMarket(seed: 7, day: day)
  private var candleBook = CandleBook()
  private var decoder = SinaQuoteDecoder()
  var book = BenchRow("candled: CandleBook")
  var copying = BenchRow("floor: copy each quote")
  var quotes = 0
  var moved = 0
  var candles = 0

  mutating func run() {
    for sweep in 0..<Self.sweepsMax {
      let now = Timestamp(day: Self.day, secondOfDay: Session.morningOpen + sweep * 3)
      market.advance(to: now)
      var collector = QuoteCollector()
      let body = market.bodyOfAll()
      body.withUnsafeBytes { _ = decoder.decode($0, status: 200, into: &collector) }
      let indexes = collector.quotes.map { candleBook.index(of: $0.symbol) }
      observe(collector.quotes, indexes, now)
      copyAll(collector.quotes)
    }
  }

  private mutating func observe(_ sweep: [Quote], _ indexes: [Int], _ now: Timestamp) {
    let receivedAt = now.adding(milliseconds: 400)
    var changes = 0
    let output = book.measure {
      candleBook.advance(to: receivedAt)
      for (place, quote) in sweep.enumerated() {
        let verdict = candleBook.observe(
          quote, at: indexes[place], group: UInt32(place / Self.batch), watermark: now,
          receivedAt: receivedAt)
        if verdict == .accepted(stateChanged: true) { changes += 1 }
      }
      return candleBook.takeOutput()
    }
    quotes += sweep.count
    moved += changes
    candles += output.candles.count
  }

  private mutating func copyAll(_ sweep: [Quote]) {
    var copy: [Quote] = []
    copy.reserveCapacity(sweep.count)
    copying.measure { for quote in sweep { copy.append(quote) } }
    consume(copy.count)
  }
}

private struct QuoteCollector: QuoteVisitor {
  var quotes: [Quote] = []

  mutating func quote(_ quote: Quote, name: RawName, line: UnsafeRawBufferPointer) {
    quotes.append(quote)
  }
  mutating func overview(_ quote: OverviewQuote) {}
  mutating func unknown(_ symbol: Symbol) {}
  mutating func rejected(_ row: RejectedRow) {}
}
