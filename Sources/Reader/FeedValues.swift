import Market

/// What followers of the change feed get: the rows behind a change, not its keys.

/// One commit of the daemon.
public struct FeedChange: Sendable {
  /// Contiguous, in commit order.
  public var seq: Int64
  /// The server's clock.
  public var committedAt: Timestamp
  /// The daemon's clock.
  public var knownAt: Timestamp
  /// The quotes whose latest change this is; one that changed again since comes with that change.
  public var quotes: [LatestQuote] = []
  /// Candles that became final: each exactly once in the life of a feed.
  public var candles: [StoredCandle] = []
  /// Final candles that changed, as they are now.
  public var revisions: [StoredCandle] = []
  /// Opened, and closed because their minutes were found.
  public var gaps: [Gap] = []
  public var closedGaps: [Gap] = []
  public var certificates: [DayCertificate] = []
  public var events: [FeedEvent] = []
  /// How many rows of a source were refused.
  public var rejections: Int
}

/// A final candle as it is stored now.
public struct StoredCandle: Sendable, Hashable {
  public var candle: Candle
  /// When these values became known, by the daemon's clock.
  public var knownFrom: Timestamp
  /// 0 as first written.
  public var revision: Int16
}

/// The latest snapshot of an instrument and the minute that is still open.
public struct LatestQuote: Sendable {
  public var quote: Quote
  /// Of the series: a symbol may have several.
  public var source: Source
  public var name: String?
  public var forming: Candle?
  public var receivedAt: Timestamp
  /// The change that wrote it.
  public var seq: Int64

  package init(
    quote: Quote, source: Source, name: String?, forming: Candle?, receivedAt: Timestamp,
    seq: Int64
  ) {
    self.quote = quote
    self.source = source
    self.name = name
    self.forming = forming
    self.receivedAt = receivedAt
    self.seq = seq
  }
}

/// Everything current, as of one moment, and the place in the feed from which to follow.
public struct FeedSnapshot: Sendable {
  public var epoch: Int64
  public var seq: Int64
  /// By instrument id.
  public var quotes: [LatestQuote]
  public var overview: [OverviewRow]
  /// The last change by the server's clock, and by the daemon's; nil before the first.
  public var committedAt: Timestamp?
  public var knownAt: Timestamp?
}

public enum FeedItem: Sendable {
  case change(FeedChange)
  /// These changes are past the horizon: take a snapshot, or query for what was missed.
  case skipped(from: Int64, to: Int64)
  /// Another database life (restored, or made anew): take a snapshot. Goes on after `seq`.
  case restarted(epoch: Int64, seq: Int64)
}
