/// Starts other programs by posix_spawn, which is safe in a process with threads where fork is not.
/// A child begins with nothing of ours: no descriptors but the three, no signal dispositions, no
/// environment variables (PGPORT and its kin would reach into the server), the root as its folder.
/// It must never wait for a child that is meant to outlive us.

import CLinux
import Glibc

enum ChildProcess {
  /// More than a version line or a path needs.
  static let outputBytesMax = 4096
  private static let environment = ["PATH=/usr/local/bin:/usr/bin:/bin", "LC_ALL=C"]

  /// Runs the program to its end. `log` takes its output; nil discards it.
  /// - Returns: its exit status, 128 + the signal when one ended it.
  static func run(_ arguments: [String], log: Int32? = nil) throws(EmbeddedServerError) -> Int32 {
    wait(for: try spawn(arguments, output: log))
  }

  /// Runs the program to its end.
  /// - Returns: the start of what it said, nil unless it ended well.
  static func output(of arguments: [String]) throws(EmbeddedServerError) -> String? {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { throw failure(arguments, errno: errno) }
    let child: pid_t
    do {
      defer { close(ends[1]) }
      child = try spawn(arguments, output: ends[1])
    } catch {
      close(ends[0])
      throw error
    }
    let text = read(ends[0])
    close(ends[0])
    return wait(for: child) == 0 ? String(decoding: text, as: UTF8.self) : nil
  }

  /// Starts the program in a session of its own, so that neither Ctrl-C in our terminal nor our own
  /// end reaches it.
  static func detach(_ arguments: [String], log: Int32) throws(EmbeddedServerError) -> pid_t {
    try spawn(arguments, output: log, flags: Int16(CLINUX_SPAWN_SETSID))
  }

  private static func spawn(
    _ arguments: [String], output: Int32?, flags: Int16 = 0
  ) throws(EmbeddedServerError) -> pid_t {
    var actions = posix_spawn_file_actions_t()
    var attributes = posix_spawnattr_t()
    posix_spawn_file_actions_init(&actions)
    posix_spawnattr_init(&attributes)
    defer {
      posix_spawn_file_actions_destroy(&actions)
      posix_spawnattr_destroy(&attributes)
    }
    redirect(&actions, output: output)
    resetSignals(&attributes, flags: flags)
    var child: pid_t = 0
    let failed = withPointers(to: arguments) { argv in
      withPointers(to: environment) { envp in
        posix_spawn(&child, arguments[0], &actions, &attributes, argv, envp)
      }
    }
    guard failed == 0 else { throw failure(arguments, errno: failed) }
    return child
  }

  private static func redirect(_ actions: inout posix_spawn_file_actions_t, output: Int32?) {
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    if let output {
      posix_spawn_file_actions_adddup2(&actions, output, 1)
    } else {
      posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
    }
    posix_spawn_file_actions_adddup2(&actions, 1, 2)
    clinux_spawn_from_root(&actions)
  }

  private static func resetSignals(_ attributes: inout posix_spawnattr_t, flags: Int16) {
    var none = sigset_t()
    var every = sigset_t()
    sigemptyset(&none)
    sigfillset(&every)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setsigdefault(&attributes, &every)
    let signals = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF
    posix_spawnattr_setflags(&attributes, Int16(signals) | flags)
  }

  private static func withPointers<Value>(
    to strings: [String], body: ([UnsafeMutablePointer<CChar>?]) -> Value
  ) -> Value {
    let copies = strings.map { strdup($0) }
    defer { for copy in copies { free(copy) } }
    return body(copies + [nil])
  }

  /// To the end, so that the child never waits for a reader, keeping no more than the bound.
  private static func read(_ descriptor: Int32) -> [UInt8] {
    var kept: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: outputBytesMax)
    while true {
      let count = Glibc.read(descriptor, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      if count <= 0 { return kept }
      kept += buffer.prefix(min(count, outputBytesMax - kept.count))
    }
  }

  private static func wait(for child: pid_t) -> Int32 {
    var status: Int32 = 0
    while waitpid(child, &status, 0) < 0 {
      // Somebody else collected it: how it ended is not to be known.
      if errno != EINTR { return -1 }
    }
    let signal = status & 0x7f
    return signal == 0 ? (status >> 8) & 0xff : 128 + signal
  }

  private static func failure(_ arguments: [String], errno number: Int32) -> EmbeddedServerError {
    let reason = String(cString: strerror(number))
    return EmbeddedServerError(
      .spawnFailed, sentence: "Cannot run \(arguments[0]): \(reason).")
  }
}
