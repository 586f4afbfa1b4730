import Foundation
import Glibc

/// A command of the built binary whose lines are read while it runs.
final class WatchedCommand {
  private let process = Process()
  private let output = Pipe()
  private var received = Data()

  init(_ binary: String, _ arguments: [String]) throws {
    process.executableURL = URL(fileURLWithPath: binary)
    process.arguments = arguments
    process.standardError = output
    process.standardOutput = output
    try process.run()
    Leftovers.add(process.processIdentifier)
  }

  /// All that it printed.
  var text: String { String(decoding: received, as: UTF8.self) }

  /// Reads on until its end.
  /// - Returns: its exit status; nil if it was ended because it took too long.
  func end(secondsMax: Int) -> Int32? {
    let alarm = DispatchWorkItem { [process] in Glibc.kill(process.processIdentifier, SIGKILL) }
    DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(secondsMax), execute: alarm)
    while read() {}
    process.waitUntilExit()
    alarm.cancel()
    Leftovers.ended(process.processIdentifier)
    return process.terminationReason == .exit ? process.terminationStatus : nil
  }

  /// `kill -9`, a little after it printed that step.
  /// - Returns: false if it had ended before.
  func kill(at step: String, after microseconds: UInt32) throws -> Bool {
    while !text.contains(step), read() {}
    usleep(microseconds)
    let isRunning = process.isRunning
    if isRunning { Glibc.kill(process.processIdentifier, SIGKILL) }
    process.waitUntilExit()
    Leftovers.ended(process.processIdentifier)
    return isRunning
  }

  /// - Returns: false at the end of what it prints.
  private func read() -> Bool {
    let piece = output.fileHandleForReading.availableData
    received += piece
    return !piece.isEmpty
  }
}
