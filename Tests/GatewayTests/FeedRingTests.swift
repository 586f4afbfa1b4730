import Market
import Testing

@testable import Gateway

@Suite struct FeedRingTests {
  private func update(_ seq: Int64, second: Int64, bytes: Int = 10) -> FeedUpdate {
    let message = FeedMessage(
      kind: .event, place: nil, json: [UInt8](repeating: UInt8(ascii: "1"), count: bytes))
    return FeedUpdate(
      epoch: 7, seq: seq, committedAt: Timestamp(seconds: second), stocks: [], messages: [message])
  }

  private func seqs(_ reading: FeedRing.Reading) -> [Int64]? {
    if case .updates(let updates) = reading { updates.map(\.seq) } else { nil }
  }

  @Test("whoever was away gets what came after")
  func after() {
    let ring = FeedRing()
    ring.reset(epoch: 7, seq: 100)
    for seq in Int64(101)...110 { ring.append(update(seq, second: seq)) }
    #expect(seqs(ring.updates(after: 100, epoch: 7)) == Array(101...110))
    #expect(seqs(ring.updates(after: 107, epoch: 7)) == [108, 109, 110])
    #expect(seqs(ring.updates(after: 110, epoch: 7)) == [])
    guard case .pastHorizon = ring.updates(after: 99, epoch: 7) else {
      Issue.record("99 is older than the snapshot")
      return
    }
  }

  @Test("what came before is put before, once, as far as there is room")
  func prepend() {
    let ring = FeedRing(bytesMax: 10_000)
    ring.reset(epoch: 7, seq: 105)
    for seq in Int64(106)...110 { ring.append(update(seq, second: seq, bytes: 752)) }
    let older = FeedRing()
    older.reset(epoch: 7, seq: 90)
    for seq in Int64(91)...106 { older.append(update(seq, second: seq, bytes: 752)) }
    ring.prepend(older, through: 104)
    #expect(seqs(ring.updates(after: 104, epoch: 7)) == nil, "105 would be missing")
    ring.prepend(older, through: 106)
    ring.prepend(older, through: 106)
    #expect(seqs(ring.updates(after: 100, epoch: 7)) == Array(101...110))
    #expect(seqs(ring.updates(after: 99, epoch: 7)) == nil && ring.size.bytes == 10_000)
    let other = FeedRing()
    other.reset(epoch: 8, seq: 1)
    ring.prepend(other, through: 110)
    #expect(seqs(ring.updates(after: 100, epoch: 7)) == Array(101...110))
  }

  @Test("a ring is complete once the past was put before it, or was given up")
  func complete() {
    for ends in [{ $0.prepend(FeedRing(), through: 0) }, { $0.giveUpPast() }]
      as [(FeedRing) -> Void]
    {
      let ring = FeedRing()
      ring.reset(epoch: 7, seq: 105, lacksPast: true)
      #expect(!ring.isComplete)
      ends(ring)
      #expect(ring.isComplete && seqs(ring.updates(after: 104, epoch: 7)) == nil)
    }
  }

  @Test("another life of the database is not mixed with this one", arguments: [(6, 105), (7, 111)])
  func anotherDatabase(epoch: Int64, seq: Int64) {
    let ring = FeedRing()
    ring.reset(epoch: 7, seq: 110)
    guard case .anotherDatabase = ring.updates(after: seq, epoch: epoch) else {
      Issue.record("epoch \(epoch), seq \(seq)")
      return
    }
  }

  @Test("messages older than a quarter of an hour go")
  func age() {
    let ring = FeedRing()
    ring.reset(epoch: 7, seq: 0)
    for seq in Int64(1)...200 { ring.append(update(seq, second: seq * 10)) }
    // The last came at 2,000 s; what came before 1,100 s is gone.
    #expect(seqs(ring.updates(after: 109, epoch: 7))?.first == 110)
    guard case .pastHorizon = ring.updates(after: 108, epoch: 7) else {
      Issue.record("109 is kept for too long")
      return
    }
  }

  @Test("memory is bounded, whatever comes")
  func bytes() {
    let ring = FeedRing(bytesMax: 10_000)
    ring.reset(epoch: 7, seq: 0)
    for seq in Int64(1)...1_000 { ring.append(update(seq, second: 1, bytes: 752)) }
    #expect(ring.size.bytes == 10_000)
    #expect(seqs(ring.updates(after: 995, epoch: 7)) == [996, 997, 998, 999, 1_000])
    guard case .pastHorizon = ring.updates(after: 900, epoch: 7) else {
      Issue.record("what was thrown away is not missed")
      return
    }
  }
}
