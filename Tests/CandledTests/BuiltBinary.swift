/// Runs the binary that was built beside these tests, as a person or a script would: arguments and
/// standard input in; output, talk and exit status out. Output goes through files, not pipes, so
/// that no test can hang on a full one.

import Glibc
import Platform
import Postgres
import Testing

struct BuiltBinary {
  struct Run {
    /// The exit status, or 128 plus the number of the signal that ended it.
    var status: Int32
    var output: String
    var errors: String
  }

  struct Failed: Error {
    var step: String
    var errorNumber: Int32
  }

  static let path = beside("candled")
  static let demo = beside("candled-demo")
  static let gateway = beside("candled-gateway")

  /// Where the tests were built: `.build/…` of `.build/…/candledPackageTests.xctest`.
  static let folder: String = {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink("/proc/self/exe", &buffer, buffer.count)
    let bytes = buffer.prefix(max(count, 0)).map { UInt8(bitPattern: $0) }
    let tests = String(decoding: bytes, as: UTF8.self)
    return tests.split(separator: "/").dropLast().map { "/" + $0 }.joined()
  }()

  private static func beside(_ name: String) -> String { "\(folder)/\(name)" }

  /// How the binary is started, where that matters.
  struct Conditions {
    /// What is run, by its path.
    var program = BuiltBinary.path
    var environment: [String] = []
    /// Descriptors that are closed.
    var closed: [Int32] = []
    /// What starts it: a program, by its path, with its arguments.
    var launcher: [String] = []
  }

  static func run(
    _ arguments: [String], input: [UInt8] = [], under conditions: Conditions = Conditions()
  ) throws -> Run {
    let output = try ScratchFile()
    let status = try run(
      arguments, input: input, output: output.descriptor, under: conditions)
    return Run(
      status: status.code, output: try output.text(), errors: status.errors)
  }

  static func runDemo(_ arguments: String...) throws -> Run {
    try run(arguments, under: Conditions(program: demo))
  }

  /// With nobody at the other end of standard output.
  static func runWithoutReader(_ arguments: [String], input: [UInt8] = []) throws -> Run {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { throw Failed(step: "pipe", errorNumber: errno) }
    close(ends[0])
    defer { close(ends[1]) }
    let status = try run(arguments, input: input, output: ends[1])
    return Run(status: status.code, output: "", errors: status.errors)
  }

  private static func run(
    _ arguments: [String], input: [UInt8], output: Int32,
    under conditions: Conditions = Conditions()
  ) throws -> (code: Int32, errors: String) {
    let inputFile = try ScratchFile(holding: input)
    let errorFile = try ScratchFile()
    let child = try spawn(
      arguments, input: inputFile.descriptor, output: output, errors: errorFile.descriptor,
      under: conditions)
    return (try wait(for: child), try errorFile.text())
  }

  /// Of any wait: for a binary that will never do it. On an idle machine none takes ten.
  fileprivate static let waitSecondsMax: Int64 = 180
  private static let lookMicroseconds: useconds_t = 1_000

  fileprivate static func spawn(
    _ arguments: [String], input: Int32, output: Int32, errors: Int32, under conditions: Conditions
  ) throws -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
    posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO)
    for descriptor in conditions.closed {
      posix_spawn_file_actions_addclose(&actions, descriptor)
    }
    let words = conditions.launcher + [conditions.program] + arguments
    let program = words[0]
    let environment = ["PATH=/usr/bin:/bin", "HOME=/nonexistent"] + conditions.environment
    var child: pid_t = 0
    let failure = withCStrings(words) { words in
      withCStrings(environment) { environment in
        posix_spawn(&child, program, &actions, nil, words, environment)
      }
    }
    guard failure == 0 else { throw Failed(step: "spawn \(program)", errorNumber: failure) }
    return child
  }

  /// - Returns: its exit status, or 128 plus the signal that ended it: 137 if it does not in time.
  fileprivate static func wait(for child: pid_t) throws -> Int32 {
    let end = MonotonicClock.seconds() + waitSecondsMax
    var status: Int32 = 0
    while true {
      let ended = waitpid(child, &status, WNOHANG)
      if ended == child { break }
      guard ended == 0 || errno == EINTR else { throw Failed(step: "wait", errorNumber: errno) }
      if MonotonicClock.seconds() >= end { kill(child, SIGKILL) }
      usleep(lookMicroseconds)
    }
    let signal = status & 0x7F
    return signal == 0 ? (status >> 8) & 0xFF : 128 + signal
  }

  private static func withCStrings<Result>(
    _ strings: [String], _ body: ([UnsafeMutablePointer<CChar>?]) throws -> Result
  ) rethrows -> Result {
    let copies = strings.map { strdup($0) }
    defer { for copy in copies { free(copy) } }
    return try body(copies + [nil])
  }
}

/// The binary while it runs: for what it says before it ends, and for signals. Whoever waits for
/// anything else of it listens meanwhile: unheard, it stands still once the socket is full.
final class RunningBinary {
  private let child: pid_t
  private let reading: Int32
  private(set) var captured = ""
  private var isAwaited = false

  /// Between two looks at what the binary does elsewhere, if it says nothing.
  private static let lookMilliseconds: Int64 = 500

  /// Both of its outputs are heard.
  init(
    _ arguments: [String], input: [UInt8] = [], environment: [String] = [],
    program: String = BuiltBinary.path
  ) throws {
    var ends: [Int32] = [-1, -1]
    // Unlike a pipe's, a socket's ends can be made unknown to other tests' children at once.
    let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
    guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else {
      throw BuiltBinary.Failed(step: "socket pair", errorNumber: errno)
    }
    defer { close(ends[1]) }
    let inputFile = try ScratchFile(holding: input)
    reading = ends[0]
    child = try BuiltBinary.spawn(
      arguments, input: inputFile.descriptor, output: ends[1], errors: ends[1],
      under: BuiltBinary.Conditions(program: program, environment: environment))
  }

  static func demo(_ arguments: String...) throws -> RunningBinary {
    try RunningBinary(arguments, program: BuiltBinary.demo)
  }

  deinit {
    close(reading)
    if !isAwaited {
      kill(child, SIGKILL)
      _ = try? BuiltBinary.wait(for: child)
    }
  }

  /// Listens until it has said `words`; false if it ended before, or has not in time.
  func logContains(_ words: String) -> Bool {
    listens { captured.contains(words) }
  }

  /// Listens until something is so, in what it says or elsewhere; false if it ended before, or if
  /// it does not come in time.
  func listens(until isSo: () -> Bool) -> Bool {
    let end = Self.waitEnd
    while !isSo() {
      if !listen(until: end) { return isSo() }
    }
    return true
  }

  /// What `/proc` tells of it to everybody who may look: `cmdline`, `environ`.
  func output(of file: String) throws -> [UInt8] {
    let descriptor = open("/proc/\(child)/\(file)", O_RDONLY)
    guard descriptor >= 0 else { throw BuiltBinary.Failed(step: file, errorNumber: errno) }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 1 << 16)
    return Array(bytes.prefix(max(read(descriptor, &bytes, bytes.count), 0)))
  }

  func signal(_ number: Int32) { kill(child, number) }

  /// Listens to the end. The exit status, or 128 plus the number of the signal that ended it: 137
  /// if it did not end in time.
  func ended() throws -> Int32 {
    let end = Self.waitEnd
    while listen(until: end) {}
    if MonotonicClock.nanoseconds() >= end { signal(SIGKILL) }
    isAwaited = true
    return try BuiltBinary.wait(for: child)
  }

  private static var waitEnd: Int64 {
    MonotonicClock.nanoseconds() + BuiltBinary.waitSecondsMax * 1_000_000_000
  }

  /// Takes in what it has said, or waits for it a moment; false once there is no more, or no time.
  private func listen(until end: Int64) -> Bool {
    let left = (end - MonotonicClock.nanoseconds()) / 1_000_000
    guard left > 0 else { return false }
    var readable = pollfd(fd: reading, events: Int16(POLLIN), revents: 0)
    let ready = poll(&readable, 1, Int32(min(left, Self.lookMilliseconds)))
    if ready == 0 || (ready < 0 && errno == EINTR) { return true }
    var block = [UInt8](repeating: 0, count: 1 << 16)
    let count = read(reading, &block, block.count)
    if count < 0, errno == EINTR { return true }
    guard count > 0 else { return false }
    captured += String(decoding: block.prefix(count), as: UTF8.self)
    return true
  }
}

/// A file without a name, gone when closed.
final class ScratchFile {
  let descriptor: Int32

  init(holding bytes: [UInt8] = []) throws {
    var name = Array("/tmp/candled-tests-XXXXXX".utf8CString)
    descriptor = mkstemp(&name)
    guard descriptor >= 0 else {
      throw BuiltBinary.Failed(step: "scratch file", errorNumber: errno)
    }
    unlink(name)
    // Other tests start processes meanwhile; none of them needs it.
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    guard write(descriptor, bytes, bytes.count) == bytes.count else {
      throw BuiltBinary.Failed(step: "scratch file", errorNumber: errno)
    }
    lseek(descriptor, 0, SEEK_SET)
  }

  func text() throws -> String {
    let count = Int(lseek(descriptor, 0, SEEK_END))
    lseek(descriptor, 0, SEEK_SET)
    var bytes = [UInt8](repeating: 0, count: max(count, 0))
    guard read(descriptor, &bytes, bytes.count) == count else {
      throw BuiltBinary.Failed(step: "scratch file", errorNumber: errno)
    }
    return try #require(String(validating: bytes, as: UTF8.self))
  }

  deinit { close(descriptor) }
}
