import Testing
import Trials

extension EveryTrial.Days {
  /// The trials of the gateway, short.
  @Suite struct GatewayTrialTests {
    private var binary: String { DaemonProcess.besideThisProcess }

    @Test func `apps that are cut get every final candle once, whatever breaks`() throws {
      let seed = UInt64.random(in: 1...1000)
      var trial = GatewayTrial(
        binary: binary, followers: 40, cuts: 20, instruments: 24, seed: seed)
      (trial.kills, trial.restarts, trial.pauses) = (1, 1, 5)
      trial.start = 14 * 3600 + 50 * 60
      let verdict = try trial.run()
      #expect(verdict.complaints.isEmpty, "seed \(seed): \(verdict.figures)")
    }

    @Test func `apps that come again at once are served without PostgreSQL`() throws {
      let seed = UInt64.random(in: 1...1000)
      var trial = ReconnectTrial(
        binary: binary, reconnects: 500, tokens: 50, instruments: 40, seed: seed)
      trial.recoveredSecondsMax = 60
      trial.queriesMax = 60
      let verdict = try trial.run()
      #expect(verdict.complaints.isEmpty, "seed \(seed): \(verdict.figures)")
    }

    @Test func `a storm of hostile clients leaves a gateway that serves, and stops in order`()
      throws
    {
      var trial = StormTrial(binary: binary, connections: 1_000)
      trial.hasEndless = false
      // Beside the other tests of script/test it waits long for a core.
      trial.answerSecondsMax = 60
      let verdict = try trial.run { _ in }
      #expect(verdict.complaints.isEmpty, "\(verdict.figures)")
    }
  }
}
