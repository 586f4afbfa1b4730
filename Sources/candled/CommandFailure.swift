import EmbeddedPostgres
import History
import Ingest
import Journal
import Market
import Operations
import Postgres
import Transport

/// Why a command gave no result: a sentence on standard error and a status.
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

/// The sentence and exit status of whatever a command throws. Commands let the errors of the
/// modules below pass; the end of the process asks here.
extension CommandFailure {
  /// nil for an error that is none of those, such as ArgumentParser's.
  init?(of error: any Error) {
    switch error {
    case let failure as CommandFailure: self = failure
    case let error as ConfigurationError:
      self.init(status: error.exitCode, sentence: error.description)
    case let error as StoreError:
      self.init(status: error.exitCode, sentence: error.description)
    case let error as EmbeddedServerError:
      self.init(
        status: error.code == .directoryUnusable ? .cannotCreate : .unavailable,
        sentence: ([error.sentence] + error.log).joined(separator: "\n"))
    case let error as JournalError:
      self.init(
        status: error.code == .locked ? .temporaryFailure : .inputOutput,
        sentence: error.description)
    case let error as TransportError:
      self.init(
        status: error.code == .noResources ? .temporaryFailure : .configuration,
        sentence: error.description)
    case let error as HistoryError:
      self.init(status: error.exitCode, sentence: error.description)
    case let error as EngineError:
      self.init(
        status: error.code == .stateUnreadable ? .dataError : .software,
        sentence: error.description)
    default: return nil
    }
  }
}

extension StoreError {
  var exitCode: ExitCode {
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

extension HistoryError {
  fileprivate var exitCode: ExitCode {
    switch code {
    case .invalidOrder: .usage
    case .keyMissing: .configuration
    case .sourceFailed, .journalMismatch: .dataError
    }
  }
}
