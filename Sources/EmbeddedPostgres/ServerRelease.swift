/// What is known of a major version of PostgreSQL without its programs: how long its project mends
/// it, and by which commands this Debian gets it.

import Market
import Platform

package struct ServerRelease: Sendable, Hashable {
  package let major: Int

  package init(major: Int) { self.major = major }

  /// The day of its last release: the second Thursday of a November, five years after its first
  /// (https://www.postgresql.org/support/versioning): of 15, in 2027.
  package var lastRelease: TradingDay {
    let january = TradingDay.first(of: 2012 + major)
    let november = TradingDay(year: 2012 + major, month: 11, day: 1) ?? january
    let thursday = 4
    return november.advanced(by: (thursday - november.weekday + 7) % 7 + 7)
  }

  /// For a shell, as root. Debian has one major a release of its own; PostgreSQL's archive, whose
  /// script Debian's package postgresql-common brings, has all.
  package var installCommand: String {
    let package = "apt-get install postgresql-\(major)"
    if Self.ofDebian[Self.debianRelease] == major { return package }
    return "apt-get install postgresql-common && "
      + "/usr/share/postgresql-common/pgdg/apt.postgresql.org.sh -y && \(package)"
  }

  /// By the release of Debian.
  private static let ofDebian = ["12": 15, "13": 17]

  private static var debianRelease: String {
    let key = "VERSION_ID="
    let lines = SmallFile.text(of: "/etc/os-release").split(separator: "\n")
    return lines.first { $0.hasPrefix(key) }.map {
      String($0.dropFirst(key.count).filter { $0 != "\"" })
    } ?? ""
  }
}
