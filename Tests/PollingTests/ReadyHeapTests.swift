import TestSupport
import Testing

@testable import Polling

@Suite struct ReadyHeapTests {
  @Test(arguments: (0..<8).map { _ in UInt64.random(in: .min ... .max) })
  func `what comes first is the highest priority, then the earliest place`(_ seed: UInt64) {
    var random = SplitMix(seed: seed)
    var heap = ReadyHeap<Int>()
    var reference: [ReadyHeap<Int>.Entry] = []
    for place in 0..<600 {
      if Int.random(in: 0..<3, using: &random) > 0 {
        let entry = ReadyHeap<Int>.Entry(
          job: place, priority: Int.random(in: -3...3, using: &random), place: UInt64(place))
        heap.insert(entry)
        reference.append(entry)
      } else if !reference.isEmpty {
        heap.removeFirst()
        reference.removeFirst()
      }
      reference.sort { ($1.priority, $0.place) < ($0.priority, $1.place) }
      #expect(heap.first?.job == reference.first?.job, "seed \(seed)")
      #expect(heap.count == reference.count, "seed \(seed)")
    }
    var whole = ReadyHeap(reference.shuffled(using: &random))
    while let first = reference.first {
      #expect(whole.first?.job == first.job, "seed \(seed)")
      whole.removeFirst()
      reference.removeFirst()
    }
    #expect(whole.first == nil)
  }
}
