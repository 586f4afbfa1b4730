/// What the gateway's own API sends, read again. Doors translate that, so that what comes through
/// a door cannot differ from what apps get, and nothing is kept twice.

import Foundation
import Market

/// A decimal that was written as a string.
struct PublishedDecimal: Decodable, Sendable {
  let value: ExactDecimal

  init(from decoder: any Decoder) throws {
    value = try ExactDecimal(try decoder.singleValueContainer().decode(String.self))
  }
}

struct PublishedMoment: Decodable, Sendable {
  let value: Timestamp

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let value = Timestamp(rfc3339: try container.decode(String.self), zone: .utc) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "no time")
    }
    self.value = value
  }
}

/// An object of the API's type `Stock`: of one without a quote all but its names is nil.
struct PublishedStock: Decodable, Sendable {
  struct Level: Decodable, Sendable {
    let price: PublishedDecimal
    let volume: PublishedDecimal
  }

  let symbol: String
  let kind: String?
  let tradingDay: String?
  let quotedAt: PublishedMoment?
  let openPrice: PublishedDecimal?
  let highPrice: PublishedDecimal?
  let lowPrice: PublishedDecimal?
  let currentPrice: PublishedDecimal?
  let volume: PublishedDecimal?
  let turnover: PublishedDecimal?
  let limitUp: PublishedDecimal?
  let bids: [Level]?
  let asks: [Level]?
  let stale: Bool

  /// - Parameter json: as `MarketState` has it.
  init?(json: [UInt8]) {
    guard let stock = try? JSONDecoder().decode(Self.self, from: Data(json)) else { return nil }
    self = stock
  }
}

/// An element of the messages `candles`.
struct PublishedCandle: Decodable, Sendable {
  let symbol: String
  let interval: String
  let openedAt: PublishedMoment
  let open: PublishedDecimal
  let high: PublishedDecimal
  let low: PublishedDecimal
  let close: PublishedDecimal
  let volume: PublishedDecimal
  let vwap: PublishedDecimal?
  /// `final` or `revised`.
  let state: String

  init?(json: [UInt8]) {
    guard let candle = try? JSONDecoder().decode(Self.self, from: Data(json)) else { return nil }
    self = candle
  }
}
