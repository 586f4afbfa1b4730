/// A whole market in the gateway's memory, and its sweeps: encoded and published as the gateway's
/// follower of the database does with a commit. Books have five levels and a minute is forming, so
/// that objects are as long as in a real market.

import Gateway
import Market
import Reader

struct FannedMarket {
  private var state = MarketState()
  /// What the next sweep changes.
  private var changed: [(place: Int, latest: LatestQuote)] = []
  private static let day = TradingDay(daysSince1970: 20_640)  // 2026-07-06
  private static let opened = Timestamp(day: day, secondOfDay: Session.morningOpen)
  private static let scale: UInt8 = 3

  init() throws {
    let symbols = try (0..<FanOut.instruments).map { place in
      guard let symbol = Symbol(FanOut.symbol(place)) else {
        throw BenchFailure(description: "\(FanOut.symbol(place)) is no symbol")
      }
      return symbol
    }
    state.directory = state.directory.updated(
      with: symbols.enumerated().map { Self.series($1, place: $0) })
    (state.epoch, state.seq) = (1, 1)
    state.stocks = Array(repeating: nil, count: symbols.count)
    var text = JSONWriter()
    for (place, symbol) in symbols.enumerated() {
      store(Self.quote(of: symbol, place: place), at: place, with: &text)
    }
  }

  func publish(to memory: MarketMemory) { memory.publish(state) }

  /// Chooses the quotes of a sweep and changes them; nobody sees it yet.
  mutating func prepare(sweep: Int) {
    let changes = FanOut.changes(in: sweep)
    changed = []
    for place in changes.indices where changes[place] {
      guard var latest = state.stocks[place]?.latest else { continue }
      latest.quote.last = Self.price(place, plus: Int64(sweep % 100))
      latest.quote.volume = ExactDecimal(1_000_000 + Int64(sweep) * 100)
      latest.seq = state.seq + 1
      changed.append((place, latest))
    }
  }

  /// The gateway's work from a commit that is read to the event loops.
  mutating func publish(to memory: MarketMemory, ring: FeedRing, sinks: [any FeedSink]) {
    state.seq += 1
    state.committedAt = Self.opened
    var text = JSONWriter()
    for (place, latest) in changed { store(latest, at: place, with: &text) }
    let update = FeedUpdate(
      epoch: state.epoch, seq: state.seq, committedAt: Self.opened,
      stocks: changed.compactMap { state.stocks[$0.place] }, messages: [])
    ring.append(update)
    memory.publish(state)
    for sink in sinks { sink.receive(.update(update)) }
  }

  private mutating func store(
    _ latest: LatestQuote, at index: Int, with text: inout JSONWriter
  ) {
    let place = SeriesPlace(index: index)
    state.stocks[index] = EncodedStock(
      latest, place: place, identity: state.directory.identity(of: place, named: latest.name),
      isStale: false, with: &text)
  }

  // MARK: Values

  private static func series(_ symbol: Symbol, place: Int) -> SeriesRecord {
    SeriesRecord(
      id: Int32(place + 1), symbol: symbol, source: .live, sourceName: "live", priority: 1,
      name: "证券\(place)", exchange: symbol.description.hasPrefix("sh") ? "SSE" : "SZSE",
      kind: "stock", board: "main", currency: "CNY", zone: .shanghai)
  }

  private static func price(_ place: Int, plus ticks: Int64) -> ExactDecimal {
    ExactDecimal(units: 10_000 + Int64(place % 90) * 1_000 + ticks * 10, scale: scale)
  }

  private static func quote(of symbol: Symbol, place: Int) -> LatestQuote {
    var quote = Quote(
      symbol: symbol, tradingDay: day, secondOfDay: Int32(Session.morningOpen + 30))
    let price = price(place, plus: 0)
    (quote.open, quote.previousClose, quote.last, quote.high, quote.low) =
      (price, price, price, price, price)
    (quote.bid, quote.ask) = (price, price)
    (quote.volume, quote.turnover) = (ExactDecimal(1_000_000), ExactDecimal(12_345_678))
    for level in 0..<5 {
      quote.bids[level] = BookLevel(
        price: Self.price(place, plus: Int64(-1 - level)), volume: ExactDecimal(12_300))
      quote.asks[level] = BookLevel(
        price: Self.price(place, plus: Int64(1 + level)), volume: ExactDecimal(4_500))
    }
    let minute = Candle(
      symbol: symbol, timeframe: .minute1, tradingDay: day, openedAt: opened,
      closedAt: opened.adding(seconds: 60), open: price, high: price, low: price, close: price,
      volume: ExactDecimal(1_000), turnover: nil, flags: [], source: .live)
    return LatestQuote(
      quote: quote, source: .live, name: "证券\(place)", forming: minute,
      receivedAt: opened.adding(seconds: 31), seq: 1)
  }
}
