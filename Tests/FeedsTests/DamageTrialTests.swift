import Hostile
import Testing

/// A short run of what `candled-trials flips` does a million times.
@Suite struct DamageTrialTests {
  @Test func `every prefix of fifty bodies is refused or plausible`() throws {
    let trial = try DamageTrial()
    #expect(trial.bodies.count >= 50)
    let tally = trial.prefixes()
    #expect(tally.complaints == [])
    #expect(tally.bodies == trial.bodies.reduce(0) { $0 + $1.bytes.count + 1 })
  }

  @Test func `flipped bits are refused or plausible`() throws {
    let seed = UInt64.random(in: .min ... .max)
    let tally = try DamageTrial().flips(count: 10_000, seed: seed)
    #expect(tally.complaints == [], "seed \(seed)")
    #expect(tally.bodies == 10_000)
    #expect(tally.rows > 0 && tally.refusedRows > 0 && tally.classes.count > 5, "seed \(seed)")
  }
}
