@_exported import Market

import class Postgres.ThreadExecutor
@_exported import struct Reader.FeedChange
@_exported import enum Reader.FeedItem
@_exported import struct Reader.FeedSnapshot
@_exported import struct Reader.LatestQuote
import class Reader.StoreReader
@_exported import struct Reader.StoredCandle

/// Reads candled's database: everything current in one call, and from there every change.
///
///     let client = try await CandledClient.connect("postgresql://alice@db/candled")
///     let snapshot = try await client.snapshot()
///     for try await item in client.follow(after: snapshot) { … }
///
/// The connection is used for snapshots only; each `follow` opens its own. A role with the rights
/// of `candled_reader` is enough. LISTEN does not pass a transaction-pooling proxy: behind one,
/// changes arrive at the polling interval.
public actor CandledClient {
  private let executor = ThreadExecutor(name: "candled-client")
  nonisolated public var unownedExecutor: UnownedSerialExecutor {
    executor.asUnownedSerialExecutor()
  }

  private let url: String
  private var reader: StoreReader?

  private init(url: String) { self.url = url }

  /// - Parameter url: a libpq URL or keyword string.
  /// - Throws: `connectionLost`, `schemaMismatch`, `badAddress`, `refused`.
  public static func connect(_ url: String) async throws(StoreError) -> CandledClient {
    let client = CandledClient(url: url)
    try await client.open()
    return client
  }

  private func open() throws(StoreError) { reader = try StoreReader(following: url) }

  /// All quotes with their forming minutes and the market overview, as of one moment, and the
  /// place in the feed from which to follow. Opens the connection again if it was lost.
  /// - Throws: `connectionLost`, `transient`, `malformed`.
  public func snapshot() throws(StoreError) -> FeedSnapshot {
    do throws(StoreError) {
      return try connected().snapshot()
    } catch  where error.isTransient {
      reader = nil
      return try connected().snapshot()
    }
  }

  private func connected() throws(StoreError) -> StoreReader {
    if let reader { return reader }
    let fresh = try StoreReader(following: url)
    reader = fresh
    return fresh
  }

  /// Every change after a snapshot, in order, none skipped, none repeated.
  /// - Parameters:
  ///   - pollSeconds: how often to look without a hint.
  ///   - retryMillisecondsMax: how long to wait, at most, before a lost connection is tried again.
  ///   - onConnection: told when the connection is lost and when it is back; called on the
  ///     follower's thread, which waits for it.
  public nonisolated func follow(
    after snapshot: FeedSnapshot, pollSeconds: Int = 5, retryMillisecondsMax: Int32 = 5_000,
    onConnection: @escaping @Sendable (FeedConnection) -> Void = { _ in }
  ) -> FeedItems {
    follow(
      after: snapshot.seq, epoch: snapshot.epoch, pollSeconds: pollSeconds,
      retryMillisecondsMax: retryMillisecondsMax, onConnection: onConnection)
  }

  /// Every change after `seq`; nil starts with the next one. A known `epoch` tells when the
  /// database has become another.
  public nonisolated func follow(
    after seq: Int64?, epoch: Int64? = nil, pollSeconds: Int = 5,
    retryMillisecondsMax: Int32 = 5_000,
    onConnection: @escaping @Sendable (FeedConnection) -> Void = { _ in }
  ) -> FeedItems {
    FeedItems(
      url: url, after: seq, epoch: epoch, pollSeconds: pollSeconds,
      retryMillisecondsMax: retryMillisecondsMax, onConnection: onConnection)
  }
}

/// What happens to a follower's connection. No item is lost by it.
public enum FeedConnection: Sendable {
  case lost(StoreError)
  case restored
}
