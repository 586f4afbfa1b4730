/// What the feed follower hands to those who pass it on to apps: each commit of the daemon once, in
/// order, encoded.

import Market
import Reader

/// One commit.
package struct FeedUpdate: Sendable {
  package let epoch: Int64
  package let seq: Int64
  /// The server's clock at the commit.
  package let committedAt: Timestamp
  /// Whole objects of the series whose quotes changed, in order of place.
  package private(set) var stocks: [EncodedStock]
  /// What of it belongs to a log, made once for all who read it.
  let page: LogPage

  package var messages: [FeedMessage] { page.messages }

  package init(
    epoch: Int64, seq: Int64, committedAt: Timestamp, stocks: [EncodedStock],
    messages: [FeedMessage]
  ) {
    self.epoch = epoch
    self.seq = seq
    self.committedAt = committedAt
    self.stocks = stocks
    page = LogPage(seq: seq, messages: messages)
  }

  /// What a log keeps of it.
  var withoutStocks: FeedUpdate {
    var update = self
    update.stocks = []
    return update
  }
}

/// What belongs to a log and not to a state: each is sent once, in order.
package struct FeedMessage: Sendable, Equatable {
  package enum Kind: Sendable, Hashable {
    case candle(Timeframe)
    case gap
    case closedGap
    case certificate
    case minuteComplete
    /// Any other control event of the feed.
    case event
  }

  package let kind: Kind
  /// nil: for all who follow the channel.
  package let place: SeriesPlace?
  /// A JSON object in UTF-8: an element of a message's `data`.
  package let json: [UInt8]
  /// What a message of a candle shows; nil for any other.
  var candle: CandleFigures?
}

/// What other makers' APIs show of a candle, and no more: the log keeps it for a quarter of an
/// hour.
struct CandleFigures: Sendable, Equatable {
  let symbol: Symbol
  let openedAt: Timestamp
  let open: ExactDecimal
  let high: ExactDecimal
  let low: ExactDecimal
  let close: ExactDecimal
  let volume: ExactDecimal
  let averagePrice: ExactDecimal?
  /// Whether it was final before.
  let isRevised: Bool

  /// - Parameter series: nil where it is not known.
  init(_ candle: Candle, isRevised: Bool, series: SeriesRecord?) {
    symbol = candle.symbol
    openedAt = candle.openedAt
    (open, high, low, close) = (candle.open, candle.high, candle.low, candle.close)
    volume = candle.volume
    averagePrice = candle.averagePrice(in: series)
    self.isRevised = isRevised
  }
}

package enum FeedNews: Sendable {
  case update(FeedUpdate)
  /// Everything was read again: another database, or changes that are past the horizon.
  case resync(reason: ResyncReason, epoch: Int64, seq: Int64)
  /// PostgreSQL is away, or is back.
  case connection(lostAt: Timestamp?)
}

/// Raw values are those of the API.
package enum ResyncReason: String, Sendable {
  case pastHorizon = "past_horizon"
  case anotherDatabase = "another_database"
}
