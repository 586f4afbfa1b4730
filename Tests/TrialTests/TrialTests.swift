import Testing
import Trials

extension EveryTrial.Days {
  /// The long proofs of `script/trials`, short: each must be able to fail here too.
  @Suite struct TrialTests {
    private var binary: String { DaemonProcess.besideThisProcess }

    /// The first minutes of a day.
    private let stop = 9 * 3600 + 36 * 60

    @Test(arguments: [(CrashTrial.Victim.daemon, 3), (.database, 2)])
    func `a day with kills leaves the tables of a day without`(
      of victim: CrashTrial.Victim, kills: Int
    ) throws {
      var trial = CrashTrial(
        binary: binary, victim: victim, kills: kills, instruments: 20, seed: .random(in: 1...1000))
      trial.stop = stop
      let verdict = try trial.run()
      #expect(verdict.complaints.isEmpty, "seed \(trial.seed)")
      #expect(verdict.kills == kills)
    }

    @Test(arguments: TruthTrial.FaultScenario.allCases)
    func `a hard day has the minutes of the ledger and the true totals`(
      _ faultScenario: TruthTrial.FaultScenario
    ) throws {
      let seed = UInt64.random(in: 1...1000)
      let verdict = try TruthTrial.short(faultScenario, seed: seed).run()
      #expect(verdict.complaints.isEmpty, "seed \(seed)")
      #expect(verdict.displacement.moved > 0, "seed \(seed)")
      #expect(faultScenario != .falseRows || verdict.corrections > 50, "seed \(seed)")
    }

    @Test func `a day on which sources refuse us has the minutes of what was served`() throws {
      let seed = UInt64.random(in: 1...1000)
      let verdict = try FailoverTrial(seed: seed, instruments: 60).run()
      #expect(verdict.complaints.isEmpty, "seed \(seed)")
      #expect(verdict.changes >= 2 && verdict.coarse > 0, "seed \(seed)")
    }

    @Test func `a daemon killed around a change of source loses nothing`() throws {
      let seed = UInt64.random(in: 1...1000)
      let verdict = try FailoverKillTrial(
        binary: binary, kills: 3, instruments: 12, seed: seed
      ).run()
      #expect(verdict.complaints.isEmpty, "seed \(seed)")
    }

    @Test func `cut followers end with the table and see every final candle once`() async throws {
      let trial = FanoutTrial(
        binary: binary, cuts: 3, instruments: 20, seed: .random(in: 1...1000), stop: stop)
      let verdict = try await trial.run()
      #expect(verdict.complaints.isEmpty, "seed \(trial.seed)")
      #expect(verdict.candles > 0)
    }

    @Test func `identical sweeps write nothing`() async throws {
      let verdict = try await QuietTrial(sweeps: 50, instruments: 300).run()
      #expect(verdict.complaints.isEmpty)
      #expect(verdict.walBytes == 0)
    }

    @Test func `days with outages end with nothing missing that could be had`() throws {
      var trial = MonthTrial(
        binary: binary, days: 3, instruments: 12, seed: .random(in: 1...1000))
      trial.deceivedPerMille = 500
      let verdict = try trial.run()
      #expect(verdict.complaints.isEmpty, "seed \(trial.seed)")
      #expect(verdict.closed > 0 && verdict.totalsFromBars > 0)
      #expect(verdict.corrections > 0, "seed \(trial.seed)")
    }

    @Test func `a dozen days of ten years end with every minute and no false gap`() async throws {
      var trial = DecadeTrial(shift: 0, seed: .random(in: 1...1000))
      trial.isShort = true
      let verdict = try await trial.run { _ in }
      #expect(verdict.complaints.isEmpty, "seed \(trial.seed): \(verdict.complaints.prefix(5))")
    }

    @Test func `a backfill that is killed and resumed leaves every bar once`() async throws {
      var trial = BackfillTrial(
        binary: binary, kills: 4, instruments: 20, liveInstruments: 12,
        seed: .random(in: 1...1000))
      (trial.liveStop, trial.requestsPerMinute) = (stop, 3_000)
      let verdict = try await trial.run()
      #expect(verdict.complaints.isEmpty, "seed \(trial.seed)")
      #expect(verdict.kills == 4)
    }

    @Test func `months are put in order under load and kills, and nobody waits`() throws {
      var trial = ReclusterTrial(
        binary: binary, kills: 4, instruments: 12, liveInstruments: 20,
        seed: .random(in: 1...1000))
      trial.liveStop = 9 * 3600 + 45 * 60
      let verdict = try trial.run()
      #expect(verdict.complaints.isEmpty, "seed \(trial.seed): \(verdict.figures)")
    }

    @Test func `what is certain of a fill is never more than a real book gives`() {
      let seed = UInt64.random(in: 1...1000)
      var trial = FillsTrial(queues: 200, passives: 200, seed: seed)
      trial.shareMin = 900
      let verdict = trial.run()
      #expect(verdict.complaints.isEmpty, "seed \(seed): \(verdict.complaints.prefix(5))")
    }

    @Test func `half of the volume that passed an order is found to be no bound`() {
      var trial = FillsTrial(queues: 8, passives: 40, seed: .random(in: 1...1000))
      (trial.isFormer, trial.shareMin) = (true, 0)
      let complaints = trial.run().complaints
      #expect(complaints.contains { $0.hasPrefix("chain ") }, "seed \(trial.seed)")
    }

    @Test func `fills of a share too many are found`() {
      var trial = FillsTrial(queues: 40, passives: 40, seed: .random(in: 1...1000))
      trial.isBroken = true
      #expect(!trial.run().complaints.isEmpty, "seed \(trial.seed)")
    }
  }
}
