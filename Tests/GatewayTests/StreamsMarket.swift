import AppStore
import Market
import NIOConcurrencyHelpers

@testable import Gateway

/// A market that a test commits to: what the feed follower publishes, in memory. Series `n` has the
/// symbol "s<n>".
final class StreamsMarket: StreamSource {
  struct State: Sendable {
    var market: MarketState
    var ring: [FeedUpdate] = []
    var ringMax: Int
  }

  let state: NIOLockedValueBox<State>
  let count: Int
  private let page: OutboxPage?
  private let log: FeedRing?

  /// All series have a quote of seq 1.
  /// - Parameters:
  ///   - page: of each user's outbox; nil: the database cannot be read.
  ///   - log: the one that streams wait for; nil: it was read.
  init(
    count: Int, epoch: Int64 = 7, ringMax: Int = 1_000, padding: Int = 0,
    outbox page: OutboxPage? = nil, log: FeedRing? = nil
  ) {
    self.count = count
    (self.page, self.log) = (page, log)
    let stocks = (0..<count).map { Self.stock($0, seq: 1, padding: padding) }
    state = NIOLockedValueBox(
      State(
        market: MarketState(epoch: epoch, seq: 1, stocks: stocks), ringMax: ringMax))
  }

  static func stock(_ index: Int, seq: Int64, padding: Int = 0) -> EncodedStock {
    let text = String(repeating: "x", count: padding)
    let json = "{\"symbol\":\"s\(index)\",\"seq\":\(seq),\"text\":\"\(text)\"}"
    return stock(index, seq: seq, json: json)
  }

  /// Its quote has no book.
  static func stock(_ index: Int, seq: Int64, json: String) -> EncodedStock {
    let quote = Quote(
      symbol: Symbol(low: UInt64(index), high: 0), tradingDay: TradingDay(daysSince1970: 20_640),
      secondOfDay: 34_200)
    return EncodedStock(quote, index: index, seq: seq, json: Array(json.utf8))
  }

  static func candle(_ index: Int, number: Int, padding: Int = 0) -> FeedMessage {
    let text = String(repeating: "x", count: padding)
    let json = "{\"symbol\":\"s\(index)\",\"number\":\(number),\"text\":\"\(text)\"}"
    return FeedMessage(
      kind: .candle(.minute1), place: SeriesPlace(index: index), json: Array(json.utf8))
  }

  /// The next commit, published.
  func commit(
    stocks indices: [Int] = [], messages: [FeedMessage] = [], padding: Int = 0
  ) -> FeedUpdate {
    state.withLockedValue { state in
      state.market.seq += 1
      let seq = state.market.seq
      let stocks = indices.sorted().map { Self.stock($0, seq: seq, padding: padding) }
      for stock in stocks { state.market.stocks[stock.place.index] = stock }
      let update = FeedUpdate(
        epoch: state.market.epoch, seq: seq, committedAt: Timestamp(seconds: seq), stocks: stocks,
        messages: messages)
      state.ring.append(update)
      if state.ring.count > state.ringMax { state.ring.removeFirst() }
      return update
    }
  }

  func restore(epoch: Int64, seq: Int64) {
    state.withLockedValue { state in
      (state.market.epoch, state.market.seq, state.ring) = (epoch, seq, [])
    }
  }

  var current: MarketState { state.withLockedValue { $0.market } }

  var hasLog: Bool { log?.isComplete ?? true }

  func updates(after seq: Int64) -> [FeedUpdate]? {
    state.withLockedValue { state in
      guard seq < state.market.seq else { return [] }
      guard let first = state.ring.first, first.seq <= seq + 1 else { return nil }
      return state.ring.filter { $0.seq > seq }
    }
  }

  var resolver: Follower.Resolver { resolve }

  func resolve(_ symbol: String) -> SeriesPlace? {
    guard symbol.hasPrefix("s"), let index = Int(symbol.dropFirst()), index >= 0, index < count
    else { return nil }
    return SeriesPlace(index: index)
  }

  func outbox(of userID: Int64, after number: Int64?) async -> OutboxPage? { page }
}

/// Token "good" may read the market, "own" its user's things alone, "poor" nothing, "often" is over
/// its rate; ticket "once" is a token, too.
struct StreamsAccess: StreamAccess {
  var identity: @Sendable () -> Result<String?, Problem> = { .success(nil) }
  var holdsStill: @Sendable () -> Bool = { true }
  var isPaid: @Sendable (_ cost: Int, AccessKey) -> Bool = { _, _ in true }
  var waitMilliseconds: @Sendable (_ bytes: Int) -> Int64 = { _ in 0 }

  func identity(of peer: StreamPeer) -> Result<String?, Problem> { identity() }

  func isInForce(_ grant: StreamGrant) -> Bool { holdsStill() }

  func client(at peer: StreamPeer) -> AccessKey { .address([]) }

  func pay(_ cost: Int, by client: AccessKey) -> Bool { isPaid(cost, client) }

  func draw(_ bytes: Int, by client: AccessKey) -> Int64 { waitMilliseconds(bytes) }

  func grant(
    for credential: StreamCredential, from peer: StreamPeer
  ) -> Result<StreamGrant, Problem> {
    switch credential {
    case .token("good"), .ticket("once"):
      .success(StreamGrant(identity: "a", client: .user(1), mayReadMarket: true))
    case .token("own"):
      .success(StreamGrant(identity: "c", client: .user(5), mayReadMarket: false, userID: 5))
    case .token("poor"):
      .success(StreamGrant(identity: "b", client: .user(2), mayReadMarket: false))
    case .token("often"): .failure(.tooManyRequests(retryAfterSeconds: 3))
    default: .failure(.unauthenticated)
    }
  }
}
