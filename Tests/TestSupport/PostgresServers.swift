import EmbeddedPostgres
import Foundation
import Glibc

/// The PostgreSQL servers of tests: Debian's, and those of other majors, which
/// `script/bootstrap --tests` installs.
package enum PostgresServers {
  /// Where a server is looked for that tests shall run on instead of Debian's: `script/test` names
  /// its major.
  private static let variable = "CANDLED_TEST_POSTGRES"

  private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appending(path: "../../.build/postgresql").standardizedFileURL.path

  /// Those that are not Debian's, by their majors, the oldest first.
  package static let others: [ServerBinaries] = {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return names.compactMap { Int($0) }.sorted()
      .map { ServerBinaries(directory: "\(folder)/\($0)/bin", major: $0) }
      .filter { access($0.directory + "/postgres", X_OK) == 0 }
  }()

  /// What a cluster of a test is made by; nil for what is installed.
  static let chosen: [ServerBinaries]? = getenv(variable).map { name in
    _ = onPath
    let major = Int(String(cString: name))
    let servers = others.filter { $0.major == major }
    // Another server would prove nothing.
    precondition(!servers.isEmpty, "no PostgreSQL \(String(cString: name)) in \(folder)")
    return servers
  }

  /// Whose programs go with the clusters of tests.
  package static var used: ServerBinaries? { chosen?.first ?? ServerBinaries.installed().first }

  /// From here on this process and its children find them, behind Debian's.
  package static let onPath: Void = {
    let path = getenv("PATH").map { String(cString: $0) } ?? ""
    setenv("PATH", (others.map(\.directory) + [path]).joined(separator: ":"), 1)
  }()
}
