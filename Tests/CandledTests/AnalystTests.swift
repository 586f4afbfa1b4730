import Commits
import Foundation
import Market
import Store
import TestSupport
import TestTraits
import Testing

/// The Python package as analysts have it: a wheel, a demo's database, and the tutorial.
@Suite(.ownThread) struct AnalystTests {
  private static let secondsMax = 1_200

  @Test func `the wheel answers, follows, exports and runs the tutorial`() throws {
    let run = try PythonScript.run(
      "clients/python/tests/database/run.py", [BuiltBinary.demo], secondsMax: Self.secondsMax)
    #expect(run.status == 0 && run.output.contains("\nOK"), "\(run.output)")
  }

  /// A standby takes no LISTEN, and without one the package would look every 5 s.
  @Test func `a standby answers, and is followed without notifications`() async throws {
    let database = try StoreDatabase.alone()
    let writer = StoreWriter(url: database.url)
    try await writer.connect()
    _ = try await writer.load()
    _ = try database.url(memberOf: "candled_reader")
    var samples = StoreSamples(seed: 61)
    let symbol = StoreSamples.symbol(0).description
    let first = samples.minute(0, position: 1, instruments: 3)
    _ = try await writer.commit(first)
    let standby = try Standby(of: database)
    let script = try PythonProcess.start(
      ["tests/standby.py", standby.url(role: "test_candled_reader"), symbol],
      in: PythonScript.root.appending(path: "clients/python").path,
      interpreter: PythonScript.Interpreter.prepared.path)
    let (close, last) = (first.candles[0].close, first.quotes[0].quote.last)
    let answers = "{\"closes\": [\"\(close)\"], \"last\": [\"\(last)\"]}\n"
    #expect(script.logContains(answers), "\(script.captured)")
    func expectLine(of candle: Candle, as state: String) {
      let line = "\"volume\": \"\(candle.volume)\", \"state\": \"\(state)\"}\n"
      #expect(script.logContains(line), "\(script.captured)")
    }
    expectLine(of: first.candles[0], as: "final")
    let begun = ContinuousClock.now
    for minute in 1...Self.minutes {
      var commit = samples.minute(minute, position: Int64(minute + 1), instruments: 3)
      var revised = first.candles[0]
      revised.volume = samples.shares()
      commit.revisions = [Revision(candle: revised, cause: .latePrint)]
      _ = try await writer.commit(commit)
      expectLine(of: commit.candles[0], as: "final")
      expectLine(of: revised, as: "revised")
    }
    #expect(ContinuousClock.now - begun < .seconds(2 * Self.minutes))
  }

  private static let minutes = 8
}
