import Market
import Platform

/// A dozen American shares, every day since 2016 and every minute of it: a pure function of the
/// seed, so that any bar can be had without living through the days before it.
///
/// A session walks from one drawn close to the next, minute by minute; a day has the prices of its
/// regular minutes and the volume of all, the extended hours' included
/// (docs/sources/alpaca.md#bars). The two feeds are two markets of the same shares: IEX sees a
/// fortieth of the volume and misses minutes. It must never be asked about the future: that is for
/// who serves its bars to prevent.
package struct USMarket: Sendable {
  package enum Feed: String, Sendable, CaseIterable {
    case iex, sip
  }

  /// A share, and what it is like.
  package struct Share: Sendable {
    package let symbol: Symbol
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

  package let seed: UInt64
  package let calendar = USCalendar()
  package let shares = USMarket.instrumentTable
  /// By share, 10⁻⁴ dollars: the price before the first session, then each session's close.
  private let closes: [[Int64]]
  /// Shared by all copies: what is in it follows from the seed.
  private let drawn = Locked(DrawnSessions())

  private static let minutesBeforeOpen =
    (USCalendar.Session.opens - USCalendar.Session.extendedOpens) / 60

  package init(seed: UInt64) {
    self.seed = seed
    let sessions = calendar.sessions.count
    closes = USMarket.instrumentTable.indices.map { place in
      USMarket.closes(sessions, of: USMarket.instrumentTable[place], place: place, seed: seed)
    }
  }

  /// A walk that is pulled back when it has tripled or halved.
  private static func closes(_ count: Int, of share: Share, place: Int, seed: UInt64) -> [Int64] {
    var random = Randomness(seed: seed, stream: UInt64(place) &+ 0xA3E1)
    var prices = [share.price]
    for session in 0..<count {
      let price = prices[session]
      var move = price * (random.below(401) - 198) / 10_000
      if price > 3 * share.price { move = -abs(move) }
      if price < share.price / 2 { move = abs(move) }
      prices.append((price + move) / 100 * 100)
    }
    return prices
  }

  package func place(of symbol: Symbol) -> Int? { shares.firstIndex { $0.symbol == symbol } }

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

/// The bars of a session.
extension USMarket {
  /// One session's minute bars as they finally stand, ascending; minutes without a trade are not
  /// there, but the first and the last regular one always are.
  package func minutes(_ share: Int, session: Int, feed: Feed) -> [Bar] {
    let key = SessionKey(share: share, session: session, feed: feed)
    if let known = drawn.withLock({ $0.bars[key] }) { return known }
    let bars = drawnMinutes(share, session: session, feed: feed)
    drawn.withLock { $0.keep(bars, for: key) }
    return bars
  }

  private func drawnMinutes(_ place: Int, session: Int, feed: Feed) -> [Bar] {
    let (share, hours) = (shares[place], calendar.sessions[session])
    let (first, last) = (closes[place][session], closes[place][session + 1])
    let start = Timestamp(day: hours.day, newYorkSecondOfDay: USCalendar.Session.extendedOpens)
    let regular = (hours.closes - USCalendar.Session.opens) / 60
    let stride = max(first / 400_000 * 100, 100)
    // Both feeds draw the same numbers, and so the same prices.
    var random = Randomness(
      seed: Randomness.mixed(seed &+ UInt64(session)), stream: UInt64(place) &+ 0x3111)
    var (bars, price): ([Bar], Int64) = ([], first)
    let count = (hours.extendedCloses - USCalendar.Session.extendedOpens) / 60
    for slot in 0..<count {
      let minute = slot - USMarket.minutesBeforeOpen
      let isRegular = (0..<regular).contains(minute)
      let passed = Int64(min(max(minute + 1, 0), regular))
      let straight = first + (last - first) * passed / Int64(regular)
      let open = price
      // A walk on the cent that is pulled back to the straight line between the closes.
      price += (random.below(5) - 2) * stride + (straight - price) / 800 * 100
      let high = max(open, price) + random.below(4) * 100
      let low = min(open, price) - random.below(4) * 100
      let size = random.around(max(share.volume / (isRegular ? 390 : 7_800), 1))
      let isTraded = random.below(1000) < share.tradedPerMille(feed, isRegular: isRegular)
      guard isTraded || minute == 0 || minute == regular - 1 else { continue }
      let volume = feed == .sip ? size : size / 40 + 1
      bars.append(
        Bar(
          start: start.adding(seconds: Int64(slot) * 60), open: open, high: high, low: low,
          close: price, volume: volume, trades: max(volume / 85, 1), average: (high + low) * 50))
    }
    return bars
  }

  /// A day as far as `minutes` of its session make it up; nil before the regular ones begin.
  package func day(of minutes: [Bar], session: Int) -> Bar? {
    let hours = calendar.sessions[session]
    let opening = Timestamp(day: hours.day, newYorkSecondOfDay: USCalendar.Session.opens)
    let closing = Timestamp(day: hours.day, newYorkSecondOfDay: hours.closes)
    let regular = minutes.filter { opening <= $0.start && $0.start < closing }
    guard var day = regular.first else { return nil }
    for minute in regular.dropFirst() { day.append(minute) }
    for minute in minutes where minute.start < opening || minute.start >= closing {
      day.appendVolume(minute)
    }
    day.start = Timestamp(day: hours.day, newYorkSecondOfDay: 0)
    day.average = min(max(day.average, day.low * 100), day.high * 100)
    return day
  }
}

extension USMarket.Share {
  /// Of 1,000 minutes, how many have a trade.
  fileprivate func tradedPerMille(_ feed: USMarket.Feed, isRegular: Bool) -> Int64 {
    if isRegular { return feed == .sip ? minutesPerMille : minutesPerMille * 83 / 100 }
    return (feed == .sip ? 300 : 30) * (minutesPerMille - 500) / 500
  }
}

extension USMarket.Bar {
  /// What traded in this interval and then in `later`.
  package mutating func append(_ later: USMarket.Bar) {
    high = max(high, later.high)
    low = min(low, later.low)
    close = later.close
    appendVolume(later)
  }

  /// Trades of the extended hours count in a day's volume and not in its prices.
  fileprivate mutating func appendVolume(_ later: USMarket.Bar) {
    let money = Int128(average) * Int128(volume) + Int128(later.average) * Int128(later.volume)
    volume += later.volume
    trades += later.trades
    average = Int64(money / Int128(volume))
  }
}

/// Sessions drawn of late, so that a poller that asks every minute does not have them drawn anew.
private struct DrawnSessions: Sendable {
  private(set) var bars: [SessionKey: [USMarket.Bar]] = [:]
  private var order: [SessionKey] = []

  /// Both feeds of all shares for three days: 5 MB.
  private static let sessionsMax = 72

  mutating func keep(_ drawn: [USMarket.Bar], for key: SessionKey) {
    if bars.updateValue(drawn, forKey: key) == nil { order.append(key) }
    if order.count > DrawnSessions.sessionsMax { bars[order.removeFirst()] = nil }
  }
}

private struct SessionKey: Sendable, Hashable {
  var share: Int
  var session: Int
  var feed: USMarket.Feed
}
