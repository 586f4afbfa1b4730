import Market
import TestSupport
import Testing

@testable import Polling

@Suite struct SymbolBisectionTests {
  private static let seeds = (0..<8).map { _ in UInt64.random(in: .min ... .max) }

  /// A source that refuses whatever holds one of the bad symbols.
  private func run(
    _ symbols: [Symbol], bad: Set<Symbol>
  ) -> (condemned: Set<Symbol>, asked: [[Symbol]], isAbandoned: Bool) {
    var search = SymbolBisection(symbols: symbols, control: symbol("AAPL"))
    var steps = search.begin()
    var condemned: Set<Symbol> = []
    var asked: [[Symbol]] = []
    var isAbandoned = false
    while !steps.isEmpty {
      switch steps.removeFirst() {
      case .ask(let part):
        asked.append(part.symbols)
        steps += search.answered(part, isRefused: !bad.isDisjoint(with: part.symbols))
      case .condemned(let symbol): condemned.insert(symbol)
      case .abandoned: isAbandoned = true
      }
    }
    #expect(search.isOver)
    return (condemned, asked, isAbandoned)
  }

  @Test(arguments: seeds)
  func `exactly the bad symbols are condemned`(_ seed: UInt64) {
    var generator = SplitMix(seed: seed)
    let all = symbols(200)
    for count in [1, 2, 5] {
      let bad = Set(all.shuffled(using: &generator).prefix(count))
      let found = run(all, bad: bad)
      #expect(found.condemned == bad, "seed \(seed)")
      #expect(!found.isAbandoned, "seed \(seed)")
    }
  }

  @Test(arguments: seeds)
  func `one among 200 costs at most 18 requests`(_ seed: UInt64) {
    var generator = SplitMix(seed: seed)
    let all = symbols(200)
    let bad = Set(all.shuffled(using: &generator).prefix(1))
    #expect(run(all, bad: bad).asked.count <= 18, "seed \(seed)")
  }

  @Test func `the control is asked first, and a source that refuses it condemns nobody`() {
    let found = run(symbols(200), bad: [symbol("AAPL")])
    #expect(found.asked == [[symbol("AAPL")]])
    #expect(found.isAbandoned)
    #expect(found.condemned.isEmpty)
  }

  @Test func `the control is no suspect when it is among the symbols`() {
    let all = symbols(3) + [symbol("AAPL")]
    let found = run(all, bad: [all[1]])
    #expect(found.condemned == [all[1]])
    #expect(found.asked.dropFirst().allSatisfy { !$0.contains(symbol("AAPL")) })
  }
}
