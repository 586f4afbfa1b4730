import Foundation
import Glibc
import TestSupport

/// One section of the chaos runner as a process: `candled-trials` beside the running program. It is
/// told to end when its time is up, and ended a little later.
package struct SectionRun {
  private let section: ChaosSection
  private let isShort: Bool
  private let seed: UInt64

  private static let patienceSeconds = 20

  package init(_ section: ChaosSection, isShort: Bool, seed: UInt64) {
    self.section = section
    self.isShort = isShort
    self.seed = seed
  }

  private var secondsMax: Int { isShort ? section.shortSecondsMax : section.longSecondsMax }

  /// Runs it; what it says goes where this process's output goes.
  package func passes() throws -> Bool { try status(output: nil) == 0 }

  /// Runs it.
  /// - Returns: what it said, and whether it passed.
  package func report() throws -> (text: String, passes: Bool) {
    let folder = try Leftovers.folder("section")
    defer { Leftovers.remove(folder) }
    let file = folder + "/output"
    _ = FileManager.default.createFile(atPath: file, contents: nil)
    let output = try FileHandle(forWritingTo: URL(fileURLWithPath: file))
    let status = try status(output: output)
    let text = String(
      decoding: FileManager.default.contents(atPath: file) ?? Data(), as: UTF8.self)
    return (text, status == 0)
  }

  private func status(output: FileHandle?) throws -> Int32 {
    let process = Process()
    process.executableURL = URL(
      fileURLWithPath: DaemonProcess.besideThisProcess("candled-trials"))
    process.arguments =
      (isShort ? section.short ?? section.long : section.long) + [
        "--seed", "\(seed)", "--limit", "\(secondsMax)",
      ]
    process.environment = ProcessInfo.processInfo.environment.merging(
      try PrivateCluster.environment()
    ) { $1 }
    if let output {
      process.standardOutput = output
      process.standardError = output
    }
    try process.run()
    let pid = process.processIdentifier
    let deadline = Date().addingTimeInterval(TimeInterval(secondsMax + Self.patienceSeconds))
    while process.isRunning, Date() < deadline { usleep(20_000) }
    if process.isRunning { kill(pid, SIGKILL) }
    process.waitUntilExit()
    return process.terminationStatus
  }
}
