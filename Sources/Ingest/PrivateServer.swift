import EmbeddedPostgres
import Market

/// What is known of the private PostgreSQL, for those who are asked.
package struct PrivateServer: Sendable, Hashable {
  /// The version that its data is of, and until when that is maintained; nil before there is any.
  package var major: Int?
  package var maintainedUntil: TradingDay?
  /// Why it does not start; nil while it runs.
  package var fault: String?
  /// How its programs are installed, for a shell; nil while they are.
  package var install: String?
  /// What copies of it there are; nil where none are made.
  package var backup: BackupState?

  package init() {}

  init(_ server: EmbeddedServer, fault: String? = nil) {
    major = server.major
    maintainedUntil = major.map { ServerRelease(major: $0).lastRelease }
    self.fault = fault
    backup = BackupState(of: server)
    install = server.hasBinaries ? nil : server.installCommand
  }
}
