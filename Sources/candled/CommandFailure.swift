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

  /// The reader closed our standard output: not a failure, and nothing to print.
  static let readerLeft = CommandFailure.silent(.ok)

  /// What may be had again when others have ended theirs.
  static func tooFewThreads(_ what: String) -> CommandFailure {
    CommandFailure(
      status: .temporaryFailure,
      sentence:
        "too few threads: the system gives \(what): check ulimit -u, the unit's TasksMax= and "
        + "the container's pids limit")
  }

  func report() {
    for line in (sentence ?? "").split(separator: "\n") { StandardError.writeLine(String(line)) }
  }
}
