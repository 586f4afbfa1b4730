/// A configuration in pieces: the files named `*.toml` in the folder `conf.d` beside the main file
/// are read after it, in the order of their names, and a later file wins. So a package, a tool or a
/// second administrator adds a setting without editing what belongs to somebody else. Whoever names
/// a file gets its drop-ins too, or `candled check --config` would not agree with the daemon.

import Glibc
import Platform

enum DropIns {
  static let folderName = "conf.d"
  /// A configuration of more pieces than this is a mistake, or a folder of something else.
  static let filesMax = 64

  /// The main file and its drop-ins, in the order they are read.
  /// - Throws: the folder is there and cannot be read, or holds too many.
  static func files(of path: String) throws(ConfigurationError) -> [String] {
    let slash = path.lastIndex(of: "/")
    let folder = (slash.map { String(path[...$0]) } ?? "") + folderName
    return [path] + (try names(in: folder)).map { "\(folder)/\($0)" }
  }

  private static func names(in folder: String) throws(ConfigurationError) -> [String] {
    guard let found = Folder.names(in: folder) else {
      // ENOTDIR: the main file is no file of a folder, such as /dev/stdin.
      if errno == ENOENT || errno == ENOTDIR { return [] }
      throw unreadable(folder, sentence: "cannot be read: \(String(cString: strerror(errno)))")
    }
    // Not what an editor or dpkg leaves behind: `.10.toml.swp`, `10.toml~`, `10.toml.dpkg-old`.
    let names = found.filter { $0.hasSuffix(".toml") && !$0.hasPrefix(".") }
    guard names.count <= filesMax else {
      throw unreadable(folder, sentence: "contains more than \(filesMax) files")
    }
    return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }

  private static func unreadable(_ folder: String, sentence: String) -> ConfigurationError {
    ConfigurationError(
      code: .unreadable,
      problems: [ConfigurationProblem(origin: folder, key: nil, sentence: sentence)])
  }
}
