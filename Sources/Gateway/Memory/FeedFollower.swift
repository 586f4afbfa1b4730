/// Follows the daemon's feed for as long as it runs: publishes each state, keeps what belongs to a
/// log in the ring, and hands each commit to the sinks.
///
///     snapshot → publish → change, change, … → (skipped or another database) → snapshot → resync
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
  /// Reads the list of series.
  private let series: @Sendable () async throws(StoreError) -> [SeriesRecord]
  private let log: Logger
  private let assembler = Locked(FeedAssembler())
  private let wasLed = Locked(true)

  /// How often to look without a hint of the server.
  private static let pollSeconds = 5
  private static let retryMillisecondsMax = 5_000

  package init(
    url: String, memory: MarketMemory, ring: FeedRing, sinks: [any FeedSink], log: Logger,
    series: @escaping @Sendable () async throws(StoreError) -> [SeriesRecord]
  ) {
    self.url = url
    self.memory = memory
    self.ring = ring
    self.sinks = sinks
    self.log = log
    self.series = series
  }

  /// Returns once its task is cancelled.
  package func run() async {
    var failures = 0
    var reason: ResyncReason?
    while !Task.isCancelled {
      do throws(StoreError) {
        let client = try await CandledClient.connect(url)
        let snapshot = try await load(from: client, resync: reason)
        failures = 0
        reason = try await follow(client, after: snapshot)
      } catch {
        if Task.isCancelled { return }
        lose(error, isFirst: failures == 0)
        failures += 1
        let ceiling = min(50 << min(failures, 7), Self.retryMillisecondsMax)
        try? await Task.sleep(for: .milliseconds(Int.random(in: 1...ceiling)))
      }
    }
  }

  private func load(
    from client: CandledClient, resync reason: ResyncReason?
  ) async throws(StoreError) -> FeedSnapshot {
    let snapshot = try await client.snapshot()
    // Read after the snapshot: whatever has a quote there is listed here.
    let records = try await series()
    change { assembler in
      let before = assembler.state
      assembler.setDirectory(records)
      assembler.load(snapshot)
      let state = assembler.state
      ring.reset(epoch: state.epoch, seq: state.seq)
      let found: ResyncReason =
        before.epoch != state.epoch ? .anotherDatabase : reason ?? .pastHorizon
      if before.isLoaded {
        log.warning("everything was read again", metadata: ["reason": "\(found.rawValue)"])
      }
      // Also the first time: a stream may have been opened before.
      let resync = FeedNews.resync(reason: found, epoch: state.epoch, seq: state.seq)
      return before.lostAt != nil && state.lostAt == nil
        ? [.connection(lostAt: nil), resync] : [resync]
    }
    return snapshot
  }

  /// - Returns: why everything must be read again; nil once cancelled.
  private func follow(
    _ client: CandledClient, after snapshot: FeedSnapshot
  ) async throws(StoreError) -> ResyncReason? {
    var items = client.follow(after: snapshot, pollSeconds: Self.pollSeconds) {
      [weak self] in self?.note($0)
    }.makeAsyncIterator()
    while let item = try await items.next() {
      switch item {
      case .change(let change): try await apply(change)
      case .skipped: return .pastHorizon
      case .restarted: return .anotherDatabase
      }
    }
    return nil
  }

  private func apply(_ change: FeedChange) async throws(StoreError) {
    if assembler.withLock({ $0.needsDirectory(for: change) }) {
      let records = try await series()
      assembler.withLock { $0.setDirectory(records) }
    }
    self.change { assembler in
      let update = assembler.apply(change)
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
        "the connection to PostgreSQL is lost: quotes are served from memory, marked stale",
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
