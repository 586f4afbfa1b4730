import Market
import Platform
import Postgres

/// The newest quotes of the feed, from who follows it in this process to who watches some of its
/// instruments: what both need is read and decoded once.
///
///     begin → add, add … → changes, or a gap: then the database is read, and so on
///
/// It has quotes alone. A change with more that concerns orders, a correction or a certificate, is
/// a gap, and so is what was not taken in time. Filled while it is wanted.
package final class FeedMailbox: Sendable {
  private struct Change: Sendable {
    let seq: Int64
    let committedAt: Timestamp
    let knownAt: Timestamp
    let quotes: [LatestQuote]
  }

  private struct Contents: Sendable {
    var isWanted = false
    var epoch: Int64 = 0
    /// Each change behind it is here.
    var after: Int64 = 0
    var changes: [Change] = []

    mutating func drop(through seq: Int64) {
      while let first = changes.first, first.seq <= seq {
        after = first.seq
        changes.removeFirst()
      }
    }
  }

  /// Raised with each change.
  package let interrupt = Interrupt()
  private let contents = Locked(Contents())

  /// Of a whole market each has 4 MB.
  private static let changesMax = 8

  package init() {}

  // MARK: The follower

  /// A snapshot was read, and changes behind it come.
  package func begin(epoch: Int64, after seq: Int64) {
    contents.withLock { contents in
      (contents.epoch, contents.after, contents.changes) = (epoch, seq, [])
    }
  }

  /// The next change.
  package func add(_ change: FeedChange) {
    let isOfQuotes =
      change.certificates.isEmpty
      && !change.events.contains { if case .dispute = $0 { true } else { false } }
    contents.withLock { contents in
      contents.changes.append(
        Change(
          seq: change.seq, committedAt: change.committedAt, knownAt: change.knownAt,
          quotes: change.quotes))
      if !contents.isWanted || !isOfQuotes {
        contents.drop(through: change.seq)
      } else if contents.changes.count > Self.changesMax {
        contents.drop(through: contents.after + 1)
      }
      if contents.isWanted { interrupt.signal() }
    }
  }

  // MARK: Who watches

  /// Whether changes are taken from now on.
  package func want(_ isWanted: Bool) {
    contents.withLock { contents in
      contents.isWanted = isWanted
      if isWanted { return }
      contents.drop(through: .max)
      interrupt.clear()
    }
  }

  /// What changed of some instruments behind `seq`, as far as it came.
  /// - Parameter position: of the database that the rows are for: none is of another one, or newer.
  /// - Returns: no changes where none came, and whether there are more; nil: a gap, to be read.
  package func changes(
    of symbols: Set<Symbol>, after seq: Int64, at position: WatchedPosition
  ) -> (changes: WatchedChanges?, isBehind: Bool)? {
    interrupt.clear()
    let found = contents.withLock { contents -> [Change]? in
      if contents.epoch != position.epoch || contents.after > seq { return nil }
      contents.drop(through: seq)
      return contents.changes.filter { $0.seq <= position.lastSeq }
    }
    guard let found else { return nil }
    guard let last = found.last else { return (nil, seq < position.lastSeq) }
    var changes = WatchedChanges(
      lastSeq: last.seq, clockOffsetMicroseconds: last.knownAt.microseconds(since: last.committedAt)
    )
    (changes.symbols, changes.knownAt) = (symbols, last.knownAt)
    for quote in found.lazy.flatMap(\.quotes) where symbols.contains(quote.quote.symbol) {
      let serving = position.serving[quote.source]
      // Who served before is not known here.
      if let serving, serving.since > quote.receivedAt { return nil }
      changes.quotes.append(
        WatchedQuote(quote: quote, isCoarse: serving.map { $0.source != quote.source } ?? false))
    }
    return (changes, last.seq < position.lastSeq)
  }
}
