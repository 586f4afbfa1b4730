/// Alpaca's stream of market data, at `/v2/{feed}`. Each quote and candle is translated once for
/// all who get it.

import Market
import NIOHTTP1
import Platform
import Reader

final class AlpacaStream: StreamDoor {
  let door = AlpacaDoor.door
  let market: @Sendable () -> MarketState
  private let translations = Locked<[[UInt8]: AlpacaTranslation?]>([:])

  /// More than a sweep changes; they are made anew then.
  private static let translationsMax = 8_192
  private static let feedLengthMax = 16

  init(market: @escaping @Sendable () -> MarketState) { self.market = market }

  func translator(for head: HTTPRequestHead) -> (any StreamTranslator)? {
    let upgrades = head.headers[canonicalForm: "upgrade"]
    guard head.method == .GET, upgrades.contains(where: { $0.lowercased() == "websocket" })
    else { return nil }
    let path = head.uri.prefix { $0 != "?" }
    guard path.hasPrefix(door.path + "/") else { return nil }
    let feed = path.dropFirst(door.path.count + 1)
    guard (1...Self.feedLengthMax).contains(feed.utf8.count),
      feed.utf8.allSatisfy({ (97...122).contains($0) || $0 == 95 })
    else { return nil }
    let types = head.headers[canonicalForm: "content-type"].map { $0.lowercased() }
    return AlpacaTranslator(
      self, feed: String(feed), isBinary: types.contains { $0.hasPrefix("application/msgpack") })
  }

  /// - Parameter object: of the market, encoded once for all.
  func translation(
    of object: [UInt8], make: ([UInt8]) -> AlpacaTranslation?
  ) -> AlpacaTranslation? {
    if let known = translations.withLock({ $0[object] }) { return known }
    let made = make(object)
    translations.withLock { translations in
      if translations.count >= Self.translationsMax { translations.removeAll() }
      translations[object] = .some(made)
    }
    return made
  }
}

/// What can be subscribed to here. Raw values are Alpaca's.
enum AlpacaChannel: String, CaseIterable, Sendable {
  case quotes, bars, updatedBars, dailyBars

  /// The `T` of its messages.
  var type: String {
    switch self {
    case .quotes: "q"
    case .bars: "b"
    case .updatedBars: "u"
    case .dailyBars: "d"
    }
  }
}

/// A message of the stream: whole for those who spell the symbol as we do.
struct AlpacaTranslation: Sendable {
  let channel: AlpacaChannel
  let symbol: String
  private let message: AlpacaMessage
  private let json: [UInt8]
  private let packed: [UInt8]

  private init(_ message: AlpacaMessage, channel: AlpacaChannel, symbol: String) {
    self.channel = channel
    self.symbol = symbol
    self.message = message
    let named = message.named(channel.type, symbol: symbol)
    (json, packed) = (named.json, named.packed)
  }

  /// nil where there is no book.
  init?(stock json: [UInt8]) {
    guard let stock = PublishedStock(json: json), let quote = AlpacaMessage(quote: stock) else {
      return nil
    }
    self.init(quote, channel: .quotes, symbol: stock.symbol)
  }

  /// A final minute is `b`, a revised one `u`; a day is `d`, again when it is revised.
  init?(candle json: [UInt8]) {
    guard let candle = PublishedCandle(json: json) else { return nil }
    let isDay = candle.interval == Timeframe.day1.interval
    self.init(
      AlpacaMessage(candle),
      channel: isDay ? .dailyBars : candle.state == "final" ? .bars : .updatedBars,
      symbol: candle.symbol)
  }

  func bytes(spelled name: String, isBinary: Bool) -> [UInt8] {
    if name == symbol { return isBinary ? packed : json }
    let named = message.named(channel.type, symbol: name)
    return isBinary ? named.packed : named.json
  }
}
