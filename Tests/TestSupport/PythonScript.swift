import Foundation

/// A script of the tests.
package enum PythonScript {
  package enum Interpreter {
    /// The one that script/bootstrap prepares, with the packages of Tests/requirements.txt.
    case prepared
    /// Debian's, with Debian's packages.
    case debian

    package var path: String {
      switch self {
      case .prepared: PythonScript.root.appending(path: ".build/python/bin/python").path
      case .debian: "/usr/bin/python3"
      }
    }
  }

  package struct Outcome: Sendable {
    package let status: Int32
    /// What it printed, and what it complained of.
    package let output: String
  }

  /// Blocks its thread until the script has ended.
  /// - Parameters:
  ///   - file: its path in the repository.
  ///   - secondsMax: it is killed then, and has failed.
  package static func run(
    _ file: String, _ arguments: [String] = [], by interpreter: Interpreter = .prepared,
    environment: [String: String] = [:], secondsMax: Int = 120
  ) throws -> Outcome {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/timeout")
    process.arguments =
      ["--kill-after=5", "\(secondsMax)", interpreter.path, root.appending(path: file).path]
      + arguments
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    process.standardInput = FileHandle.nullDevice
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = pipe
    try process.run()
    let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return Outcome(
      status: process.terminationStatus, output: String(decoding: output, as: UTF8.self))
  }

  /// The repository's folder.
  package static let root = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
}
