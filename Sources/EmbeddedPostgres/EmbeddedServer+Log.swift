/// The server's log: one file, a start's lines after those of the starts before, the whole moved
/// aside when it has grown. What a failed start said goes into its error from here.

import Glibc

extension EmbeddedServer {
  /// Looked at on start: errors are rare, and a month of them fits.
  private static let logBytesMax: Int64 = 8 << 20
  static let logTailLinesMax = 12
  private static let logTailBytesMax = 4096

  package var logPath: String { directory + "/server.log" }

  /// Opens the log to append to it. The folder is the server user's: root must not follow a link
  /// put there.
  func openLog(for user: ServerUser) throws(EmbeddedServerError) -> Int32 {
    if logSize > Self.logBytesMax { _ = rename(logPath, logPath + ".1") }
    let flags = O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC
    let file = open(logPath, flags, 0o600)
    guard file >= 0, !user.isOther || fchown(file, user.uid, user.gid) == 0 else {
      let number = errno
      if file >= 0 { close(file) }
      throw EmbeddedServerError(
        .directoryUnusable,
        sentence: "Cannot open \(logPath): \(String(cString: strerror(number))).",
        directory: directory, systemError: number)
    }
    return file
  }

  var logSize: Int64 {
    var status = stat()
    return lstat(logPath, &status) == 0 ? Int64(status.st_size) : 0
  }

  /// The last lines written at or after the offset.
  func logTail(from offset: Int64) -> [String] {
    let file = open(logPath, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
    guard file >= 0 else { return [] }
    defer { close(file) }
    var buffer = [UInt8](repeating: 0, count: Self.logTailBytesMax)
    let start = max(offset, logSize - Int64(buffer.count))
    let count = pread(file, &buffer, buffer.count, off_t(start))
    let text = String(decoding: buffer.prefix(max(count, 0)), as: UTF8.self)
    return text.split(separator: "\n").suffix(Self.logTailLinesMax).map(String.init)
  }
}
