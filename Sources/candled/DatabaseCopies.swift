/// `candled database backup` and `drill`: copies of the private cluster, and a proof that they can
/// be restored.

import ArgumentParser
import Commands
import EmbeddedPostgres
import Ingest
import Market
import Operations

struct DatabaseBackup: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "backup",
    abstract: "Make a base copy of the private PostgreSQL, and verify it.",
    discussion: Help.discussion(
      """
      Into store.backup_directory, beside the running server, by pg_basebackup and \
      pg_verifybackup. Between base copies the server archives its log there by itself, once it \
      was started with that setting. The last store.backups_kept stay. Exits 65 where a page of \
      the server is damaged.
      """,
      examples: ["candled database backup": "once a month; the package's timer does"]))

  @OptionGroup var options: ConfigurationOptions

  func run() throws {
    let backup = try options.backups()
    let kept = try options.load()[StoreSettings.backupsKept]
    let base = try backup.run(keeping: kept, at: EngineClock.realNow())
    StandardError.writeLine("the copy of \(base.madeAt) is made and verified")
  }
}

struct DatabaseDrill: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "drill",
    abstract: "Restore the newest copy of the private PostgreSQL, and check it.",
    discussion: Help.discussion(
      """
      Restores the newest base copy with the log since then into store.backup_directory/drill, \
      starts it, counts its rows, compares each certificate with them, and the end with that of \
      the running server. Needs as much space as the database, and removes it. Exits 65 where the \
      copy is worth nothing; the result stays in the status.
      """,
      examples: ["candled database drill": "once a quarter; the package's timer does"]))

  @OptionGroup var options: ConfigurationOptions

  func run() throws {
    let drill = BackupDrill(of: try options.backups()) { StandardError.writeLine($0) }
    let found = try drill.run(at: EngineClock.realNow())
    StandardError.writeLine("the copy is whole: \(found)")
  }
}

extension ConfigurationOptions {
  /// - Throws: `configuration` where no copies are configured.
  fileprivate func backups() throws -> ClusterBackup {
    if let backups = try privateServer().backups() { return backups }
    throw CommandFailure(
      status: .configuration,
      sentence: "store.backup_directory is not set: name a folder on another disk")
  }
}
