import Candles
import Commits
import Market

/// What leaves the pipeline: one value that the store writes in one transaction.
extension Pipeline {
  /// Everything decided since the last commit, with the journal position it came from; nil when
  /// there is nothing, and then the position may stay behind: replaying answers that changed
  /// nothing changes nothing.
  package mutating func takeCommit() -> Commit? {
    guard hasPendingRows else { return nil }
    let listed = pending.commit.instruments
    pending.commit.instruments = []
    var commit = pending.handOver(at: position, knownAt: knownAt)
    let joined = commit.reference.links.count { $0.joins }
    if joined > 0 { commit.events.append(.codesChanged(day: knownAt.shanghaiDay, count: joined)) }
    commit.bookState = sharedState
    for place in stages.indices { stages[place].handOver(to: &commit) }
    // After the names of live quotes.
    commit.instruments += listed
    return commit
  }

  package var hasPendingRows: Bool { !pending.isEmpty || stages.contains { $0.hasPendingRows } }

  /// Candles that wait for the store: what bounds the memory an outage of it may take.
  package var pendingCandles: Int { pending.commit.candles.count + pending.barCount }

  /// The books as a whole, for a commit that has no rows of the pipeline's.
  var sharedState: [UInt8] {
    let beside = stages.dropFirst().filter { $0.book.count > 0 }
    let first = stages[0].book.sharedState
    if beside.isEmpty, unknownStates.isEmpty { return first }
    return MarketStates(
      states: [(stages[0].source, first)] + beside.map { ($0.source, $0.book.sharedState) }
        + unknownStates.map { ($0.source, $0.bytes) }
    ).bytes
  }

  /// - Throws: `EngineError` if it is not this version's.
  mutating func restore(sharedState bytes: [UInt8]) throws {
    if bytes.isEmpty { return }
    do throws(BookStateError) {
      for (source, state) in try MarketStates(bytes, alone: stages[0].source).states {
        guard let place = place(of: source) else {
          unknownStates.append((source, state))
          continue
        }
        try stages[place].restore(sharedState: state)
      }
    } catch {
      throw EngineError(error, table: "journal_position", row: nil)
    }
  }
}

/// The states of several books as one. That of the first book alone stands without a frame, as it
/// did when there was but one.
private struct MarketStates {
  var states: [(Source, [UInt8])]

  /// No version of a book's state begins so.
  private static let mark: UInt8 = 0xFF
  private static let headBytes = 6

  init(states: [(Source, [UInt8])]) { self.states = states }

  var bytes: [UInt8] {
    states.reduce(into: [Self.mark]) { bytes, entry in
      withUnsafeBytes(of: entry.0.rawValue.littleEndian) { bytes += $0 }
      withUnsafeBytes(of: UInt32(entry.1.count).littleEndian) { bytes += $0 }
      bytes += entry.1
    }
  }

  /// - Parameter alone: whose state it is where it has no frame.
  init(_ bytes: [UInt8], alone: Source) throws(BookStateError) {
    guard bytes.first == Self.mark else {
      states = [(alone, bytes)]
      return
    }
    states = []
    var rest = bytes.dropFirst()
    while !rest.isEmpty {
      let head = rest.prefix(Self.headBytes).map { $0 }
      let count = head.dropFirst(2).reversed().reduce(0) { $0 << 8 | Int($1) }
      guard head.count == Self.headBytes, rest.count >= Self.headBytes + count else {
        throw .corrupt(
          field: "market_state", expected: "\(count) bytes", at: bytes.count - rest.count)
      }
      let code = Int16(truncatingIfNeeded: Int(head[1]) << 8 | Int(head[0]))
      states.append((Source(rawValue: code), Array(rest.dropFirst(Self.headBytes).prefix(count))))
      rest = rest.dropFirst(Self.headBytes + count)
    }
  }
}
