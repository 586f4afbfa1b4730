/// A file that is complete or not there: it is written beside its place under a hidden name, made
/// durable and renamed. One process at a time writes in a folder, and removes what a killed one
/// left of the same file. The Python package keeps to the same names and the same lock.

import Commands
import Glibc
import Operations

final class CompleteFile {
  private let folder: String
  private let path: String
  private let temporary: String
  private let lock: Int32
  private var descriptor: Int32
  private var isFinished = false

  private static let blockBytesMax = 1 << 20

  /// Makes the folder if it is not there.
  /// - Throws: `cannotCreate`, or `temporaryFailure` while another process writes in the folder.
  init(_ path: String, in folder: String) throws(CommandFailure) {
    self.folder = folder
    self.path = path
    let name = path.split(separator: "/").last.map(String.init) ?? path
    temporary = "\(folder)/.\(name).part"
    try Self.makeFolder(folder)
    lock = try Self.opened("\(folder)/.lock", O_WRONLY | O_CREAT)
    guard flock(lock, LOCK_EX | LOCK_NB) == 0 else {
      close(lock)
      throw CommandFailure(
        status: .temporaryFailure, sentence: "\(folder): another export writes in this folder")
    }
    do throws(CommandFailure) {
      descriptor = try Self.opened(temporary, O_WRONLY | O_CREAT | O_TRUNC)
    } catch {
      close(lock)
      throw error
    }
  }

  deinit {
    if descriptor >= 0 { close(descriptor) }
    if !isFinished { unlink(temporary) }
    close(lock)
  }

  /// - Parameter skipped: lines at the beginning that are left out.
  func write(lines: some Sequence<String>, skipping skipped: Int) throws(CommandFailure) {
    var block: [UInt8] = []
    for line in lines.dropFirst(skipped) {
      block += line.utf8
      block.append(UInt8(ascii: "\n"))
      if block.count >= Self.blockBytesMax {
        try write(block)
        block.removeAll(keepingCapacity: true)
      }
    }
    try write(block)
  }

  private func write(_ bytes: [UInt8]) throws(CommandFailure) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw failure("write") }
      rest = rest.dropFirst(count)
    }
  }

  /// From here on it has its name.
  func finish() throws(CommandFailure) {
    guard fsync(descriptor) == 0 else { throw failure("write") }
    close(descriptor)
    descriptor = -1
    guard rename(temporary, path) == 0 else { throw failure("rename") }
    isFinished = true
    let directory = try Self.opened(folder, O_RDONLY | O_DIRECTORY)
    defer { close(directory) }
    guard fsync(directory) == 0 else { throw failure("sync the folder of") }
  }

  private func failure(_ step: String) -> CommandFailure {
    CommandFailure(status: .inputOutput, sentence: "cannot \(step) \(path): \(reason(errno))")
  }

  private static func opened(_ path: String, _ flags: Int32) throws(CommandFailure) -> Int32 {
    let descriptor = open(path, flags | O_CLOEXEC, 0o666)
    guard descriptor >= 0 else { throw cannotCreate(path) }
    return descriptor
  }

  /// With those that it lies in.
  private static func makeFolder(_ folder: String) throws(CommandFailure) {
    var path = folder.hasPrefix("/") ? "" : "."
    for name in folder.split(separator: "/") {
      path += "/\(name)"
      guard mkdir(path, 0o777) == 0 || errno == EEXIST else { throw cannotCreate(path) }
    }
  }

  private static func cannotCreate(_ path: String) -> CommandFailure {
    CommandFailure(status: .cannotCreate, sentence: "cannot create \(path): \(reason(errno))")
  }
}
