/// A server that is measured, as a process of its own: its processor time and memory are its own
/// account. Servers of this program take orders by a line on their input, each answered by a line.

import CLinux
import Glibc

final class ServerProcess {
  let pid: pid_t
  private(set) var port: UInt16 = 0
  private let input: Int32
  private let output: UnsafeMutablePointer<FILE>?
  private let clock: clockid_t
  private var isStopped = false

  /// A server of this program; it listens when this returns.
  init(_ kind: PeerServer.Kind, isRealTime: Bool) throws {
    var arguments = ["/proc/self/exe", PeerServer.flag, kind.rawValue]
    if isRealTime { arguments.append(PeerServer.realTimeFlag) }
    let (orders, answers) = (try Self.pipe(), try Self.pipe())
    pid = try Self.spawn(arguments, input: orders.read, output: answers.write)
    close(orders.read)
    close(answers.write)
    input = orders.write
    output = fdopen(answers.read, "r")
    clock = try Self.clock(of: pid)
    port = UInt16(try answer())
  }

  /// Another program that listens at a port that is known.
  init(program: String, arguments: [String], port: UInt16) throws {
    pid = try Self.spawn([program] + arguments, input: nil, output: nil)
    (input, output) = (-1, nil)
    clock = try Self.clock(of: pid)
    self.port = port
  }

  deinit { stop() }

  func stop() {
    guard !isStopped else { return }
    isStopped = true
    kill(pid, SIGKILL)
    var status: Int32 = 0
    waitpid(pid, &status, 0)
    if input >= 0 { close(input) }
    if let output { fclose(output) }
  }

  /// - Returns: the number that it answers with.
  @discardableResult
  func order(_ line: String) throws -> Int64 {
    try post(line)
    return try answer()
  }

  /// Its answer is to be read later.
  func post(_ line: String) throws { try send(Array("\(line)\n".utf8)) }

  private func send(_ bytes: [UInt8]) throws {
    guard write(input, bytes, bytes.count) == bytes.count else { throw ended }
  }

  func answers(_ count: Int) throws -> [Int64] { try (0..<count).map { _ in try answer() } }

  func answer() throws -> Int64 {
    var line = [CChar](repeating: 0, count: 64)
    guard fgets(&line, Int32(line.count), output) != nil else { throw ended }
    return Int64(atoll(line))
  }

  private var ended: BenchFailure { BenchFailure(description: "a server process has ended") }

  /// What all its threads have taken of a core.
  var cpuMilliseconds: Double { milliseconds(clock) }
  var residentMebibytes: Double { Machine.mebibytes("VmRSS", of: pid) }
  var peakMebibytes: Double { Machine.mebibytes("VmHWM", of: pid) }

  // MARK: Starting

  private static func pipe() throws -> (read: Int32, write: Int32) {
    var ends: [Int32] = [-1, -1]
    guard pipe2(&ends, O_CLOEXEC) == 0 else { throw BenchFailure(description: "no pipe") }
    return (ends[0], ends[1])
  }

  private static func clock(of pid: pid_t) throws -> clockid_t {
    var clock = clockid_t()
    guard clock_getcpuclockid(pid, &clock) == 0 else {
      throw BenchFailure(description: "no clock of process \(pid)")
    }
    return clock
  }

  private static func spawn(
    _ arguments: [String], input: Int32?, output: Int32?
  ) throws -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    if let input { posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO) }
    if let output { posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO) }
    var words: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) }
    words.append(nil)
    defer { for word in words { free(word) } }
    var child = pid_t()
    guard posix_spawn(&child, arguments[0], &actions, nil, words, environ) == 0 else {
      throw BenchFailure(description: "cannot run \(arguments[0])")
    }
    return child
  }
}
