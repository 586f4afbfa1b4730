/// Follows the daemon's feed for as long as it runs: publishes each state, keeps what belongs to a
/// log in the ring, and hands each commit to the sinks.
///
///     snapshot → publish → change, change, … → (skipped or another database) → snapshot → resync
///
/// With a snapshot it reads the log of the last minutes: clients that were cut off by a restart of
/// the gateway go on from there. Behind the first snapshot that is done while the feed is followed:
/// quotes do not wait for it, only who comes back does.
///
/// A lost connection stops nothing: the last state goes on, marked stale.

import CandledClient
import Logging
import Market
import Platform
import Reader

package final class FeedFollower: Sendable {
  private let url: String
  private let memory: MarketMemory
  private let ring: FeedRing
  private let sinks: [any FeedSink]
  private let pool: QueryPool
  private let mailbox: FeedMailbox?
  private let log: Logger
  private let assembler = Locked(FeedAssembler())
  private let wasLed = Locked(true)
  private let logReading = Locked<Task<Void, Never>?>(nil)

  /// How often to look without a hint of the server.
  private static let pollSeconds = 5
  /// What fires alerts is seen so late, at most, behind a server that was away.
  private static let retryMillisecondsMax: Int32 = 250
  /// One second apart.
  private static let logFailuresMax = 60
  /// Of the log that is read at once: a minute of the market.
  private static let candlesMax = 6_000

  /// - Parameters:
  ///   - pool: of its own: who asks for much history must not stop the feed.
  ///   - mailbox: is given each change as it was read.
  package init(
    url: String, memory: MarketMemory, ring: FeedRing, sinks: [any FeedSink], log: Logger,
    pool: QueryPool, mailbox: FeedMailbox? = nil
  ) {
    self.url = url
    self.memory = memory
    self.ring = ring
    self.sinks = sinks
    self.log = log
    self.pool = pool
    self.mailbox = mailbox
  }

  /// Returns once its task is cancelled.
  package func run() async {
    defer { logReading.withLock { $0?.cancel() } }
    var failures = 0
    while !Task.isCancelled {
      do throws(StoreError) {
        let client = try await CandledClient.connect(url)
        let snapshot = try await load(from: client)
        failures = 0
        try await follow(client, after: snapshot)
      } catch {
        if Task.isCancelled { return }
        lose(error, isFirst: failures == 0)
        failures += 1
        let ceiling = min(50 << Int32(min(failures, 7)), Self.retryMillisecondsMax)
        try? await Task.sleep(for: .milliseconds(Int32.random(in: 1...ceiling)))
      }
    }
  }

  private func load(from client: CandledClient) async throws(StoreError) -> FeedSnapshot {
    let snapshot = try await client.snapshot()
    // Read after the snapshot: whatever has a quote there is listed here.
    try await readDirectory()
    if memory.state.isLoaded {
      publish(snapshot, log: try await log(through: snapshot, on: pool))
    } else {
      let empty = FeedRing(bytesMax: ring.bytesMax)
      empty.reset(epoch: snapshot.epoch, seq: snapshot.seq, lacksPast: true)
      publish(snapshot, log: empty)
      let task = Task { await readLog(through: snapshot) }
      logReading.withLock { $0 = task }
    }
    return snapshot
  }

  /// Beside the feed, until it succeeds, all is read again, or apps have waited long enough; on a
  /// connection of its own, for the feed's must not wait.
  private func readLog(through snapshot: FeedSnapshot) async {
    let pool = QueryPool(url: url, connections: 1, log: log)
    var failures = 0
    while !Task.isCancelled, !ring.isComplete {
      do throws(StoreError) {
        return ring.prepend(try await log(through: snapshot, on: pool), through: snapshot.seq)
      } catch {
        failures += 1
        if failures == 1 {
          log.warning(
            "the last minutes' log cannot be read: apps that come back are sent away meanwhile",
            metadata: ["error": "\(error)"])
        }
        if failures == Self.logFailuresMax {
          log.warning(
            "the last minutes' log was not read: apps that come back load everything anew",
            metadata: ["error": "\(error)"])
          return ring.giveUpPast()
        }
        try? await Task.sleep(for: .seconds(1))
      }
    }
  }

  private func publish(_ snapshot: FeedSnapshot, log recent: FeedRing) {
    mailbox?.begin(epoch: snapshot.epoch, after: snapshot.seq)
    change { assembler in
      let before = assembler.state
      assembler.load(snapshot)
      memory.coverage.begin(at: snapshot.seq)
      let missed = recent.updates(after: before.seq, epoch: before.epoch)
      ring.replaceContents(by: recent)
      let restored: [FeedNews] =
        before.lostAt != nil && assembler.state.lostAt == nil ? [.connection(lostAt: nil)] : []
      return restored + news(of: missed, since: before, in: assembler.state)
    }
  }

  /// Streams go on where all that they missed is at hand.
  private func news(
    of missed: FeedRing.Reading, since before: MarketState, in state: MarketState
  ) -> [FeedNews] {
    let reason: ResyncReason
    switch missed {
    case .updates(let updates):
      let stocks = Dictionary(grouping: state.stocks.compactMap(\.self), by: \.seq)
      return updates.map { update in
        .update(
          FeedUpdate(
            epoch: update.epoch, seq: update.seq, committedAt: update.committedAt,
            stocks: stocks[update.seq] ?? [], messages: update.messages))
      }
    case .pastHorizon: reason = .pastHorizon
    case .anotherDatabase: reason = .anotherDatabase
    }
    if before.isLoaded {
      log.warning("everything was read again", metadata: ["reason": "\(reason.rawValue)"])
    }
    return [.resync(reason: reason, epoch: state.epoch, seq: state.seq)]
  }

  /// What is listed, and when it trades: anew with the first quote of each day.
  private func readDirectory() async throws(StoreError) {
    let (records, sessions) = try await pool.run { (reader) throws(StoreError) in
      (try reader.series(), try reader.sessions())
    }
    assembler.withLock { assembler in
      assembler.setDirectory(records)
      assembler.setCalendars(of: sessions)
    }
  }

  /// The log of the last minutes, as far as a snapshot reaches.
  /// - Throws: `transient`, too, if the database was restored since, a part was deleted meanwhile,
  ///   or another server answers.
  func log(
    through snapshot: FeedSnapshot, on pool: QueryPool
  ) async throws(StoreError) -> FeedRing {
    let recent = FeedRing(bytesMax: ring.bytesMax)
    var seq = try await pool.run { (reader) throws(StoreError) in
      try reader.seq(committedSecondsAgo: FeedRing.secondsMax, rowsMax: recent.messagesMax)
    }
    recent.reset(epoch: snapshot.epoch, seq: min(seq, snapshot.seq))
    while seq < snapshot.seq {
      let after = seq
      let batch = try await pool.run { (reader) throws(StoreError) in
        let batch = try reader.changes(after: after, candlesMax: Self.candlesMax)
        guard batch.epoch == snapshot.epoch, batch.skipped == nil, !batch.changes.isEmpty else {
          throw StoreError(
            .transient, message: "the log is not that of the snapshot", context: "follow")
        }
        return batch
      }
      for change in batch.changes where change.seq <= snapshot.seq {
        recent.append(assembler.withLock { $0.log(of: change, epoch: snapshot.epoch) })
      }
      seq = batch.changes.last?.seq ?? snapshot.seq
    }
    return recent
  }

  /// Returns when everything must be read again, and once cancelled.
  private func follow(
    _ client: CandledClient, after snapshot: FeedSnapshot
  ) async throws(StoreError) {
    var items = client.follow(
      after: snapshot, pollSeconds: Self.pollSeconds,
      retryMillisecondsMax: Self.retryMillisecondsMax
    ) { [weak self] in self?.note($0) }.makeAsyncIterator()
    while let item = try await items.next() {
      switch item {
      case .change(let change): try await apply(change)
      case .skipped, .restarted: return
      }
    }
  }

  private func apply(_ change: FeedChange) async throws(StoreError) {
    mailbox?.add(change)
    if assembler.withLock({ $0.needsDirectory(for: change) }) {
      try await readDirectory()
    }
    self.change { assembler in
      let update = assembler.apply(change)
      memory.coverage.apply(change, by: assembler.state.directory)
      ring.append(update)
      return [.update(update)]
    }
  }

  /// Called on the follower's thread while nothing else happens.
  private func note(_ connection: FeedConnection) {
    switch connection {
    case .lost(let error): lose(error, isFirst: true)
    case .restored:
      log.notice("the connection to PostgreSQL is restored")
      setConnection(lostAt: nil)
    }
  }

  private func lose(_ error: StoreError, isFirst: Bool) {
    if isFirst {
      log.warning(
        memory.state.isLoaded
          ? "the connection to PostgreSQL is lost: quotes are served from memory, marked stale"
          : "PostgreSQL cannot be reached: there are no quotes to serve yet",
        metadata: ["error": "\(error)"])
    }
    setConnection(lostAt: .now)
  }

  private func setConnection(lostAt moment: Timestamp?) {
    changeStaleness { $0.setConnection(lostAt: moment) }
  }

  /// Quotes are stale while no daemon leads. To be called whenever that was looked at.
  package func setLed(_ isLed: Bool) {
    guard
      wasLed.withLock({ wasLed in
        defer { wasLed = isLed }
        return wasLed != isLed
      })
    else { return }
    if isLed {
      log.notice("a daemon leads")
    } else {
      log.warning("no daemon leads: quotes are marked stale")
    }
    changeStaleness { $0.setLeader(lostAt: isLed ? nil : .now) }
  }

  /// World indexes are read beside the feed, which has none.
  package func setOverview(_ rows: [OverviewRow]) {
    change { assembler in
      assembler.setOverview(rows)
      return []
    }
  }

  private func changeStaleness(_ body: (inout FeedAssembler) -> Void) {
    change { assembler in
      let before = assembler.state.lostAt
      body(&assembler)
      let after = assembler.state.lostAt
      return before == after ? [] : [.connection(lostAt: after)]
    }
  }

  /// Publishes what an event made of the state, and its news, before another event does.
  private func change(_ body: (inout FeedAssembler) -> [FeedNews]) {
    assembler.withLock { assembler in
      let news = body(&assembler)
      memory.publish(assembler.state)
      for one in news {
        for sink in sinks { sink.receive(one) }
      }
    }
  }
}
