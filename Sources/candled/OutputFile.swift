/// A file named on the command line, which a command writes its result to.

import Commands
import Glibc
import Operations

enum OutputFile {
  /// Replaces what is there.
  /// - Throws: `cannotCreate` with the system's reason, `inputOutput` where it is not all written.
  static func write(_ bytes: [UInt8], to path: String) throws(CommandFailure) {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
    guard descriptor >= 0 else {
      throw CommandFailure(
        status: .cannotCreate, sentence: "cannot create \(path): \(reason(errno))")
    }
    defer { close(descriptor) }
    var rest = bytes[...]
    while !rest.isEmpty {
      let written = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if written < 0, errno == EINTR { continue }
      guard written > 0 else {
        throw CommandFailure(
          status: .inputOutput, sentence: "cannot write \(path): \(reason(errno))")
      }
      rest = rest.dropFirst(written)
    }
  }
}
