/// The messages of the last minutes, for apps that come back: what belongs to a log is read again
/// from here, from PostgreSQL only behind the horizon.

import Market
import Platform

package final class FeedRing: Sendable {
  /// An outage of a phone on a train; a mobile app that was away for longer loads anew.
  package static let secondsMax: Int64 = 15 * 60
  /// A sweep's minute of 5,400 candles is 2.7 MB.
  package static let bytesMaxDefault = 44 * 1024 * 1024

  package enum Reading: Sendable {
    /// All after the seq that was asked for, oldest first, without their stocks: those are state.
    case updates([FeedUpdate])
    /// Older messages than are kept.
    case pastHorizon
    /// The seq belongs to another life of the database, or lies ahead.
    case anotherDatabase
  }

  private struct Contents: Sendable {
    var epoch: Int64 = 0
    /// Everything after this one is here.
    var horizon: Int64 = 0
    /// What came before `horizon` is being read.
    var lacksPast = true
    var last: Int64 = 0
    var updates: [FeedUpdate] = []
    /// The first of `updates` that still counts: removing at the front is done in bulk.
    var first = 0
    var bytes = 0

    /// Forgets what is too old, or has no room.
    mutating func trim(bytesMax: Int) {
      let oldest = updates.last.map { $0.committedAt.adding(seconds: -FeedRing.secondsMax) }
      while first < updates.count, let oldest,
        bytes > bytesMax || updates[first].committedAt < oldest
      {
        bytes -= updates[first].bytes
        horizon = updates[first].seq
        first += 1
      }
      if first > updates.count / 2 {
        updates.removeFirst(first)
        first = 0
      }
    }
  }

  private let contents = Locked(Contents())
  let bytesMax: Int
  /// A final candle is about 300 bytes of JSON, with what it costs beside them.
  private static let messageBytesUsual = 440

  /// More messages than that have no room.
  var messagesMax: Int { bytesMax / Self.messageBytesUsual }

  package init(bytesMax: Int = FeedRing.bytesMaxDefault) { self.bytesMax = bytesMax }

  /// Begins anew behind a snapshot.
  /// - Parameter lacksPast: what came before will be put before.
  package func reset(epoch: Int64, seq: Int64, lacksPast: Bool = false) {
    contents.withLock {
      $0 = Contents(epoch: epoch, horizon: seq, lacksPast: lacksPast, last: seq)
    }
  }

  /// Whether all that there was at the start, and has room, is here.
  package var isComplete: Bool { contents.withLock { !$0.lacksPast } }

  /// Takes what another one holds, at once.
  func replaceContents(by other: FeedRing) {
    let fresh = other.contents.withLock { $0 }
    contents.withLock { $0 = fresh }
  }

  package func append(_ update: FeedUpdate) {
    let kept = update.withoutStocks
    contents.withLock { contents in
      contents.updates.append(kept)
      contents.bytes += kept.bytes
      contents.last = kept.seq
      contents.trim(bytesMax: bytesMax)
    }
  }

  /// Takes what came before its own, as far as it has room.
  /// - Parameter seq: through which the other one has everything.
  func prepend(_ other: FeedRing, through seq: Int64) {
    let older = other.contents.withLock { $0 }
    contents.withLock { contents in
      contents.lacksPast = false
      guard older.epoch == contents.epoch, older.horizon < contents.horizon,
        seq >= contents.horizon
      else { return }
      let before = older.updates[older.first...].prefix { $0.seq <= contents.horizon }
      contents.updates.replaceSubrange(..<contents.first, with: before)
      contents.first = 0
      contents.bytes += before.reduce(0) { $0 + $1.bytes }
      contents.horizon = older.horizon
      contents.trim(bytesMax: bytesMax)
    }
  }

  /// What came before is not put before any more.
  func giveUpPast() { contents.withLock { $0.lacksPast = false } }

  package func updates(after seq: Int64, epoch: Int64) -> Reading {
    contents.withLock { contents in
      if epoch != contents.epoch || seq > contents.last { return .anotherDatabase }
      if seq < contents.horizon { return .pastHorizon }
      let kept = contents.updates[contents.first...]
      let skipped = kept.partitioningIndex { $0.seq > seq }
      return .updates(Array(kept[skipped...]))
    }
  }

  /// What its messages take, and how many commits they are of.
  package var size: (bytes: Int, updates: Int) {
    contents.withLock { ($0.bytes, $0.updates.count - $0.first) }
  }
}

extension FeedMessage {
  /// Itself with the figures of its candle, and the head of its array of bytes.
  fileprivate static let bytesBesideJSON = 184
}

extension FeedUpdate {
  /// What the messages take, with what each costs beside its text.
  fileprivate var bytes: Int {
    messages.reduce(64) { $0 + $1.json.count + FeedMessage.bytesBesideJSON }
  }
}
