/// The package, made by `script/package` of the binary beside these tests: in two versions, for
/// upgrades, and once more for whether the same comes out.

import Foundation
import Glibc

struct BuiltPackage: Sendable {
  let name: String
  let path: String

  static let old = Task { try await BuiltPackage(name: "old", version: "0.1.0") }
  static let new = Task { try await BuiltPackage(name: "new", version: "9.0.0") }

  /// What this machine lacks for making one, nil if nothing.
  static let obstacle: String? = {
    let missing = ["dpkg-deb", "dpkg-shlibdeps", "strip"].filter { Program.path(of: $0) == nil }
    return missing.isEmpty ? nil : "no \(missing.joined(separator: ", "))"
  }()

  /// The repository.
  static let root = #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined()

  /// Beside these tests.
  static let binary = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
    .deletingLastPathComponent().appending(path: "candled").path

  /// Where packages go; gone with this process.
  private static let scratch: String = {
    atexit { try? FileManager.default.removeItem(atPath: BuiltPackage.scratch) }
    return FileManager.default.temporaryDirectory.path + "/candled-packages-\(getpid())"
  }()

  init(name: String, version: String) async throws {
    let folder = "\(Self.scratch)/\(name)"
    // To compress is for those who download.
    let run = try await Program.run(
      "/usr/bin/env",
      [
        "DPKG_DEB_COMPRESSOR_TYPE=none", Self.root + "/script/package", "--binary", Self.binary,
        "--version", version, "--output", folder,
      ])
    guard run.status == 0, let last = run.output.split(separator: "\n").last else {
      throw Scenario.Failed(description: "script/package: \(run.output)")
    }
    self.name = name
    path = String(last)
  }

  /// What `dpkg-deb` says of it, a line each.
  func output(of arguments: String...) async throws -> [String] {
    let run = try await Program.run("/usr/bin/env", ["dpkg-deb"] + arguments + [path])
    guard run.status == 0 else { throw Scenario.Failed(description: run.output) }
    return run.output.split(separator: "\n").map(String.init)
  }
}

/// A program run to its end. Its output goes through a file, so that none can hang on a full pipe.
enum Program {
  struct Run: Sendable {
    var status: Int32
    /// Both outputs, as they came.
    var output: String
  }

  static func path(of name: String) -> String? {
    ["/usr/bin/", "/bin/", "/usr/sbin/", "/sbin/"].map { $0 + name }
      .first { access($0, X_OK) == 0 }
  }

  /// Leaves the thread to others meanwhile.
  static func run(_ program: String, _ arguments: [String]) async throws -> Run {
    let (process, output) = try prepared(program, arguments)
    let status = try await withCheckedThrowingContinuation { continuation in
      process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
      do { try process.run() } catch { continuation.resume(throwing: error) }
    }
    return Run(status: status, output: try text(of: output))
  }

  static func runBlocking(_ program: String, _ arguments: [String]) throws -> Run {
    let (process, output) = try prepared(program, arguments)
    try process.run()
    process.waitUntilExit()
    return Run(status: process.terminationStatus, output: try text(of: output))
  }

  private static func prepared(
    _ program: String, _ arguments: [String]
  ) throws -> (Process, output: String) {
    let output = FileManager.default.temporaryDirectory.path + "/candled-talk-\(UUID())"
    _ = FileManager.default.createFile(atPath: output, contents: nil)
    let file = try FileHandle(forWritingTo: URL(filePath: output))
    let process = Process()
    process.executableURL = URL(filePath: program)
    process.arguments = arguments
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = file
    process.standardError = file
    return (process, output)
  }

  private static func text(of output: String) throws -> String {
    defer { try? FileManager.default.removeItem(atPath: output) }
    return try String(contentsOfFile: output, encoding: .utf8)
  }
}
