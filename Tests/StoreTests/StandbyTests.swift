import CandledClient
import Market
import Postgres
import Reader
import Store
import TestSupport
import TestTraits
import Testing

/// A physical standby takes no LISTEN and no writes: whoever reads looks for changes instead.
@Suite(.ownThread) struct StandbyTests {
  @Test func `followers of a standby get every change, and a restart once it is promoted`()
    async throws
  {
    let database = try StoreDatabase.alone()
    let writer = try await freshWriter(database)
    var samples = StoreSamples(seed: 31)
    let standby = try Standby(of: database)
    let client = try await CandledClient.connect(standby.url)
    let snapshot = try await client.snapshot()
    let commits = 20
    for minute in 0..<commits {
      _ = try await writer.commit(
        samples.minute(minute, position: Int64(minute + 1), instruments: 3))
    }
    var items = client.follow(after: snapshot).makeAsyncIterator()
    for seq in 1...Int64(commits) {
      guard case .change(let change) = try await items.next() else {
        Issue.record("no change")
        return
      }
      #expect(change.seq == seq && change.candles.count == 3 && change.quotes.count <= 3)
    }
    // The time that a follower's timer takes is more.
    let begun = ContinuousClock.now
    _ = try await writer.commit(
      samples.minute(commits, position: Int64(commits + 1), instruments: 3))
    guard case .change(let change) = try await items.next() else {
      Issue.record("no change")
      return
    }
    #expect(change.seq == Int64(commits + 1))
    #expect(ContinuousClock.now - begun < .seconds(4))
    await writer.disconnect()
    try standby.catchUp(with: database)
    try standby.promote()
    let successor = StoreWriter(url: standby.url)
    try await successor.connect()
    _ = try await successor.load()
    _ = try await successor.commit(
      samples.minute(commits + 1, position: Int64(commits + 2), instruments: 3))
    guard case .restarted(let epoch, let seq) = try await items.next() else {
      Issue.record("not announced")
      return
    }
    #expect(epoch > snapshot.epoch && seq >= Int64(commits + 1))
    _ = try await successor.commit(
      samples.minute(commits + 2, position: Int64(commits + 3), instruments: 3))
    for seq in (seq + 1)...Int64(commits + 3) {
      guard case .change(let change) = try await items.next() else {
        Issue.record("no change")
        return
      }
      #expect(change.seq == seq)
    }
  }

  @Test func `a wait on a standby ends with the next change, or with its time`() async throws {
    let database = try StoreDatabase.alone()
    let writer = try await freshWriter(database)
    var samples = StoreSamples(seed: 32)
    let standby = try Standby(of: database)
    let reader = try StoreReader(following: standby.url)
    _ = try reader.changes(after: 0)
    #expect(try reader.wait(milliseconds: 250, interrupt: -1) == .timeout)
    _ = try await writer.commit(samples.minute(0, position: 1, instruments: 3))
    #expect(try reader.wait(milliseconds: 60_000, interrupt: -1) == .notification)
    #expect(try reader.changes(after: 0).lastSeq == 1)
  }
}
