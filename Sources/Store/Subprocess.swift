import CLinux
import Glibc

/// Runs a program to its end: standard input empty, its output to a file or nowhere, no shell.
/// The environment is the caller's, in the C locale so that messages are English.
enum Subprocess {
  /// Blocks until the program ends.
  /// - Parameter output: a file its output is appended to; nil discards it.
  /// - Returns: the exit code, or 128 + the signal that ended it.
  /// - Throws: `serverFailed` when it cannot be started.
  static func run(
    _ arguments: [String], output: String? = nil, directory: String = "/"
  ) throws(StoreError) -> Int32 {
    let process = try start(arguments, output: output, directory: directory)
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0 {
      if errno != EINTR { return 127 }
    }
    let signal = status & 0x7F
    return signal == 0 ? (status >> 8) & 0xFF : 128 + signal
  }

  private static func start(
    _ arguments: [String], output: String?, directory: String
  ) throws(StoreError) -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addchdir_np(&actions, directory)
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_addopen(
      &actions, 1, output ?? "/dev/null", O_WRONLY | O_CREAT | O_APPEND, 0o640)
    posix_spawn_file_actions_adddup2(&actions, 1, 2)
    // The journal, sockets and logs of the daemon are not the server's business.
    posix_spawn_file_actions_addclosefrom_np(&actions, 3)
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    resetSignals(&attributes)
    var process = pid_t()
    let failure: Int32 = withMutableCStrings(arguments) { argv in
      withMutableCStrings(environment()) { variables in
        argv.flatMap { argv in
          variables.map { posix_spawn(&process, arguments[0], &actions, &attributes, argv, $0) }
        } ?? EINVAL
      }
    }
    if failure != 0 {
      throw StoreError(
        .serverFailed, "cannot start \(arguments[0]): \(String(cString: strerror(failure)))",
        context: "embedded server")
    }
    return process
  }

  /// A daemon blocks and ignores signals for itself; its children start with none of that.
  private static func resetSignals(_ attributes: inout posix_spawnattr_t) {
    var none = sigset_t()
    sigemptyset(&none)
    var all = sigset_t()
    sigfillset(&all)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setsigdefault(&attributes, &all)
    posix_spawnattr_setflags(
      &attributes, Int16(POSIX_SPAWN_SETSIGMASK) | Int16(POSIX_SPAWN_SETSIGDEF))
  }

  /// Without PG* variables, which would redirect the tools, and NOTIFY_SOCKET, by which the server
  /// would report to systemd in our name.
  private static func environment() -> [String] {
    var kept = ["LC_ALL=C"]
    var cursor = environ
    while let entry = cursor.pointee {
      let text = String(cString: entry)
      let ours = ["PG", "LC_", "LANG", "NOTIFY_SOCKET", "LISTEN_"].contains { text.hasPrefix($0) }
      if !ours { kept.append(text) }
      cursor += 1
    }
    return kept
  }

  private static func withMutableCStrings<Answer>(
    _ strings: [String], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?) -> Answer
  ) -> Answer {
    var pointers: [UnsafeMutablePointer<CChar>?] = strings.map { strdup($0) }
    pointers.append(nil)
    defer { for pointer in pointers { free(pointer) } }
    return pointers.withUnsafeMutableBufferPointer { body($0.baseAddress) }
  }
}
