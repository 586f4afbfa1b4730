/// Where the programs of an installed PostgreSQL server are. Distributions keep them off the PATH
/// and side by side, one folder a major version; data written by one is unreadable to another, so
/// the version is part of the value.

import Glibc
import Platform

package struct ServerBinaries: Sendable, Hashable {
  /// The oldest release with all that the schema and the settings use.
  package static let majorMin = 15
  private static let debianFolder = "/usr/lib/postgresql"

  /// The folder with `postgres` and `initdb`, absolute.
  package var directory: String
  /// 15, 16, ….
  package var major: Int

  package init(directory: String, major: Int) {
    self.directory = directory
    self.major = major
  }

  var postgres: String { program("postgres") }
  var initdb: String { program("initdb") }
  var upgrade: String { program("pg_upgrade") }
  var controlData: String { program("pg_controldata") }
  func program(_ name: String) -> String { "\(directory)/\(name)" }

  /// Every usable server on this machine, the preferred one first: Debian's folders from the
  /// highest version down, then where `pg_config` points, then the PATH.
  package static func installed() -> [ServerBinaries] {
    var found = debian().sorted { $0.major > $1.major }
    for directory in [configured()].compactMap(\.self) + searchPath()
    where !found.contains(where: { $0.directory == directory }) {
      if let binaries = ServerBinaries(asking: directory) { found.append(binaries) }
    }
    return found
  }

  private static func debian() -> [ServerBinaries] {
    (Folder.names(in: debianFolder) ?? []).compactMap { name in
      guard let major = Int(name), major >= majorMin else { return nil }
      let binaries = ServerBinaries(directory: "\(debianFolder)/\(name)/bin", major: major)
      return binaries.isComplete ? binaries : nil
    }
  }

  /// nil when the folder has no server, or one too old.
  private init?(asking directory: String) {
    self.init(directory: directory, major: 0)
    guard isComplete, let line = try? ChildProcess.output(of: [postgres, "--version"]),
      // "postgres (PostgreSQL) 16.2", "… 17beta1".
      let number = line.split(separator: " ").dropFirst(2).first,
      let major = Int(number.prefix { $0.isWholeNumber }), major >= Self.majorMin
    else { return nil }
    self.major = major
  }

  /// Whether they are on the disk.
  var isComplete: Bool { access(postgres, X_OK) == 0 && access(initdb, X_OK) == 0 }

  private static func configured() -> String? {
    for folder in searchPath() where access(folder + "/pg_config", X_OK) == 0 {
      guard let line = try? ChildProcess.output(of: [folder + "/pg_config", "--bindir"]) else {
        continue
      }
      return line.split(separator: "\n").first.map(String.init)
    }
    return nil
  }

  private static func searchPath() -> [String] {
    guard let path = getenv("PATH") else { return [] }
    return String(cString: path).split(separator: ":").map(String.init).filter { $0.first == "/" }
  }
}
