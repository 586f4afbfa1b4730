import Market

@testable import Gateway

/// A follower without a channel: events in, messages out, a clock that the test moves.
struct StreamsFollower {
  let source: StreamsMarket
  var market: StreamMarket
  var follower: Follower
  var now: Int64 = 0
  var isWritable = true
  /// What was sent although nothing more was taken.
  var urgent: [FollowerOutput] = []
  var authorizing: [StreamCredential] = []

  init(
    _ source: StreamsMarket, credential: StreamCredential? = nil, isAnonymousAllowed: Bool = true
  ) {
    self.source = source
    market = StreamMarket(source)
    follower = Follower(isAnonymousAllowed: isAnonymousAllowed, now: 0)
    perform(follower.opened(with: credential, in: market))
  }

  mutating func perform(_ actions: [FollowerAction]) {
    for case .authorize(let credential) in actions { authorizing.append(credential) }
  }

  mutating func send(_ json: String) {
    let message = ClientMessage(json: Array(json.utf8))
    perform(follower.received(message, bytes: 0, now: now, in: market, resolve: source.resolve))
  }

  mutating func authorized(_ admission: StreamAdmission) {
    follower.access.mayReadMarket = admission == .granted
    perform(follower.authorized(admission, in: market, resolve: source.resolve))
  }

  mutating func deliver(_ update: FeedUpdate) {
    let previous = market.seq
    guard market.apply(update) else { return }
    if let output = follower.marketChanged(
      by: update, previousSeq: previous, isWritable: isWritable, in: market)
    {
      urgent.append(output)
    }
  }

  /// Everything that is due.
  mutating func pull() -> [FollowerOutput] {
    var outputs: [FollowerOutput] = []
    var before = 0
    repeat {
      before = outputs.count
      while let output = follower.next(in: market, now: now) { outputs.append(output) }
      perform(follower.handleWaiting(in: market, resolve: source.resolve))
    } while outputs.count > before
    return outputs
  }

  /// Opened, with the first answers read.
  static func following(
    _ source: StreamsMarket, prices: [Int] = [], every: Int? = nil, candles: [Int] = []
  ) -> StreamsFollower {
    var one = StreamsFollower(source)
    one.send(subscription(prices: prices, every: every, candles: candles))
    _ = one.pull()
    return one
  }

  static func subscription(
    prices: [Int] = [], every: Int? = nil, candles: [Int] = [], after: (Int64, Int64)? = nil,
    log: LogCursor? = nil
  ) -> String {
    var channels: [String] = []
    let names = { (indices: [Int]) in indices.map { "\"s\($0)\"" }.joined(separator: ",") }
    if !prices.isEmpty {
      let pace = every.map { ",\"every\":\"\($0)s\"" } ?? ""
      channels.append("{\"name\":\"stock-prices\",\"symbols\":[\(names(prices))]\(pace)}")
    }
    if !candles.isEmpty {
      channels.append("{\"name\":\"candles\",\"symbols\":[\(names(candles))]}")
    }
    let log = log.map { ",\"logSeq\":\($0.after),\"logPosition\":\($0.position)" } ?? ""
    let point = after.map { ",\"after\":{\"epoch\":\($0.0),\"seq\":\($0.1)\(log)}" } ?? ""
    let list = channels.joined(separator: ",")
    return "{\"action\":\"subscribe\",\"id\":\"7\"\(point),\"channels\":[\(list)]}"
  }
}
