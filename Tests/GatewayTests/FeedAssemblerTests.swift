import Market
import TestSupport
import Testing

@testable import Gateway
@testable import Reader

@Suite struct FeedAssemblerTests {
  @Test("the directory is read anew after a quarter of an hour, for factors change by day")
  func directoryAge() {
    var assembler = FeedAssembler()
    func change(_ seconds: Int64) -> FeedChange {
      FeedChange(
        seq: seconds, committedAt: StoreSamples.start.adding(seconds: seconds),
        knownAt: StoreSamples.start, rejections: 0)
    }
    var read: [Int64] = []
    for seconds: Int64 in [0, 1, 899, 900, 901, 1_799, 1_801, 1_802] {
      if assembler.needsDirectory(for: change(seconds)) {
        read.append(seconds)
        assembler.setDirectory([])
      }
      _ = assembler.apply(change(seconds))
    }
    #expect(read == [900, 1_801])
  }

  @Test func `the directory is read anew as codes change`() {
    let assembler = FeedAssembler()
    var change = FeedChange(
      seq: 1, committedAt: StoreSamples.start, knownAt: StoreSamples.start, rejections: 0)
    #expect(!assembler.needsDirectory(for: change))
    change.events = [.codesChanged(day: StoreSamples.day, count: 1)]
    #expect(assembler.needsDirectory(for: change))
  }
}
