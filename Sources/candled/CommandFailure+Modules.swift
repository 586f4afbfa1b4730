/// How the errors of the modules below end a command.

import Operations
import Store

extension CommandFailure {
  init(_ error: ConfigurationError) {
    self.init(status: error.exitCode, sentence: error.description)
  }

  init(_ error: StoreError) {
    let status: Operations.ExitCode =
      switch error.code {
      case .connectionLost: .unavailable
      case .transient, .positionConflict: .temporaryFailure
      // insufficient_privilege (PostgreSQL's errcodes table)
      case .refused where error.sqlState == "42501": .noPermission
      case .refused, .schemaMismatch: .dataError
      case .malformed: .software
      case .badAddress: .configuration
      }
    self.init(status: status, sentence: error.description)
  }

  init(_ error: EmbeddedServerError) {
    self.init(status: .unavailable, sentence: error.description)
  }
}
