import Foundation
import TestSupport
import TestTraits
import Testing

/// The page in Chromium: each file of Tests/Page is a case, over the gateway of one demo.
@Suite(.ownThread) struct PageTests {
  /// Those that need a market that has just opened come first; then the longest.
  private static let files = [
    "test_live.py", "test_trading.py", "test_alerts.py", "test_pictures_light.py",
    "test_pictures_dark.py", "test_chart_data.py", "test_screens.py", "test_cut.py",
    "test_sign_in.py", "test_watchlist.py", "test_accessibility.py", "test_errors.py",
    "test_chart_merge.py", "test_pictures_shift.py", "test_why.py", "test_as_of.py",
    "test_chart_marks.py", "test_chart_svg.py", "test_decimals.py",
  ]

  @Test(arguments: files) func `in Chromium`(file: String) throws {
    let run = try PythonScript.run(
      "Tests/Page/\(file)", by: .debian, environment: try PageDemo.shared.get().environment,
      secondsMax: 900)
    #expect(run.status == 0 && !run.output.contains("(skipped="), "\(run.output)")
  }

  @Test func `every file of tests is run`() throws {
    let folder = PythonScript.root.appending(path: "Tests/Page")
    let found = try FileManager.default.contentsOfDirectory(atPath: folder.path)
      .filter { $0.hasPrefix("test_") && $0.hasSuffix(".py") }
    #expect(found.sorted() == Self.files.sorted())
  }
}

/// A demo with its gateway; it ends with this process, however that ends.
private struct PageDemo {
  /// Where the gateway is, and a token for watchlists: what Tests/Page/browser.py reads.
  let environment: [String: String]
  /// The end of its standard input is the demo's end.
  private let process: Process
  private let input: Pipe

  static let shared = Result { try PageDemo() }

  private init() throws {
    let folder = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
      .deletingLastPathComponent()
    let output = Pipe()
    process = Process()
    input = Pipe()
    process.executableURL = URL(filePath: PythonScript.Interpreter.debian.path)
    process.arguments = [
      PythonScript.root.appending(path: "Tests/Page/demo.py").path,
      folder.appending(path: "candled-demo").path,
    ]
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    var text = Data()
    // Whole once the demo is there; a demo that failed closes it.
    while !text.contains(UInt8(ascii: "\n")) {
      let more = output.fileHandleForReading.availableData
      if more.isEmpty { break }
      text += more
    }
    environment = try JSONDecoder().decode([String: String].self, from: text)
  }
}
