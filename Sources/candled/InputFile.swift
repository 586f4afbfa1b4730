/// A file named on the command line, read whole, or standard input where it is named `-`.

import Commands
import Glibc
import Operations

enum InputFile {
  /// Far above any answer a source sends (the largest, a sweep of 800 symbols, is 240 kB).
  static let bytesMax = 64 << 20

  /// - Throws: `noInput` with the system's reason, `dataError` beyond `bytesMax`.
  static func read(_ path: String) throws(CommandFailure) -> [UInt8] {
    let name = path == "-" ? "standard input" : path
    guard let file = path == "-" ? fdopen(STDIN_FILENO, "r") : fopen(path, "re") else {
      throw unreadable(name)
    }
    defer { fclose(file) }
    let bytes = [UInt8](unsafeUninitializedCapacity: bytesMax + 1) { room, count in
      count = fread(room.baseAddress, 1, room.count, file)
    }
    guard ferror(file) == 0 else { throw unreadable(name) }
    guard bytes.count <= bytesMax else {
      throw CommandFailure(
        status: .dataError, sentence: "\(name) is larger than \(bytesMax >> 20) MiB")
    }
    return bytes
  }

  private static func unreadable(_ name: String) -> CommandFailure {
    CommandFailure(status: .noInput, sentence: "cannot read \(name): \(reason(errno))")
  }
}
