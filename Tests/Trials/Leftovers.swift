import ExchangeSimulator
import Foundation
import Glibc
import Platform
import Synchronization

/// What a trial starts and must not outlive it: folders and processes, gone when this process ends,
/// pass, fail or told to stop. Clusters look after themselves (`PrivateCluster`).
package enum Leftovers {
  private static let folders = Locked<Set<String>>([])
  private static let processes = Locked<Set<pid_t>>([])
  private static let writeEnd = Atomic<Int32>(-1)

  private static let atExit: Void = {
    atexit {
      for process in Leftovers.processes.withLock({ $0 }) { kill(process, SIGKILL) }
      for folder in Leftovers.folders.withLock({ $0 }) { Leftovers.remove(folder) }
    }
  }()

  /// A fresh folder under /tmp that another user's server may pass through.
  static func folder(_ name: String) throws -> String {
    _ = atExit
    var template = Array("/tmp/candled-\(name)-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else {
      throw TrialFailure("cannot create a folder in /tmp")
    }
    let path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    chmod(path, 0o711)
    folders.withLock { _ = $0.insert(path) }
    return path
  }

  static func remove(_ folder: String) { try? FileManager.default.removeItem(atPath: folder) }

  static func add(_ process: pid_t) {
    _ = atExit
    processes.withLock { _ = $0.insert(process) }
  }

  static func ended(_ process: pid_t) { processes.withLock { _ = $0.remove(process) } }

  /// From here on SIGTERM and SIGINT, and `secondsMax` going by, end this process by `exit`: what
  /// it left is removed. For the runner, whose trials may hang on a bug.
  package static func endInTime(secondsMax: Int) {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { return }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    writeEnd.store(ends[1], ordering: .relaxed)
    var action = sigaction()
    action.__sigaction_handler.sa_handler = { signal in
      var byte = UInt8(truncatingIfNeeded: signal)
      _ = Glibc.write(Leftovers.writeEnd.load(ordering: .relaxed), &byte, 1)
    }
    action.sa_flags = SA_RESTART
    sigaction(SIGINT, &action, nil)
    sigaction(SIGTERM, &action, nil)
    let readEnd = ends[0]
    Thread.detachNewThread { @Sendable in
      var watched = pollfd(fd: readEnd, events: Int16(POLLIN), revents: 0)
      let deadline = Date().addingTimeInterval(TimeInterval(secondsMax))
      while poll(&watched, 1, 200) <= 0, Date() < deadline {}
      if watched.revents == 0 {
        FileHandle.standardOutput.write(
          Data("FAIL: not done after \(secondsMax) s\n".utf8))
      }
      exit(1)
    }
  }
}

/// Why a trial could not be held; a verdict is something else.
package struct TrialFailure: Error, CustomStringConvertible {
  package var description: String
  init(_ description: String) { self.description = description }
}

/// What a trial found: a line of figures, and what is amiss as sentences.
package struct ChaosVerdict: Sendable {
  package var figures: [String] = []
  package var complaints: [String] = []

  package init(figures: [String] = [], complaints: [String] = []) {
    self.figures = figures
    self.complaints = complaints
  }
}
