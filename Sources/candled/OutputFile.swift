/// A file named on the command line, which a command writes its result to.

import Commands
import Glibc
import Operations

final class OutputFile {
  private let path: String
  private let descriptor: Int32

  /// - Parameter isNew: refuses a file that is there, and makes one for its owner alone; otherwise
  ///   what is there is replaced.
  /// - Throws: `cannotCreate` with the system's reason.
  init(_ path: String, isNew: Bool) throws(CommandFailure) {
    self.path = path
    let flags = O_WRONLY | O_CREAT | O_CLOEXEC | (isNew ? O_EXCL : O_TRUNC)
    descriptor = open(path, flags, isNew ? 0o600 : 0o666)
    guard descriptor >= 0 else {
      throw CommandFailure(
        status: .cannotCreate, sentence: "cannot create \(path): \(reason(errno))")
    }
  }

  deinit { close(descriptor) }

  /// - Throws: `inputOutput` where it is not all written.
  func write(_ bytes: [UInt8]) throws(CommandFailure) {
    let errorNumber = bytes.withUnsafeBytes { writeAll($0, to: descriptor) }
    guard let errorNumber else { return }
    throw CommandFailure(
      status: .inputOutput, sentence: "cannot write \(path): \(reason(errorNumber))")
  }
}
