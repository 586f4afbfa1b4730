import Market
import Postgres
import Reader

/// The change feed as an asynchronous sequence. It ends when its task is cancelled; a lost
/// connection is opened again for as long as it takes, with growing pauses.
///
/// Pulled, not pushed: a slow reader buffers nothing here, it only reads larger batches later.
public struct FeedItems: AsyncSequence, Sendable {
  public typealias Element = FeedItem
  public typealias Failure = StoreError

  let url: String
  let after: Int64?
  let epoch: Int64?
  let pollSeconds: Int
  let retryMillisecondsMax: Int32
  let onConnection: @Sendable (FeedConnection) -> Void

  public func makeAsyncIterator() -> Iterator {
    Iterator(session: FollowSession(self))
  }

  public struct Iterator: AsyncIteratorProtocol {
    let session: FollowSession

    /// nil once the task is cancelled.
    /// - Throws: what no reconnection can cure: `schemaMismatch`, `refused`, `malformed`,
    ///   `badAddress`.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(StoreError) -> FeedItem? {
      let session = session
      let outcome = await withTaskCancellationHandler {
        await session.next()
      } onCancel: {
        session.interrupt.signal()
      }
      return try outcome.get()
    }

    public mutating func next() async throws(StoreError) -> FeedItem? {
      try await next(isolation: nil)
    }
  }
}
