import Commits
import ExchangeSimulator
import Foundation
import Market
import Store
import TestExchange
import TestSupport

/// The built `candled run`, or another of its commands, as a child, for trials that kill it. With a
/// stepped clock it goes on from its journal's last moment, so a day with fifty kills can end in
/// the same tables as one without.
package final class DaemonProcess {
  package struct Failure: Error, CustomStringConvertible {
    package var description: String
  }

  /// `candled` in the folder of the running program: built with it, debug or release.
  package static var besideThisProcess: String { besideThisProcess("candled") }

  /// Another program in the folder of the running one.
  package static func besideThisProcess(_ name: String) -> String {
    let program = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    return URL(fileURLWithPath: program ?? "").deletingLastPathComponent()
      .appendingPathComponent(name).path
  }

  private let binary: String
  let folder: String
  private let arguments: [String]
  private var process: Process?
  /// What its environment says beside this process's.
  var environment: [String: String] = [:]
  /// What `/proc` told everybody of its runs: command lines and environments.
  private(set) var captured = Data()

  /// - Parameters:
  ///   - folder: state, configuration and log of this daemon.
  ///   - arguments: the command, without its configuration.
  package init(
    binary: String, folder: String, settings: DaemonSettings, arguments: [String] = ["run"]
  ) throws {
    self.binary = binary
    self.folder = folder
    self.arguments = arguments
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try settings.text.write(toFile: configuration, atomically: true, encoding: .utf8)
  }

  /// - Parameters:
  ///   - store: a libpq URL of a database with the schema applied.
  ///   - cadenceSeconds: from one sweep to the next.
  ///   - repairsPerNight: K-lines that may be asked for after a close.
  package convenience init(
    binary: String, folder: String, store: String, exchange: ExchangeServer,
    symbols: [Symbol], start: Timestamp, stop: Timestamp, cadenceSeconds: Int = 3,
    repairsPerNight: Int = 0, historyPerMinute: Int = 600, arguments: [String] = ["run"]
  ) throws {
    var settings = DaemonSettings(
      folder: folder, store: store, exchange: exchange, symbols: symbols, start: start,
      stop: stop)
    settings["quotes.cadence"] = "\"\(cadenceSeconds)s\""
    settings["sina.history_requests_per_minute"] = "\(historyPerMinute)"
    settings["repair.requests_per_night"] = "\(repairsPerNight)"
    try self.init(binary: binary, folder: folder, settings: settings, arguments: arguments)
  }

  /// Before its first start: its journal lies on a disk that can be filled, for as long as that is
  /// used.
  /// - Throws: `SmallDisk.Failure` where this process may not mount.
  func putJournalOnDisk(megabytes: Int) throws -> SmallDisk {
    let disk = try SmallDisk(megabytes: megabytes)
    try FileManager.default.createDirectory(
      atPath: disk.path + "/journal", withIntermediateDirectories: false)
    try FileManager.default.createSymbolicLink(
      atPath: folder + "/journal", withDestinationPath: disk.path + "/journal")
    return disk
  }

  /// The file it is configured by.
  package var configuration: String { folder + "/candled.toml" }

  package func start() throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: binary)
    process.arguments = arguments + ["--config", configuration]
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    if !FileManager.default.fileExists(atPath: log) {
      _ = FileManager.default.createFile(atPath: log, contents: nil)
    }
    let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: log))
    try handle.seekToEnd()
    process.standardError = handle
    process.standardOutput = handle
    try process.run()
    try handle.close()
    self.process = process
    Leftovers.add(process.processIdentifier)
    for file in ["cmdline", "environ"] { captured += look(at: file) }
  }

  /// Empty in the middle of an exec.
  private func look(at file: String) -> Data {
    for _ in 0..<100 {
      let found = FileManager.default.contents(atPath: "/proc/\(pid)/\(file)") ?? Data()
      if !found.isEmpty || !isRunning { return found }
      usleep(1_000)
    }
    return Data()
  }

  package var pid: Int32 { process?.processIdentifier ?? 0 }
  package var isRunning: Bool { process?.isRunning ?? false }
  /// Standard output and error of all its runs.
  package var log: String { folder + "/log" }

  /// `kill -9`, and waits for the end.
  package func kill() {
    guard let process, process.isRunning else { return }
    Glibc.kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
    Leftovers.ended(process.processIdentifier)
  }

  package func signal(_ number: Int32) {
    if isRunning { Glibc.kill(pid, number) }
  }

  /// Waits for its end.
  /// - Returns: its exit status, 128 more than the signal that ended it; nil if it still runs.
  package func end(secondsMax: Int) -> Int32? {
    let deadline = Date().addingTimeInterval(TimeInterval(secondsMax))
    while isRunning, Date() < deadline { usleep(2_000) }
    guard let process, !process.isRunning else { return nil }
    Leftovers.ended(process.processIdentifier)
    return process.terminationReason == .uncaughtSignal
      ? 128 + process.terminationStatus : process.terminationStatus
  }

  /// Waits for the end of its work.
  /// - Throws: `Failure` with the log's tail unless it exits 0 within `secondsMax`.
  package func finish(secondsMax: Int) throws {
    guard end(secondsMax: secondsMax) == 0 else {
      kill()
      throw Failure(description: "candled did not finish its work: \(logTail)")
    }
  }

  var logTail: String {
    let text = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
    return text.split(separator: "\n").suffix(5).joined(separator: "\n")
  }
}
