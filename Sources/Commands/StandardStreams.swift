/// Result and talk, kept apart. Written with write(2) and not with stdio, because only then does a
/// reader that left, or a full disk, come back as an error that a command can act on.

import Glibc
import Operations

package enum StandardOutput {
  /// Writes all of `text`.
  /// - Throws: `CommandFailure.readerLeft` if nobody reads any more, or an input/output failure.
  package static func write(_ text: String) throws(CommandFailure) {
    guard let errorNumber = writeAll(text, to: STDOUT_FILENO) else { return }
    if errorNumber == EPIPE { throw .readerLeft }
    throw CommandFailure(
      status: .inputOutput, sentence: "cannot write the result: \(reason(errorNumber))")
  }

  /// Writes each line with a line feed behind it, in blocks of `blockBytesMax`.
  package static func write(lines: some Sequence<String>) throws(CommandFailure) {
    var block = ""
    for line in lines {
      block += line
      block += "\n"
      if block.utf8.count >= blockBytesMax {
        try write(block)
        block = ""
      }
    }
    if !block.isEmpty { try write(block) }
  }

  /// As much as a pipe takes at once.
  private static let blockBytesMax = 65_536
}

package enum StandardError {
  /// By the name it was started as.
  private static let program =
    CommandLine.arguments.first?.split(separator: "/").last.map(String.init) ?? "candled"

  /// One line of talk under the program's name. A failure to complain is not complained about.
  package static func writeLine(_ sentence: String) {
    _ = writeAll("\(program): \(sentence)\n", to: STDERR_FILENO)
  }

  /// Writes over the terminal's line.
  package static func redraw(_ text: String) {
    _ = writeAll("\r\u{1B}[K\(text)", to: STDERR_FILENO)
  }
}

/// What the system says of an error number: `No such file or directory`.
package func reason(_ errorNumber: Int32) -> String {
  String(cString: strerror(errorNumber))
}

private func writeAll(_ text: String, to descriptor: Int32) -> Int32? {
  var text = text
  return text.withUTF8 { writeAll(UnsafeRawBufferPointer($0), to: descriptor) }
}

/// nil if everything was written, else the error number.
package func writeAll(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Int32? {
  var rest = bytes
  while let start = rest.baseAddress, !rest.isEmpty {
    let written = Glibc.write(descriptor, start, rest.count)
    if written >= 0 {
      rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(written))
    } else if errno == EAGAIN {
      var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
      poll(&waiting, 1, -1)
    } else if errno != EINTR {
      return errno
    }
  }
  return nil
}
