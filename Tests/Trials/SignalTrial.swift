import ExchangeSimulator
import Foundation
import Glibc
import Market
import Platform
import TestSupport

/// SIGTERM and SIGHUP in a daemon's first 50 ms: neither may be lost nor deadly. The unit starts it
/// through env(1), which blocks them over the exec; what is left is env's own first millisecond.
/// Started plainly, a process is at the kernel's and the dynamic linker's mercy until its first
/// instruction, and that is counted.
package struct SignalTrial {
  package var binary: String
  package var instruments: Int
  package var seed: UInt64
  /// Starts for each signal and each way of starting.
  package var times: Int

  private static let delayMicrosecondsMax: UInt32 = 50_000
  private static let endSecondsMax = 10
  /// What the unit puts before the daemon.
  package static let unitPrefix = ["/usr/bin/env", "--block-signal=TERM,HUP"]
  /// Of those started as the unit does: one in so many may meet env before it has blocked them.
  private static let deadlyShareMax = 10
  /// Of a few starts two may.
  private static let deadlyFew = 2

  private enum Way: String, CaseIterable {
    case unit = "as the unit"
    case blocked = "blocked over exec"
    case plain

    var prefix: [String] { self == .unit ? SignalTrial.unitPrefix : [] }
    var blockedSignals: [Int32] { self == .blocked ? [SIGTERM, SIGHUP] : [] }

    /// Of so many starts.
    func deadlyMax(of times: Int) -> Int {
      switch self {
      case .unit: max(SignalTrial.deadlyFew, times / SignalTrial.deadlyShareMax)
      case .blocked: 0
      case .plain: times
      }
    }
  }

  package init(binary: String, instruments: Int, seed: UInt64, times: Int) {
    self.binary = binary
    self.instruments = instruments
    self.seed = seed
    self.times = times
  }

  private struct Count {
    var survived = 0
    /// Ended by the signal itself.
    var deadly = 0
    var slowest = 0
    var others: [String] = []
  }

  package func run() throws -> ChaosVerdict {
    let world = try TrialDay("signals", seed: seed, instruments: instruments)
    defer { world.end() }
    let daemon = try world.daemon(try world.settings(start: 14 * 3600), binary: binary)
    var random = SplitMix(seed: seed)
    var verdict = ChaosVerdict()
    for way in Way.allCases {
      for (signal, name) in [(SIGTERM, "TERM"), (SIGHUP, "HUP")] {
        let what = "\(name), \(way.rawValue)"
        var count = Count()
        for _ in 0..<times {
          try strike(daemon, signal, way, &random, &count)
        }
        verdict.figures.append(
          "\(what): \(count.survived) of \(times) taken, \(count.deadly) deadly, slowest "
            + "exit \(count.slowest) ms")
        verdict.complaints += count.others.map { "\(what): \($0)" }
        if count.deadly > way.deadlyMax(of: times) {
          verdict.complaints.append("\(what): deadly \(count.deadly) times")
        }
      }
    }
    try daemon.start()
    try daemon.finish(secondsMax: 600)
    let verified = try world.verify(deaths: times * 2 * Way.allCases.count)
    verdict.figures += verified.figures
    verdict.complaints += verified.complaints
    return verdict
  }

  private func strike(
    _ daemon: DaemonProcess, _ signal: Int32, _ way: Way, _ random: inout SplitMix,
    _ count: inout Count
  ) throws {
    let child = try SpawnedChild(
      way.prefix + [binary, "run", "--config", daemon.configuration], log: daemon.log,
      blocking: way.blockedSignals)
    usleep(UInt32.random(in: 0...Self.delayMicrosecondsMax, using: &random))
    child.signal(signal)
    // What was asked to reload goes on, and is told to stop in its turn.
    if signal == SIGHUP {
      usleep(Self.delayMicrosecondsMax * 4)
      child.signal(SIGTERM)
    }
    let began = MonotonicClock.microseconds()
    let status = child.end(secondsMax: Self.endSecondsMax)
    switch status {
    case 0:
      count.survived += 1
      count.slowest = max(count.slowest, Int((MonotonicClock.microseconds() - began) / 1000))
    // Slow to start, it may meet the one that tells it to stop before its handlers are there.
    case 128 + signal, 128 + SIGTERM: count.deadly += 1
    case let status?: count.others.append("exit status \(status)")
    case nil: count.others.append("still there after \(Self.endSecondsMax) s")
    }
  }
}

/// A process started by posix_spawn, for what `Process` cannot: signals blocked over the exec.
final class SpawnedChild {
  private let pid: pid_t
  private var status: Int32?

  /// - Parameter log: a file both outputs are appended to.
  init(_ arguments: [String], log: String, blocking signals: [Int32]) throws {
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var mask = sigset_t()
    sigemptyset(&mask)
    for signal in signals { sigaddset(&mask, signal) }
    posix_spawnattr_setsigmask(&attributes, &mask)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(
      &actions, STDOUT_FILENO, log, O_WRONLY | O_CREAT | O_APPEND, 0o600)
    posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO)
    var words: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) }
    words.append(nil)
    defer { for word in words { free(word) } }
    var child = pid_t()
    guard posix_spawn(&child, arguments[0], &actions, &attributes, words, environ) == 0 else {
      throw TrialFailure("cannot run \(arguments[0])")
    }
    pid = child
    Leftovers.add(pid)
  }

  deinit {
    if status == nil {
      kill(pid, SIGKILL)
      var ignored: Int32 = 0
      waitpid(pid, &ignored, 0)
      Leftovers.ended(pid)
    }
  }

  func signal(_ number: Int32) { if !hasEnded() { kill(pid, number) } }

  /// - Returns: its exit status, 128 more than the signal that ended it; nil if it still runs.
  func end(secondsMax: Int) -> Int32? {
    let deadline = Date().addingTimeInterval(TimeInterval(secondsMax))
    while !hasEnded(), Date() < deadline { usleep(2_000) }
    return status
  }

  private func hasEnded() -> Bool {
    if status != nil { return true }
    var word: Int32 = 0
    guard waitpid(pid, &word, WNOHANG) == pid else { return false }
    status = word & 0x7F == 0 ? (word >> 8) & 0xFF : 128 + (word & 0x7F)
    Leftovers.ended(pid)
    return true
  }
}
