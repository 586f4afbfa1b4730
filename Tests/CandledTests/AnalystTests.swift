import TestSupport
import TestTraits
import Testing

/// The Python package as analysts have it: a wheel, a demo's database, and the tutorial.
@Suite(.ownThread) struct AnalystTests {
  private static let secondsMax = 600

  @Test func `the wheel answers, follows, exports and runs the tutorial`() throws {
    let run = try PythonScript.run(
      "clients/python/tests/database/run.py", [BuiltBinary.path], secondsMax: Self.secondsMax)
    #expect(run.status == 0 && run.output.contains("\nOK"), "\(run.output)")
  }
}
