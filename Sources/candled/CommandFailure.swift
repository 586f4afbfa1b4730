/// Why a command gave no result, for people and for scripts.

import Operations

/// Ends a command with a sentence on standard error and a status.
struct CommandFailure: Error {
  var status: ExitCode
  /// For people, without the program's name; a line each where there is more than one thing to
  /// say. nil says nothing.
  var sentence: String?

  /// Everything there is to say was the command's result itself.
  static func silent(_ status: ExitCode) -> CommandFailure {
    CommandFailure(status: status, sentence: nil)
  }

  /// The reader of our output has seen enough: no failure of ours, and nobody to tell.
  static let readerLeft = CommandFailure.silent(.ok)

  /// What may be had again when others have ended theirs.
  static func tooFewThreads(_ what: String) -> CommandFailure {
    CommandFailure(
      status: .temporaryFailure,
      sentence: "the system gives only \(what): see ulimit -u, the unit's TasksMax= and the "
        + "container's pids limit")
  }

  func report() {
    for line in (sentence ?? "").split(separator: "\n") { StandardError.writeLine(String(line)) }
  }
}
