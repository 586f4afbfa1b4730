/// Alpaca's stream of market data, at `/v2/{feed}`. Each quote and candle is translated once for
/// all who get it about the same time.

import Market
import NIOHTTP1
import Platform

final class AlpacaStream: Sendable {
  let market: @Sendable () -> MarketState
  private let translations = Locked<[Translated: Known]>([:])

  private struct Translated: Hashable {
    let symbol: Symbol
    /// nil: quotes.
    var timeframe: Timeframe?
  }

  /// Of the newest object that was translated.
  private struct Known {
    let json: [UInt8]
    let translation: AlpacaTranslation?
  }

  private static let feedLengthMax = 16
  /// Quotes, minutes and days of a mainland market; more are made anew.
  private static let translationsMax = 3 * 5_400

  init(market: @escaping @Sendable () -> MarketState) { self.market = market }

  func translator(for head: HTTPRequestHead) -> (any StreamTranslator)? {
    let path = AlpacaDoor.door.path + "/"
    guard head.offersWebSocket, head.path.hasPrefix(path) else { return nil }
    let feed = head.path.dropFirst(path.count)
    guard (1...Self.feedLengthMax).contains(feed.utf8.count),
      feed.utf8.allSatisfy({ (97...122).contains($0) || $0 == 95 })
    else { return nil }
    let types = head.headers[canonicalForm: "content-type"].map { $0.lowercased() }
    return AlpacaTranslator(
      self, feed: String(feed), isBinary: types.contains { $0.hasPrefix("application/msgpack") })
  }

  /// nil where there is no book.
  func translation(of stock: EncodedStock) -> AlpacaTranslation? {
    let quote = stock.quote
    return translation(of: Translated(symbol: quote.symbol), json: stock.json) {
      AlpacaTranslation(quote: quote)
    }
  }

  /// nil of what is no candle.
  func translation(of message: FeedMessage) -> AlpacaTranslation? {
    guard case .candle(let timeframe) = message.kind, let candle = message.candle else {
      return nil
    }
    let translated = Translated(symbol: candle.symbol, timeframe: timeframe)
    return translation(of: translated, json: message.json) {
      AlpacaTranslation(candle: candle, of: timeframe)
    }
  }

  private func translation(
    of translated: Translated, json: [UInt8], make: () -> AlpacaTranslation?
  ) -> AlpacaTranslation? {
    // The bytes that all get are the same memory: that is how they compare.
    if let known = translations.withLock({ $0[translated] }), known.json == json {
      return known.translation
    }
    let made = make()
    translations.withLock { translations in
      if translations[translated] == nil, translations.count >= Self.translationsMax {
        translations.removeAll()
      }
      translations[translated] = Known(json: json, translation: made)
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
  init?(quote: Quote) {
    guard let message = AlpacaMessage(quote: quote) else { return nil }
    self.init(message, channel: .quotes, symbol: quote.symbol.description)
  }

  /// A final minute is `b`, a revised one `u`; a day is `d`, again when it is revised.
  init(candle: CandleFigures, of timeframe: Timeframe) {
    self.init(
      AlpacaMessage(candle),
      channel: timeframe == .day1 ? .dailyBars : candle.isRevised ? .updatedBars : .bars,
      symbol: candle.symbol.description)
  }

  func bytes(spelled name: String, isBinary: Bool) -> [UInt8] {
    if name == symbol { return isBinary ? packed : json }
    let named = message.named(channel.type, symbol: name)
    return isBinary ? named.packed : named.json
  }
}
