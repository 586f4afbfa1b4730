/// What a journal takes of its disk, from the outside: by names and sizes, without opening a file.

import Glibc

package struct DiskUsage: Sendable, Hashable {
  package var segments: Int
  package var bytes: Int64
  /// Of the file system it lies on, and what of it this user may still fill.
  package var diskBytes: Int64
  package var freeBytes: Int64
}

extension DiskUsage {
  /// Throws `system`.
  package init(directory path: String) throws(JournalError) {
    let found = try JournalDirectory(path: path).segments()
    segments = found.count
    bytes = found.reduce(0) { $0 + $1.bytes }
    var disk = statvfs()
    guard statvfs(path, &disk) == 0 else {
      throw .systemCall("measure the disk of \(path)", number: errno)
    }
    let block = Int64(clamping: disk.f_frsize)
    diskBytes = Int64(clamping: disk.f_blocks) * block
    freeBytes = Int64(clamping: disk.f_bavail) * block
  }
}
