import Market
import Platform

/// A dozen American shares, every day since 2016 and every minute of it: a pure function of the
/// seed, so that any bar can be had without living through the days before it.
///
/// Days are drawn first and the minutes inside them, so that both agree: the regular minutes open,
/// close and reach where the day says, and all minutes' volumes, the extended hours' included, add
/// up to the day's (docs/sources/alpaca.md#bars). The two feeds are two markets of the same shares:
/// IEX sees a fortieth of the volume and misses minutes. It must never be asked about the future:
/// that is `USLedger`'s to prevent.
package struct USMarket: Sendable {
  package enum Feed: String, Sendable, CaseIterable {
    case iex, sip
  }

  /// A share, and what it is like.
  struct Share: Sendable {
    let symbol: Symbol
    let name: String
    let exchange: String
    /// Units of 10⁻⁴ dollars at the end of 2015.
    let price: Int64
    /// Mean shares a day.
    let volume: Int64
    /// Regular minutes with a trade on SIP.
    let minutesPerMille: Int64
  }

  /// Prices in 10⁻⁴ dollars, the average in 10⁻⁶.
  package struct Bar: Sendable, Hashable {
    package var start: Timestamp
    package var open: Int64
    package var high: Int64
    package var low: Int64
    package var close: Int64
    package var volume: Int64
    package var trades: Int64
    package var average: Int64
  }

  let seed: UInt64
  let calendar = USCalendar()
  let shares: [Share]
  /// By share and session, 10⁻⁴ dollars.
  private let closes: [[Int64]]
  /// Shared by all copies: what is in it follows from the seed.
  let drawn = Locked(DrawnSessions())

  init(seed: UInt64) {
    self.seed = seed
    shares = USMarket.instrumentTable
    let sessions = calendar.sessions.count
    closes = USMarket.instrumentTable.indices.map { place in
      USMarket.closes(sessions, of: USMarket.instrumentTable[place], place: place, seed: seed)
    }
  }

  /// A walk that is pulled back when it has doubled or halved.
  private static func closes(_ count: Int, of share: Share, place: Int, seed: UInt64) -> [Int64] {
    var random = Randomness(seed: seed, stream: UInt64(place) &+ 0xA3E1)
    var price = share.price
    return (0..<count).map { _ in
      var move = price * (random.below(401) - 198) / 10_000
      if price > 3 * share.price { move = -abs(move) }
      if price < share.price / 2 { move = abs(move) }
      price = (price + move) / 100 * 100
      return price
    }
  }

  func place(of symbol: Symbol) -> Int? { shares.firstIndex { $0.symbol == symbol } }

  /// A whole day: prices of the regular session, volume of all hours.
  func day(_ share: Int, session: Int, feed: Feed) -> Bar {
    var random = Randomness(
      seed: Randomness.mixed(seed &+ UInt64(session)), stream: UInt64(share) &+ 0xDA7)
    let close = closes[share][session]
    let previous = session > 0 ? closes[share][session - 1] : shares[share].price
    let open = (previous + (close - previous) * random.below(400) / 1000) / 100 * 100
    let reach = close / 100
    var bar = Bar(
      start: Timestamp(day: calendar.sessions[session].day, newYorkSecondOfDay: 0), open: open,
      high: max(open, close) + random.below(reach) / 100 * 100,
      low: min(open, close) - random.below(reach) / 100 * 100, close: close,
      volume: shares[share].volume / 2 + random.below(shares[share].volume), trades: 0, average: 0)
    if feed == .iex { bar.thin(&random) }
    // Enough for every minute to have one.
    bar.trades = max(bar.volume / 85, 1_500)
    bar.average = (bar.open + bar.high + bar.low + bar.close) * 25 + random.below(100)
    bar.average = min(max(bar.average, bar.low * 100), bar.high * 100)
    return bar
  }

  private static let rows: [(String, String, String, Int64, Int64, Int64)] = [
    ("AAPL", "Apple Inc. Common Stock", "NASDAQ", 1_052_600, 48_000_000, 998),
    ("AMZN", "Amazon.com, Inc. Common Stock", "NASDAQ", 337_900, 40_000_000, 998),
    ("BRK.B", "Berkshire Hathaway Inc. Class B", "NYSE", 1_320_400, 3_400_000, 985),
    ("F", "Ford Motor Company", "NYSE", 140_900, 55_000_000, 998),
    ("GOOGL", "Alphabet Inc. Class A Common Stock", "NASDAQ", 389_000, 26_000_000, 998),
    ("IBM", "International Business Machines Corporation", "NYSE", 1_376_200, 4_000_000, 990),
    ("JPM", "JPMorgan Chase & Co.", "NYSE", 660_300, 9_000_000, 998),
    ("MSFT", "Microsoft Corporation Common Stock", "NASDAQ", 554_800, 21_000_000, 998),
    ("NVDA", "NVIDIA Corporation Common Stock", "NASDAQ", 329_600, 180_000_000, 998),
    ("QQQ", "Invesco QQQ Trust, Series 1", "NASDAQ", 1_118_600, 35_000_000, 998),
    ("SPY", "SPDR S&P 500 ETF Trust", "ARCA", 2_038_700, 60_000_000, 998),
    ("UHAL", "U-Haul Holding Company Common Stock", "NYSE", 389_500, 160_000, 610),
  ]

  private static let instrumentTable = rows.map { name, title, exchange, price, volume, perMille in
    guard let symbol = Symbol(name) else { preconditionFailure("\(name) is no symbol") }
    return Share(
      symbol: symbol, name: title, exchange: exchange, price: price, volume: volume,
      minutesPerMille: perMille)
  }
}

extension USMarket.Bar {
  /// The same day as one small exchange saw it.
  fileprivate mutating func thin(_ random: inout Randomness) {
    high -= random.below((high - max(open, close)) / 200 + 1) * 100
    low += random.below((min(open, close) - low) / 200 + 1) * 100
    open = min(max(open + (random.below(5) - 2) * 50, low), high)
    close = min(max(close + (random.below(5) - 2) * 50, low), high)
    volume = volume / 40 + 2_000
  }
}
