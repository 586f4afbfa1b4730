/// The server process, found by the folder alone: `postmaster.pid` names a process, and that
/// process's own command line must name the folder. A stale file whose number went to another
/// process is thus never adopted and, above all, never signalled.

import Glibc
import Platform

extension EmbeddedServer {
  /// A shutdown checkpoint writes out what is dirty of shared_buffers, and clients get to end.
  static let stopSecondsMax = 60
  private static let pollMicroseconds: useconds_t = 5000

  struct Postmaster {
    let identifier: pid_t

    /// A child of ours, whatever its command line: in the middle of an exec it has none.
    init(spawned child: pid_t) { identifier = child }

    /// nil unless the process is the server of that data, for an upgrade or for all.
    init?(_ identifier: pid_t, of server: EmbeddedServer) {
      self.identifier = identifier
      // A zombie has no command line left.
      let arguments = SmallFile.text(of: "/proc/\(identifier)/cmdline").split(
        separator: "\0", omittingEmptySubsequences: false)
      guard let flag = arguments.firstIndex(of: "-D"), flag + 1 < arguments.count,
        isSameFile(String(arguments[flag + 1]), as: server.dataDirectory)
      else { return nil }
      // As pg_upgrade spells it, too.
      let socket = "unix_socket_directories=\(server.upgradeSocketDirectory)"
      if arguments.contains(Substring(socket)) == (server.part == .main) { return nil }
    }

    /// Ended, and collected if it was our child: a zombie still answers to its number, which keeps
    /// a new server from starting.
    var hasEnded: Bool {
      var status: Int32 = 0
      let result = waitpid(identifier, &status, WNOHANG)
      if result >= 0 { return result == identifier }
      return kill(identifier, 0) != 0 || Self.isZombie(identifier)
    }

    static func isZombie(_ identifier: pid_t) -> Bool {
      SmallFile.text(of: "/proc/\(identifier)/stat").contains("(postgres) Z ")
    }
  }

  var postmaster: Postmaster? {
    let first = SmallFile.text(of: dataDirectory + "/postmaster.pid").split(separator: "\n").first
    guard let identifier = first.flatMap({ pid_t($0) }), identifier > 0 else { return nil }
    if let running = Postmaster(identifier, of: self) { return running }
    collect(identifier)
    return nil
  }

  /// A server of ours that ended by itself is our zombie until collected.
  private func collect(_ identifier: pid_t) {
    guard Postmaster.isZombie(identifier) else { return }
    var status: Int32 = 0
    waitpid(identifier, &status, WNOHANG)
  }

  func end(by signal: Int32) throws(EmbeddedServerError) {
    guard let postmaster else { return }
    guard kill(postmaster.identifier, signal) == 0 || errno == ESRCH else {
      throw EmbeddedServerError(
        .stopFailed, sentence: "The server of \(directory) belongs to another user.")
    }
    let start = ContinuousClock.now
    while !postmaster.hasEnded {
      guard ContinuousClock.now - start < .seconds(Self.stopSecondsMax) else {
        throw EmbeddedServerError(
          .stopFailed,
          sentence: "The server of \(directory) did not stop within \(Self.stopSecondsMax) s.",
          log: logTail(from: 0))
      }
      Self.pause()
    }
  }

  static func pause() { usleep(pollMicroseconds) }
}

private func isSameFile(_ one: String, as other: String) -> Bool {
  var first = stat()
  var second = stat()
  guard stat(one, &first) == 0, stat(other, &second) == 0 else { return false }
  return first.st_dev == second.st_dev && first.st_ino == second.st_ino
}
