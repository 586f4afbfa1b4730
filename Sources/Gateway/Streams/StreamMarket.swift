/// The market as one event loop knows it. A loop that changed it and served its followers in one
/// turn needs no stitching: a snapshot and the changes behind it come from the same state. Touched
/// on that loop only.

import Market

final class StreamMarket {
  private(set) var epoch: Int64
  private(set) var seq: Int64
  /// The server's clock at the last commit.
  private(set) var committedAt: Timestamp?
  private(set) var lostAt: Timestamp?
  private var stocks: [EncodedStock?]
  /// By place, 0 for none: what is compared for each follower at each commit, without touching the
  /// objects.
  private var seqs: [Int64]
  /// The newest commits that have log messages, all of them since `pagesSince`.
  private var pages: [LogPage] = []
  private var pagesSince: Int64
  private let source: any StreamSource

  init(_ source: any StreamSource) {
    let state = source.current
    (epoch, seq, pagesSince) = (state.epoch, state.seq, state.seq)
    (stocks, lostAt) = (state.stocks, state.lostAt)
    seqs = state.stocks.map { $0?.seq ?? 0 }
    self.source = source
  }

  /// The next commit; one that is known already changes nothing.
  /// - Returns: whether it was new.
  func apply(_ update: FeedUpdate) -> Bool {
    guard update.epoch == epoch, update.seq > seq else { return false }
    for stock in update.stocks { store(stock) }
    seq = update.seq
    committedAt = update.committedAt
    if !update.messages.isEmpty { append(update.page) }
    return true
  }

  /// The same quotes with another mark: PostgreSQL cannot be reached, or can again.
  func restate(_ state: MarketState) {
    guard state.epoch == epoch else { return }
    for case let stock? in state.stocks where seq(of: stock.place) == stock.seq { store(stock) }
    lostAt = state.lostAt
  }

  private func store(_ stock: EncodedStock) {
    let missing = stock.place.index + 1 - stocks.count
    if missing > 0 {
      stocks.append(contentsOf: repeatElement(nil, count: missing))
      seqs.append(contentsOf: repeatElement(0, count: missing))
    }
    stocks[stock.place.index] = stock
    seqs[stock.place.index] = stock.seq
  }

  private func append(_ page: LogPage) {
    if pages.count == StreamLimits.pagesMax { pagesSince = pages.removeFirst().seq }
    pages.append(page)
  }

  /// The change that wrote a series' quote; 0 if it has none.
  func seq(of place: SeriesPlace) -> Int64 {
    place.index < seqs.count ? seqs[place.index] : 0
  }

  func stock(at place: SeriesPlace) -> EncodedStock? {
    place.index < stocks.count ? stocks[place.index] : nil
  }

  /// Whether there is no more log than what `log(after:)` has.
  var hasLog: Bool { source.hasLog }

  /// Commits with log messages behind `after`, oldest first; nil if some are no longer kept.
  func log(after: Int64) -> [LogPage]? {
    if after >= seq { return [] }
    if after >= pagesSince {
      guard let first = pages.firstIndex(where: { $0.seq > after }) else { return [] }
      return Array(pages[first...])
    }
    return source.updates(after: after)?
      .filter { $0.seq <= seq && !$0.messages.isEmpty }.map(\.page)
  }
}
