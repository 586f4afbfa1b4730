import Commands
import EmbeddedPostgres
import History
import Ingest
import Journal
import Market
import Operations
import Transport

/// The sentence and exit status of whatever a command throws. Commands let the errors of the
/// modules below pass; the end of the process asks here.
extension CommandFailure {
  /// nil for an error that is none of those, such as ArgumentParser's.
  package init?(of error: any Error) {
    switch error {
    case let error as EmbeddedServerError:
      self.init(
        status: error.exitCode, sentence: ([error.sentence] + error.log).joined(separator: "\n"))
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
    default: self.init(ofShared: error)
    }
  }
}

extension EmbeddedServerError {
  fileprivate var exitCode: ExitCode {
    switch code {
    case .directoryUnusable: .cannotCreate
    case .busy: .temporaryFailure
    case .upgradeFailed, .backupFailed: .dataError
    case .serverMissing, .initFailed, .startFailed, .stopFailed, .spawnFailed: .unavailable
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
