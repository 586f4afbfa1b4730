/// What a client asks, and its answers.

extension Follower {
  typealias Resolver = (_ symbol: String) -> SeriesPlace?

  /// - Parameter credential: of the request that opened the stream.
  mutating func opened(
    with credential: StreamCredential?, in market: StreamMarket
  ) -> [FollowerAction] {
    reply(.welcome(epoch: market.epoch, seq: market.seq))
    guard let credential else { return [] }
    access.isPending = true
    return [.authorize(credential)]
  }

  /// A message; every other frame counts as one, too: see `admit`.
  /// - Parameter bytes: what it took.
  mutating func received(
    _ message: ClientMessage, bytes: Int, now: Int64, in market: StreamMarket, resolve: Resolver
  ) -> [FollowerAction] {
    guard admit(now: now) else { return [] }
    guard !access.isPending, inbox.waiting.isEmpty, !mustWait(message) else {
      if !inbox.keep(message, bytes: bytes) { close(.tryAgainLater) }
      return []
    }
    return handle(message, in: market, resolve: resolve)
  }

  /// Whether one more message is within the limit; closes the stream if not.
  mutating func admit(now: Int64) -> Bool {
    guard !isClosed else { return false }
    guard inbox.admits(now: now) else {
      close(.tooManyMessages)
      return false
    }
    return true
  }

  mutating func authorized(
    _ admission: StreamAdmission, in market: StreamMarket, resolve: Resolver
  ) -> [FollowerAction] {
    access.isPending = false
    switch admission {
    case .refused(let reason): close(reason)
    case .granted:
      access.isGranted = true
      reply(.authenticated(id: access.requestID))
    }
    return handleWaiting(in: market, resolve: resolve)
  }

  /// Where the user's outbox ends is known now, so that what is stored from then on can be sent.
  /// - Parameter page: nil: the database cannot be read.
  mutating func outboxStarted(
    at page: OutboxPage?, in market: StreamMarket, resolve: Resolver
  ) -> [FollowerAction] {
    guard !isClosed, let request = outbox.starting else { return [] }
    (access.isPending, outbox.starting) = (false, nil)
    var actions: [FollowerAction] = []
    if let page {
      outbox.begin(at: page)
      actions = handle(.subscribe(request), in: market, resolve: resolve)
    } else {
      reply(.failed(id: request.id, .storeAway))
    }
    return actions + handleWaiting(in: market, resolve: resolve)
  }

  /// One resumption at a time: the next waits until all that was missed is sent.
  private func mustWait(_ message: ClientMessage) -> Bool {
    guard case .subscribe(let request) = message, request.after != nil else { return false }
    return jobs.contains { if case .replay = $0 { true } else { false } }
  }

  /// To be called when something that messages wait for may be over.
  mutating func handleWaiting(in market: StreamMarket, resolve: Resolver) -> [FollowerAction] {
    var actions: [FollowerAction] = []
    while mayHandleWaiting {
      actions += handle(inbox.takeFirst(), in: market, resolve: resolve)
    }
    return actions
  }

  var mayHandleWaiting: Bool {
    guard !isClosed, !access.isPending, let first = inbox.waiting.first else { return false }
    return !mustWait(first)
  }

  private mutating func handle(
    _ message: ClientMessage, in market: StreamMarket, resolve: Resolver
  ) -> [FollowerAction] {
    switch message {
    case .authenticate(let token, let id):
      (access.isPending, access.requestID) = (true, id)
      return [.authorize(.token(token))]
    case .ping(let id): reply(.pong(id: id))
    case .unknown(let action, let id): reply(.failed(id: id, .unknownAction(action)))
    case .strange(let field, let id): reply(.failed(id: id, .unknownField(field)))
    case .malformed(let id): reply(.failed(id: id, .malformed))
    case .subscribe(let request), .unsubscribe(let request):
      guard access.isGranted else {
        reply(.failed(id: request.id, .authenticationRequired))
        return []
      }
      let wanted = Wanted(request, resolve: resolve)
      if let error = wanted.errors.first { reply(.failed(id: request.id, error)) }
      guard wanted.isUsable else { return [] }
      if case .unsubscribe = message { return unsubscribe(wanted, id: request.id) }
      return subscribe(wanted, for: request, in: market)
    }
    return []
  }

  // MARK: Subscriptions

  private mutating func subscribe(
    _ wanted: Wanted, for request: ChannelsRequest, in market: StreamMarket
  ) -> [FollowerAction] {
    var (allPrices, allLogs) = (prices, logs)
    allPrices.formUnion(wanted.prices)
    for (channel, series) in wanted.logs.channels { allLogs.add(series, to: channel) }
    let counts = [allPrices.count] + allLogs.channels.keys.map(allLogs.count(of:))
    // Doors have a name for all there is.
    let isOfDoor = request.channels.contains { $0.places != nil }
    guard isOfDoor || counts.allSatisfy({ $0 <= StreamLimits.symbolsMax }) else {
      reply(.failed(id: request.id, .tooManySymbols))
      return []
    }
    guard access.mayReadMarket || !wanted.needsMarket else {
      reply(.failed(id: request.id, .marketRequired))
      return []
    }
    let resumption = request.after.map { Resumption(from: $0, for: wanted.logs, in: market) }
    if resumption?.failure == .pastHorizon, !market.hasLog {
      // What it missed is being read: nobody need load anew.
      close(.tryAgainLater)
      return []
    }
    if !wanted.ofUser.isEmpty {
      guard outbox.isAllowed else {
        reply(.failed(id: request.id, .accountRequired))
        return []
      }
      if outbox.last == nil, request.afterN == nil {
        (access.isPending, outbox.starting) = (true, request)
        return [.startOutbox]
      }
      outbox.follow(wanted.ofUser, after: request.afterN, in: request.epochN)
    }
    let followsLog = !logs.isEmpty
    let added = wanted.prices.places.filter { !prices.contains($0) }
    (prices, logs) = (allPrices, allLogs)
    lag.prices?.position = 0
    if let every = wanted.everyMilliseconds { lag.everyMilliseconds = every }
    var answer = FollowerOutput.Subscribed(
      id: request.id, channels: wanted.channels, unknown: wanted.unknown, to: market.seq)
    if !wanted.ofUser.isEmpty { (answer.number, answer.epoch) = (outbox.sent, outbox.epoch) }
    answer.isRecovered = resumption.map { $0.failure == nil }
    answer.from = resumption.flatMap { $0.failure == nil ? $0.seq : nil }
    reply(.subscribed(answer))
    if let reason = resumption?.failure {
      reply(.resync(reason, epoch: market.epoch, seq: market.seq))
    }
    if !followsLog, let resumption, resumption.failure == nil,
      resumption.log > LogCursor(after: market.seq)
    {
      // The client read from a gateway that is ahead of this one.
      lag.log = resumption.log
    }
    enqueue(wanted, resumption: resumption, in: market)
    return added.isEmpty ? [] : [.watch(added)]
  }

  private mutating func enqueue(
    _ wanted: Wanted, resumption: Resumption?, in market: StreamMarket
  ) {
    let resumption = resumption.flatMap { $0.failure == nil ? $0 : nil }
    let since = resumption?.seq
    let replays = resumption?.hasReplay ?? false
    if !wanted.prices.isEmpty {
      var snapshot = SnapshotJob(of: wanted.prices, since: since, in: market)
      // What waits of earlier subscriptions is behind it.
      snapshot.seq = min(replays ? since ?? market.seq : market.seq, resumeSeq(in: market))
      jobs.append(.snapshot(snapshot))
    }
    if let resumption, replays {
      jobs.append(
        .replay(
          ReplayJob(
            cursor: resumption.log, through: market.seq, interests: wanted.logs)))
    }
  }

  private mutating func unsubscribe(_ wanted: Wanted, id: RequestID?) -> [FollowerAction] {
    let before = prices
    outbox.end(wanted.ofUser)
    if wanted.namesAllPrices { prices = PlaceSet() } else { prices.subtract(wanted.prices) }
    for (channel, series) in wanted.logs.channels {
      logs.remove(series, from: channel)
      for index in jobs.indices {
        guard case .replay(var replay) = jobs[index] else { continue }
        replay.interests.remove(series, from: channel)
        jobs[index] = .replay(replay)
      }
    }
    if prices.isEmpty { lag.prices = nil }
    lag.prices?.position = 0
    if logs.isEmpty { lag.log = nil }
    reply(.unsubscribed(id: id, channels: wanted.channels, unknown: wanted.unknown))
    let removed = before.places.filter { !prices.contains($0) }
    return removed.isEmpty ? [] : [.unwatch(removed)]
  }

  /// Whether what a client missed can be sent.
  private struct Resumption {
    let seq: Int64
    let log: LogCursor
    let failure: ResyncReason?
    /// Whether the log has something for it.
    let hasReplay: Bool

    init(from point: ResumePoint, for interests: LogInterests, in market: StreamMarket) {
      seq = point.seq
      log = point.log
      guard point.epoch == market.epoch, seq >= 0, log >= LogCursor(after: 0) else {
        (failure, hasReplay) = (.anotherDatabase, false)
        return
      }
      let pages = interests.isEmpty ? [] : market.log(after: log.after)
      failure = pages == nil ? .pastHorizon : nil
      hasReplay = pages?.contains { !$0.indices(for: interests).isEmpty } ?? false
    }
  }
}
