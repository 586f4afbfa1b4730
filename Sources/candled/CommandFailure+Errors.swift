import EmbeddedPostgres
import History
import Ingest
import Journal
import Market
import Operations
import Postgres
import Transport

/// What went wrong below, as a sentence and an exit status.
extension CommandFailure {
  /// Runs `body`; errors of the modules below come out as failures of the command.
  static func translating<Result>(_ body: () async throws -> Result) async throws -> Result {
    do {
      return try await body()
    } catch let error as CommandFailure {
      throw error
    } catch let error as StoreError {
      throw CommandFailure(error)
    } catch let error as EmbeddedServerError {
      throw CommandFailure(error)
    } catch let error as ConfigurationError {
      throw CommandFailure(error)
    } catch let error as JournalError {
      throw CommandFailure(
        status: error.code == .locked ? .temporaryFailure : .inputOutput,
        sentence: error.description)
    } catch let error as TransportError {
      throw CommandFailure(
        status: error.code == .noResources ? .temporaryFailure : .configuration,
        sentence: error.description)
    } catch let error as HistoryError {
      throw CommandFailure(error)
    } catch let error as EngineError {
      throw CommandFailure(
        status: error.code == .stateUnreadable ? .dataError : .software,
        sentence: error.description)
    }
  }

  /// As `translating`, for what only asks the store.
  static func asking<Response>(
    _ body: () throws(StoreError) -> Response
  ) throws(CommandFailure) -> Response {
    do throws(StoreError) {
      return try body()
    } catch {
      throw CommandFailure(error)
    }
  }
}

// MARK: - Sentences and statuses

extension CommandFailure {
  init(_ error: ConfigurationError) {
    self.init(status: error.exitCode, sentence: error.description)
  }

  init(_ error: StoreError) {
    let status: Operations.ExitCode =
      switch error.code {
      case .connectionLost: .unavailable
      case .transient, .positionConflict, .leaseLost: .temporaryFailure
      // insufficient_privilege and the class of identity (PostgreSQL's errcodes table)
      case .operatorNeeded where error.sqlState == "42501": .noPermission
      case .operatorNeeded where error.sqlState?.hasPrefix("28") == true: .noPermission
      // No such database, no trust in the server, a standby: it is not there for us.
      case .operatorNeeded: .unavailable
      case .refused, .rowRefused, .schemaMismatch: .dataError
      case .malformed: .software
      case .badAddress: .configuration
      }
    self.init(status: status, sentence: error.description)
  }

  init(_ error: HistoryError) {
    let status: Operations.ExitCode =
      switch error.code {
      case .invalidOrder: .usage
      case .keyMissing: .configuration
      case .sourceFailed, .journalMismatch: .dataError
      }
    self.init(status: status, sentence: error.description)
  }

  init(_ error: EmbeddedServerError) {
    self.init(
      status: error.code == .directoryUnusable ? .cannotCreate : .unavailable,
      sentence: ([error.sentence] + error.log).joined(separator: "\n"))
  }
}
