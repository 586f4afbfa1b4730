import Ingest
import Journal
import Operations
import Store
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
      throw CommandFailure(status: status(of: error), sentence: error.message)
    } catch let error as EmbeddedServerError {
      throw CommandFailure(status: .unavailable, sentence: error.description)
    } catch let error as JournalError {
      throw CommandFailure(
        status: error.code == .locked ? .temporaryFailure : .inputOutput,
        sentence: error.description)
    } catch let error as ConfigurationError {
      throw CommandFailure(status: error.exitCode, sentence: error.description)
    } catch let error as TransportError {
      throw CommandFailure(status: .configuration, sentence: error.description)
    } catch let error as EngineError {
      throw CommandFailure(status: .software, sentence: error.description)
    }
  }

  private static func status(of error: StoreError) -> ExitCode {
    switch error.code {
    case .schemaMismatch, .badAddress: .configuration
    case .connectionLost, .serverMissing, .serverFailed: .unavailable
    case .transient, .positionConflict: .temporaryFailure
    case .refused, .malformed: .software
    }
  }
}
