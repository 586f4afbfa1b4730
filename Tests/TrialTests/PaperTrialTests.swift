import Testing
import Trials

extension EveryTrial.Days {
  /// The trials of trading on paper, short.
  @Suite struct PaperTrialTests {
    @Test func `random commands of many clients leave what a plain model holds`() throws {
      let seed = UInt64.random(in: 1...1000)
      var trial = LedgerTrial(commands: 8_000, clients: 8, seed: seed)
      (trial.accounts, trial.sharedKeys) = (16, 5)
      let verdict: LedgerTrial.Verdict
      do {
        verdict = try trial.run()
      } catch {
        Issue.record(error, "seed \(seed)")
        return
      }
      #expect(verdict.complaints.isEmpty, "seed \(seed): \(verdict.figures)")
      #expect(verdict.fills > 1_000 && verdict.refused > 100, "seed \(seed): \(verdict.figures)")
    }

    @Test func `each invariant of the ledger that is broken on purpose is caught`() throws {
      let seed = UInt64.random(in: 1...1000)
      let verdict = try LedgerCanaries(seed: seed).run()
      #expect(verdict.complaints.isEmpty, "seed \(seed)")
    }
  }
}
