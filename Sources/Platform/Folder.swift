import Glibc

/// A folder of the file system.
package enum Folder {
  /// The names in a folder, in no order, without its own and its parent's.
  /// - Returns: nil where it cannot be read; errno says why.
  package static func names(in path: String) -> [String]? {
    guard let stream = opendir(path) else { return nil }
    defer { closedir(stream) }
    var names: [String] = []
    while let item = readdir(stream) {
      let name = withUnsafeBytes(of: &item.pointee.d_name) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names
  }

  /// What this user may still write to the disk of a folder.
  /// - Returns: nil where it cannot be asked; errno says why.
  package static func freeBytes(of path: String) -> Int64? {
    var disk = statvfs()
    guard statvfs(path, &disk) == 0 else { return nil }
    return Int64(clamping: disk.f_bavail) * Int64(clamping: disk.f_frsize)
  }
}

/// A file that is read at once, such as those of /proc.
package enum SmallFile {
  /// What is said of a process has a tenth of it.
  private static let bytesMax = 8192

  /// The text of a file, as far as it is read at once; empty where it cannot be read.
  package static func text(of path: String) -> String {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return "" }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: bytesMax)
    let count = read(file, &bytes, bytes.count)
    return String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self)
  }

  /// Writes the file anew; also behind a power cut it is the old one or the new one.
  /// - Returns: false where it cannot be written; errno says why.
  @discardableResult
  package static func replace(_ path: String, by text: String) -> Bool {
    let draft = path + ".new"
    let file = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0o600)
    defer { if file >= 0 { close(file) } }
    return file >= 0 && write(file, text, text.utf8.count) == text.utf8.count && fsync(file) == 0
      && rename(draft, path) == 0
  }
}
