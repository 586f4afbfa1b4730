import ExchangeSimulator
import Foundation
import Market
import Store

/// The built `candled run`, or another of its commands, as a child, for trials that kill it. Its
/// clock is stepped: it goes on from its journal's last moment, so a day with fifty kills can end
/// in the same tables as one without.
public final class DaemonProcess {
  public struct Failure: Error, CustomStringConvertible {
    public var description: String
  }

  /// `candled` in the folder of the running program: built with it, debug or release.
  public static var besideThisProcess: String {
    let program = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    return URL(fileURLWithPath: program ?? "").deletingLastPathComponent()
      .appendingPathComponent("candled").path
  }

  private let binary: String
  private let folder: String
  private let arguments: [String]
  private var process: Process?

  /// - Parameters:
  ///   - folder: state, configuration and log of this daemon.
  ///   - store: a libpq URL of a database with the schema applied.
  ///   - cadenceSeconds: from one sweep to the next.
  ///   - repairsPerNight: K-lines that may be asked for after a close.
  ///   - arguments: the command, without its configuration.
  public init(
    binary: String, folder: String, store: String, exchange: ExchangeServer,
    symbols: [Symbol], start: Timestamp, stop: Timestamp, cadenceSeconds: Int = 3,
    repairsPerNight: Int = 0, historyPerMinute: Int = 600, arguments: [String] = ["run"]
  ) throws {
    self.binary = binary
    self.folder = folder
    self.arguments = arguments
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let list = symbols.map { "\"\($0)\"" }.joined(separator: ", ")
    let text = """
      state_directory = "\(folder)"
      [store]
      url = "\(store)"
      [sina]
      base = "\(exchange.url)"
      history_base = "\(exchange.url)"
      list_base = "\(exchange.url)"
      reference_base = "\(exchange.url)"
      requests_per_minute = 600
      history_requests_per_minute = \(historyPerMinute)
      cadence = "\(cadenceSeconds)s"
      symbols = [\(list)]
      [repair]
      requests_per_night = \(repairsPerNight)
      [clock]
      mode = "stepped"
      start = "\(start)"
      stop = "\(stop)"
      [log]
      level = "warning"
      """
    try text.write(toFile: folder + "/candled.toml", atomically: true, encoding: .utf8)
  }

  public func start() throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: binary)
    process.arguments = arguments + ["--config", folder + "/candled.toml"]
    let log = folder + "/log"
    if !FileManager.default.fileExists(atPath: log) {
      _ = FileManager.default.createFile(atPath: log, contents: nil)
    }
    let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: log))
    try handle.seekToEnd()
    process.standardError = handle
    process.standardOutput = handle
    try process.run()
    self.process = process
  }

  public var pid: Int32 { process?.processIdentifier ?? 0 }
  public var isRunning: Bool { process?.isRunning ?? false }

  /// `kill -9`, and waits for the end.
  public func kill() {
    guard let process, process.isRunning else { return }
    Glibc.kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }

  /// Waits for the end of its work.
  /// - Throws: `Failure` with the log's tail unless it exits 0 within `secondsMax`.
  public func finish(secondsMax: Int) throws {
    let deadline = Date().addingTimeInterval(TimeInterval(secondsMax))
    while isRunning, Date() < deadline { usleep(20_000) }
    guard let process, !process.isRunning, process.terminationStatus == 0 else {
      kill()
      throw Failure(description: "candled did not finish its work: \(logTail)")
    }
  }

  private var logTail: String {
    let text = (try? String(contentsOfFile: folder + "/log", encoding: .utf8)) ?? ""
    return text.split(separator: "\n").suffix(5).joined(separator: "\n")
  }
}
