/// A file named on the command line, read whole, or standard input where it is named `-`.

import Commands
import Glibc
import Operations

enum InputFile {
  /// Far above any answer a source sends (the largest, a sweep of 800 symbols, is 240 kB).
  static let bytesMax = 64 << 20

  /// - Throws: `noInput` with the system's reason, `dataError` beyond `bytesMax`.
  static func read(_ path: String) throws(CommandFailure) -> [UInt8] {
    if path == "-" { return try readAll(from: STDIN_FILENO, name: "standard input") }
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw unreadable(path, errorNumber: errno) }
    defer { close(descriptor) }
    return try readAll(from: descriptor, name: path)
  }

  private static func readAll(
    from descriptor: Int32, name: String
  ) throws(CommandFailure) -> [UInt8] {
    var bytes: [UInt8] = []
    var block = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = Glibc.read(descriptor, &block, block.count)
      if count == 0 { return bytes }
      if count < 0 {
        if errno == EINTR { continue }
        throw unreadable(name, errorNumber: errno)
      }
      guard bytes.count + count <= bytesMax else {
        throw CommandFailure(
          status: .dataError, sentence: "\(name) is larger than \(bytesMax >> 20) MiB")
      }
      bytes += block.prefix(count)
    }
  }

  private static func unreadable(_ name: String, errorNumber: Int32) -> CommandFailure {
    CommandFailure(status: .noInput, sentence: "cannot read \(name): \(reason(errorNumber))")
  }
}
