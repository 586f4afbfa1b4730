import Market
import Operations

/// Why a command gave no result: a sentence on standard error and a status.
package struct CommandFailure: Error {
  package var status: ExitCode
  /// For people, without the program's name; a line each where there is more than one thing to
  /// say. nil says nothing.
  package var sentence: String?

  package init(status: ExitCode, sentence: String?) {
    self.status = status
    self.sentence = sentence
  }

  /// Everything there is to say was the command's result itself.
  package static func silent(_ status: ExitCode) -> CommandFailure {
    CommandFailure(status: status, sentence: nil)
  }

  /// The reader closed our standard output: not a failure, and nothing to print.
  package static let readerLeft = CommandFailure.silent(.ok)

  /// What may be had again when others have ended theirs.
  package static func tooFewThreads(_ what: String) -> CommandFailure {
    CommandFailure(
      status: .temporaryFailure,
      sentence:
        "too few threads: the system gives \(what): check ulimit -u, the unit's TasksMax= and "
        + "the container's pids limit")
  }

  package func report() {
    for line in (sentence ?? "").split(separator: "\n") { StandardError.writeLine(String(line)) }
  }
}

/// The sentence and exit status of what the modules throw that every program is made from.
extension CommandFailure {
  /// nil for an error that is none of those, such as ArgumentParser's.
  package init?(ofShared error: any Error) {
    switch error {
    case let failure as CommandFailure: self = failure
    case let error as ConfigurationError:
      self.init(status: error.exitCode, sentence: error.description)
    case let error as StoreError:
      self.init(status: error.exitCode, sentence: error.description)
    default: return nil
    }
  }
}

extension StoreError {
  package var exitCode: ExitCode {
    switch code {
    case .connectionLost: .unavailable
    case .transient, .positionConflict, .leaseLost: .temporaryFailure
    // insufficient_privilege and the class of identity (PostgreSQL's errcodes table)
    case .operatorNeeded where sqlState == "42501": .noPermission
    case .operatorNeeded where sqlState?.hasPrefix("28") == true: .noPermission
    // No such database, no trust in the server, a standby: it is not there for us.
    case .operatorNeeded: .unavailable
    case .refused, .rowRefused, .schemaMismatch: .dataError
    case .malformed: .software
    case .badAddress: .configuration
    }
  }
}
