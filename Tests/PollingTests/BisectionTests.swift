import Market
import TestSupport
import Testing

@testable import Polling

@Suite struct BisectionTests {
  /// Answers every part as a source with these bad tokens would; returns requests and findings.
  private func search(_ batch: [Symbol], bad: Set<Symbol>) -> (requests: Int, found: Set<Symbol>) {
    var bisection = Bisection(batch: batch, number: 1)
    var steps = [bisection.begin()]
    var requests = 0
    var found: Set<Symbol> = []
    while let step = steps.popLast() {
      switch step {
      case .ask(let part):
        requests += 1
        steps +=
          bad.isDisjoint(with: part.symbols) ? bisection.cleared(part) : bisection.poisoned(part)
      case .quarantine(let symbol): found.insert(symbol)
      case .abandon: Issue.record("the control is good")
      }
    }
    #expect(bisection.isOver)
    #expect(bisection.suspects.isEmpty)
    return (requests, found)
  }

  /// floor(2·log2(n)) + 2, in whole numbers: 2·log2(n) = log2(n²).
  private func bound(_ count: Int) -> Int {
    Int.bitWidth - 1 - (count * count).leadingZeroBitCount + 2
  }

  @Test func `one bad token is found within 2 log2 n plus 2 requests, wherever it is`() {
    for count in Array(1...33) + [127, 128, 129, 255, 256, 257, 511, 512, 513, 798, 799] {
      let batch = symbols(count)
      let costs = stride(from: 0, to: count, by: max(count / 60, 1)).map { index in
        let (requests, found) = search(batch, bad: [batch[index]])
        #expect(found == [batch[index]])
        return requests
      }
      #expect((costs.max() ?? 0) <= bound(count), "\(count) symbols")
    }
  }

  @Test func `any set of bad tokens is found exactly`() {
    let seed = UInt64.random(in: .min ... .max)
    var generator = SplitMix(seed: seed)
    for _ in 0..<500 {
      let batch = symbols(Int.random(in: 1...799, using: &generator))
      let culprits = (0..<Int.random(in: 1...9, using: &generator)).compactMap { _ in
        batch.randomElement(using: &generator)
      }
      let (requests, found) = search(batch, bad: Set(culprits))
      #expect(found == Set(culprits), "seed \(seed)")
      #expect(requests <= found.count * bound(batch.count), "seed \(seed)")
    }
  }

  @Test func `a poison that was not there when asked again condemns nobody`() {
    let (requests, found) = search(symbols(799), bad: [])
    #expect(found.isEmpty)
    #expect(requests <= bound(799))
  }

  @Test func `a refused control calls the search off`() {
    var bisection = Bisection(batch: symbols(10), number: 1)
    guard case .ask(let control) = bisection.begin() else { return }
    #expect(control.symbols.isEmpty)
    #expect(bisection.poisoned(control) == [.abandon])
    #expect(bisection.isOver)
    #expect(bisection.suspects.isEmpty)
  }
}
