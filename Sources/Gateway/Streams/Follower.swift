/// One follower of the market, a WebSocket or an event stream: what it may, what it wants, and how
/// far it is behind.
///
/// A value without I/O or clock. Events change it; messages are pulled by `next` while the
/// connection takes them, so that a follower that does not read costs no memory: quotes are state,
/// and of what it missed it gets the newest of each; the log it reads on from where it stopped.
/// Snapshot, conflation, `every` and resumption are one thing: series whose seq is above a cursor.

struct Follower: Sendable {
  var access: Access
  var inbox: Inbox
  var prices = PlaceSet()
  var logs = LogInterests()
  /// Of the token's user.
  var outbox = OutboxCursor()
  /// Of the user's accounts, what the client has not got.
  private var portfolios: [Int64: [UInt8]] = [:]
  var jobs: [Job] = []
  var lag = Lag()
  private(set) var replies: [FollowerOutput] = []
  private(set) var isClosed = false
  private var stall: Stall?
  private var held = HeldCommits()
  private var heartbeatAt: Int64

  /// Times are milliseconds of a steady clock.
  init(isAnonymousAllowed: Bool, now: Int64) {
    access = Access(
      isGranted: isAnonymousAllowed, mayReadMarket: isAnonymousAllowed,
      deadline: now + StreamLimits.authenticationMillisecondsMax)
    inbox = Inbox(now: now)
    heartbeatAt = now + StreamLimits.heartbeatMilliseconds
  }

  struct Access: Equatable, Sendable {
    var isGranted: Bool
    /// A token may be for its user's own things alone.
    var mayReadMarket: Bool
    var deadline: Int64
    /// An authorization is under way; what arrives meanwhile waits for it.
    var isPending = false
    var requestID: RequestID?
  }

  /// How far the live channels are behind; nil: not at all.
  struct Lag: Equatable, Sendable {
    var prices: PriceScan?
    var log: LogCursor?
    /// Up to here all prices were sent, so that the log may follow.
    var pricesThrough: Int64 = 0
    var everyMilliseconds: Int64 = 0
    var pricesDueAt: Int64 = 0
  }

  /// A pass over the followed series, which sends those that changed behind `since`.
  struct PriceScan: Equatable, Sendable {
    let since: Int64
    /// What it reaches: the market's seq when the pass began.
    var target: Int64 = 0
    var position = 0
  }

  private struct Stall: Equatable, Sendable {
    var since: Int64
    var bufferedBytes: Int
    var checkAt: Int64
  }

  struct Reached: Equatable, Sendable {
    /// nil: there is no such point yet.
    let seq: Int64?
    /// nil: it follows no log.
    let log: LogCursor?
    /// Of the user's outbox; nil: it follows none.
    var number: Int64?
    var epoch: Int64?
  }

  private struct HeldCommits: Equatable, Sendable {
    var count = 0
    var isAnnounced = false
  }

  // MARK: Replies

  mutating func reply(_ output: FollowerOutput) { replies.append(output) }

  /// The last message; nothing follows it.
  mutating func close(_ reason: StreamClose) {
    guard !isClosed else { return }
    isClosed = true
    (jobs, lag.prices, lag.log, stall) = ([], nil, nil, nil)
    outbox = OutboxCursor()
    portfolios = [:]
    replies.append(.close(reason))
  }

  var followsMarket: Bool { !(prices.isEmpty && logs.isEmpty && jobs.isEmpty) }

  var followsPortfolios: Bool { outbox.channels.contains(.portfolios) }

  /// By account: the newest alone is of use.
  mutating func received(portfolios newest: [Int64: [UInt8]]) {
    if followsPortfolios { portfolios.merge(newest) { $1 } }
  }

  /// Of another user's nothing is sent any more.
  mutating func forgetUser() { (outbox, portfolios) = (OutboxCursor(), [:]) }

  /// What of the user's was read from the database.
  mutating func received(_ page: OutboxPage) {
    if !outbox.receive(page) { reply(.failed(id: nil, .unknownNumber)) }
  }

  // MARK: The market

  /// A commit concerns the follower.
  /// - Parameter previousSeq: of the market before it.
  /// - Returns: what is sent although the connection takes nothing more.
  mutating func marketChanged(
    by update: FeedUpdate, previousSeq: Int64, isWritable: Bool, in market: StreamMarket
  ) -> FollowerOutput? {
    guard !isClosed else { return nil }
    if lag.prices == nil, !prices.isEmpty, !update.stocks.isEmpty {
      lag.prices = PriceScan(since: previousSeq)
    }
    if lag.log == nil, !logs.isEmpty, !update.messages.isEmpty {
      lag.log = LogCursor(after: previousSeq)
    }
    guard !isWritable else { return nil }
    held.count += 1
    guard held.count > 1, !held.isAnnounced, let since = lag.prices?.since else { return nil }
    held.isAnnounced = true
    return .slow(conflated: prices.places.count { market.seq(of: $0) > since })
  }

  /// Everything was read again.
  /// - Parameter seq: up to here the log was sent, or cannot be.
  mutating func resynced(_ reason: ResyncReason, seq: Int64, in market: StreamMarket) {
    guard !isClosed else { return }
    (jobs, lag.prices, lag.log) = ([], nil, nil)
    reply(.resync(reason, epoch: market.epoch, seq: market.seq))
    if !prices.isEmpty { jobs = [.snapshot(SnapshotJob(of: prices, since: nil, in: market))] }
    if !logs.isEmpty, seq < market.seq { lag.log = LogCursor(after: seq) }
  }

  /// The state of the feed changed: the next heartbeat is due.
  mutating func feedChanged(now: Int64) { heartbeatAt = min(heartbeatAt, now) }

  // MARK: Pulled by the connection

  /// The next message, while the connection takes one.
  /// - Parameter isAlone: whether it is the first of a write.
  mutating func next(
    in market: StreamMarket, now: Int64, isAlone: Bool = true
  ) -> FollowerOutput? {
    if !replies.isEmpty { return replies.removeFirst() }
    if let taken = outbox.take() {
      return .updates(
        taken.channel, number: outbox.sent ?? 0, epoch: outbox.epoch ?? 0, items: taken.items)
    }
    if let account = portfolios.keys.min(), let json = portfolios.removeValue(forKey: account) {
      if followsPortfolios { return .portfolios(objects: [json]) }
    }
    guard access.isGranted, !isClosed else { return nil }
    if let output = nextOfJobs(in: market) ?? nextLive(in: market, now: now) { return output }
    held = HeldCommits()
    let earlyMilliseconds = isAlone ? 0 : StreamLimits.heartbeatEarlyMilliseconds
    guard now + earlyMilliseconds >= heartbeatAt else { return nil }
    heartbeatAt = now + StreamLimits.heartbeatMilliseconds
    return .heartbeat(seq: resumeSeq(in: market))
  }

  /// Whether `next` may have something.
  func hasMore(in market: StreamMarket, now: Int64) -> Bool {
    guard replies.isEmpty, outbox.isEmpty, portfolios.isEmpty else { return true }
    guard access.isGranted, !isClosed else { return false }
    return !jobs.isEmpty || lag.prices != nil && now >= lag.pricesDueAt
      || (lag.log?.after ?? market.seq) < market.seq
  }

  private mutating func nextOfJobs(in market: StreamMarket) -> FollowerOutput? {
    while let job = jobs.first {
      switch job {
      case .snapshot(var snapshot):
        let output = snapshot.next(of: prices, in: market)
        jobs[0] = .snapshot(snapshot)
        if snapshot.isFinished { jobs.removeFirst() }
        return .snapshot(output)
      case .replay(var replay):
        let step = replay.cursor.next(
          for: replay.interests, through: replay.through, in: market)
        jobs[0] = .replay(replay)
        switch step {
        case .message(let type, let objects):
          return .log(type: type, seq: replay.cursor.after, objects: objects)
        case .end: jobs.removeFirst()
        case .pastHorizon: return pastHorizon(in: market)
        }
      }
    }
    return nil
  }

  private mutating func nextLive(in market: StreamMarket, now: Int64) -> FollowerOutput? {
    let arePricesDue = lag.prices != nil && now >= lag.pricesDueAt
    if arePricesDue {
      // The log up to the last complete pass goes first, so that prices never starve it.
      if let output = nextOfLog(through: lag.pricesThrough, in: market) { return output }
      while lag.prices != nil, now >= lag.pricesDueAt {
        if let output = nextPrices(in: market, now: now) { return output }
      }
    }
    return nextOfLog(through: market.seq, in: market)
  }

  /// Of a message of prices.
  private static let objectsUsual = 8

  private mutating func nextPrices(in market: StreamMarket, now: Int64) -> FollowerOutput? {
    guard var scan = lag.prices else { return nil }
    if scan.position == 0 { scan.target = market.seq }
    var objects: [EncodedStock] = []
    objects.reserveCapacity(min(prices.count - scan.position, Self.objectsUsual))
    var bytes = 0
    while scan.position < prices.count {
      let place = prices.places[scan.position]
      if market.seq(of: place) > scan.since, let stock = market.stock(at: place) {
        bytes += stock.json.count + 1
        guard objects.isEmpty || bytes <= StreamLimits.objectBytesMax else { break }
        objects.append(stock)
      }
      scan.position += 1
    }
    if scan.position < prices.count {
      lag.prices = scan
    } else {
      lag.prices = scan.target < market.seq ? PriceScan(since: scan.target) : nil
      lag.pricesThrough = scan.target
      if !objects.isEmpty { lag.pricesDueAt = now + lag.everyMilliseconds }
    }
    return objects.isEmpty ? nil : .prices(seq: resumeSeq(in: market), objects: objects)
  }

  private mutating func nextOfLog(
    through: Int64, in market: StreamMarket
  ) -> FollowerOutput? {
    guard var cursor = lag.log else { return nil }
    let step = cursor.next(for: logs, through: min(through, market.seq), in: market)
    lag.log = cursor == LogCursor(after: market.seq) ? nil : cursor
    return switch step {
    case .message(let type, let objects):
      .log(type: type, seq: resumeSeq(in: market), objects: objects)
    case .end: nil
    case .pastHorizon: pastHorizon(in: market)
    }
  }

  private mutating func pastHorizon(in market: StreamMarket) -> FollowerOutput? {
    resynced(.pastHorizon, seq: market.seq, in: market)
    return replies.removeFirst()
  }

  /// What to name in `after` so that nothing is missed.
  func resumeSeq(in market: StreamMarket) -> Int64 {
    min(lag.prices?.since ?? market.seq, lag.log?.after ?? market.seq)
  }

  /// How far the follower got, unless a snapshot is owed. The log can be ahead of prices that wait
  /// for `every`: a client that comes again names both, and gets no candle twice.
  func reached(in market: StreamMarket) -> Reached {
    var (log, owesSnapshot) = (lag.log ?? LogCursor(after: market.seq), false)
    for job in jobs {
      switch job {
      case .snapshot: owesSnapshot = true
      case .replay(let replay): log = min(log, replay.cursor)
      }
    }
    return Reached(
      seq: owesSnapshot ? nil : min(lag.prices?.since ?? market.seq, log.after),
      log: logs.isEmpty ? nil : log, number: outbox.isFollowed ? outbox.sent : nil,
      epoch: outbox.epoch)
  }

  // MARK: Time

  /// When `tick` is due.
  var deadline: Int64 {
    if isClosed { return .max }
    if let stall { return stall.checkAt }
    if !access.isGranted { return access.deadline }
    return lag.prices == nil ? heartbeatAt : min(heartbeatAt, lag.pricesDueAt)
  }

  mutating func tick(
    bufferedBytes: Int, now: Int64,
    stallMillisecondsMax: Int64 = StreamLimits.stallMillisecondsMax
  ) {
    if !access.isGranted, now >= access.deadline { close(.authenticationTimeout) }
    guard var stalled = stall, now >= stalled.checkAt else { return }
    if bufferedBytes < stalled.bufferedBytes { stalled.since = now }
    stalled.bufferedBytes = bufferedBytes
    stalled.checkAt = now + StreamLimits.stallCheckMilliseconds
    stall = stalled
    if now - stalled.since >= stallMillisecondsMax { close(.tooSlow) }
  }

  /// The connection takes nothing more for now.
  mutating func blocked(bufferedBytes: Int, now: Int64) {
    guard stall == nil, !isClosed else { return }
    stall = Stall(
      since: now, bufferedBytes: bufferedBytes,
      checkAt: now + StreamLimits.stallCheckMilliseconds)
  }

  mutating func unblocked() { stall = nil }
}
