import Commands
import Ingest
import Operations

extension ConfigurationOptions {
  /// The settings in force with the files they name, and what is to be said against them.
  func validated() throws(ConfigurationError) -> ValidatedConfiguration {
    try ValidatedConfiguration(path: path, overrides: overrides)
  }
}
