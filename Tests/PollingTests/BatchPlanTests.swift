import Market
import TestSupport
import Testing

@testable import Polling

@Suite struct BatchPlanTests {
  @Test func `a whole market is seven batches with the reference symbol first`() {
    let plan = BatchPlan([referenceSymbol()] + symbols(5_400), referenceSymbol: referenceSymbol())
    #expect(plan.groups.count == 7)
    for group in plan.groups.indices {
      let batch = plan.batch(UInt16(group))
      #expect(batch.count <= 800)
      #expect(batch.first == referenceSymbol())
      #expect(!batch.dropFirst().contains(referenceSymbol()))
    }
    #expect(Array(plan.groups.joined()) == symbols(5_400))
  }

  @Test func `more symbols than small groups have numbers for get larger groups`() {
    let all = symbols(100_000)
    var plan = BatchPlan(
      Array(all.prefix(60_000)), referenceSymbol: referenceSymbol(), symbolsMax: 2)
    #expect(plan.groups.count == 60_000 - (all.prefix(60_000).contains(referenceSymbol()) ? 1 : 0))
    let before = plan.groups.prefix(10)
    plan.replace(with: all)
    // The highest number is that of probes.
    #expect(plan.groups.count <= Int(UInt16.max) && plan.groups.map(\.count).max() == 2)
    #expect(zip(before, plan.groups).allSatisfy { $1.starts(with: $0) })
    #expect(Set(plan.groups.joined()) == Set(all).subtracting([referenceSymbol()]))
  }

  @Test func `a symbol named twice is asked for once`() {
    let plan = BatchPlan(symbols(3) + symbols(3), referenceSymbol: referenceSymbol())
    #expect(plan.groups == [symbols(3)])
  }

  @Test func `the reference symbol alone is a batch, nothing is none`() {
    #expect(
      BatchPlan([referenceSymbol()], referenceSymbol: referenceSymbol()).batch(0) == [
        referenceSymbol()
      ])
    #expect(BatchPlan([], referenceSymbol: referenceSymbol()).groups.isEmpty)
  }

  @Test func `what is left out is left out`() {
    let plan = BatchPlan(symbols(3), referenceSymbol: referenceSymbol())
    let all = symbols(3)
    #expect(plan.batch(0, without: [all[1]]) == [referenceSymbol(), all[0], all[2]])
  }

  @Test func `symbols keep their group when others come and go`() {
    let seed = UInt64.random(in: .min ... .max)
    var generator = SplitMix(seed: seed)
    let all = symbols(400)
    var plan = BatchPlan(
      all.shuffled(using: &generator), referenceSymbol: referenceSymbol(), symbolsMax: 51)
    for _ in 0..<50 {
      let before = plan.groups
      let wanted = all.filter { _ in Int.random(in: 0..<10, using: &generator) > 0 }
      plan.replace(with: wanted)
      #expect(Set(plan.groups.joined()) == Set(wanted), "seed \(seed)")
      #expect(plan.groups.joined().count == wanted.count, "seed \(seed)")
      #expect(plan.groups.allSatisfy { $0.count <= 50 }, "seed \(seed)")
      for (group, members) in before.enumerated() where group < plan.groups.count {
        let stayed = Set(members).intersection(wanted)
        #expect(stayed.isSubset(of: plan.groups[group]), "seed \(seed)")
      }
    }
  }
}
