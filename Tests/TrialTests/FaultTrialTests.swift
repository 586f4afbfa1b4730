import Testing
import Trials

extension EveryTrial.Days {
  /// The trials of clock and disk, short.
  @Suite struct FaultTrialTests {
    private var binary: String { DaemonProcess.besideThisProcess }

    @Test(arguments: ClockTrial.Phase.allCases)
    func `a clock set in mid-day costs no minute and causes no burst`(
      phase: ClockTrial.Phase
    ) async throws {
      let seed = UInt64.random(in: 1...10_000)
      let seconds = try #require(ClockTrial.secondsChoices.randomElement())
      let trial = ClockTrial(seed: seed, instruments: 12, phase: phase, seconds: seconds)
      let verdict = try await trial.run()
      #expect(verdict.complaints.isEmpty, "seed \(seed), \(phase), \(seconds) s")
      #expect(verdict.candles > 12 * 200)
    }

    @Test func `a daemon stopped for ten minutes leaves a gap and asks in no hurry`() throws {
      let seed = UInt64.random(in: 1...10_000)
      let trial = PauseTrial(binary: binary, instruments: 12, seed: seed, speed: 240)
      let verdict = try trial.run()
      #expect(verdict.complaints.isEmpty, "seed \(seed)")
    }

    @Test func `two outages with one answer between them are one gap in the table`() throws {
      let seed = UInt64.random(in: 1...10_000)
      let verdict = try AdjoiningOutages(binary: binary, instruments: 12, seed: seed).run()
      #expect(verdict.complaints.isEmpty, "seed \(seed)")
    }

    @Test(.enabled(if: UpgradeTrial.isPossible, "no PostgreSQL of another major"))
    func `PostgreSQL's majors follow each other under a daemon, and no row is lost`() throws {
      let seed = UInt64.random(in: 1...10_000)
      var trial = UpgradeTrial(binary: binary, instruments: 12, seed: seed, kills: 2, speed: 40)
      trial.upgradesMax = 1
      let verdict = try trial.run()
      #expect(verdict.complaints.isEmpty, "seed \(seed): \(verdict.figures)")
    }

    @Test(.enabled(if: DiskTrial.isPossible, "no file system of our own may be mounted here"))
    func `a disk that is full for a while costs a gap and no restart`() throws {
      let seed = UInt64.random(in: 1...10_000)
      var trial = DiskTrial(binary: binary, times: 3, instruments: 12, seed: seed)
      trial.start = 14 * 3600
      let verdict = try trial.run()
      #expect(verdict.complaints.isEmpty, "seed \(seed)")
    }
  }
}
