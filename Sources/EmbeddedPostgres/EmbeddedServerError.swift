/// The one error of the embedded server: a code to act on, a sentence to read, and where the server
/// said something itself, the last lines it said.

package struct EmbeddedServerError: Error, Sendable, Hashable {
  package enum Code: String, Sendable, CaseIterable {
    /// The server binaries, or those of the version that wrote the data, are not installed.
    case serverMissing = "server_missing"
    /// The cluster's folder cannot be made, is not ours, or is out of the server user's reach.
    case directoryUnusable = "directory_unusable"
    /// `initdb`, or making a database, failed.
    case initFailed = "init_failed"
    /// The server ended at once, or did not answer in time.
    case startFailed = "start_failed"
    /// The server did not end in time, or may not be signalled.
    case stopFailed = "stop_failed"
    /// Another process sets the cluster up, or upgrades it.
    case busy = "busy"
    /// An upgrade cannot be made, or did not come to its end; the old data is as it was.
    case upgradeFailed = "upgrade_failed"
    /// A copy could not be made, or is worth nothing.
    case backupFailed = "backup_failed"
    /// A program could not be started at all.
    case spawnFailed = "spawn_failed"
  }

  package var code: Code
  /// One sentence for people.
  package var sentence: String
  /// The last lines of the server's log, oldest first.
  package var log: [String]

  init(_ code: Code, sentence: String, log: [String] = []) {
    self.code = code
    self.sentence = sentence
    self.log = log
  }
}

extension EmbeddedServerError: CustomStringConvertible {
  package var description: String {
    (["\(code.rawValue): \(sentence)"] + log).joined(separator: "\n  ")
  }
}
