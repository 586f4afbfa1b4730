import Commands
import Ingest
import Operations

/// The daemon's commands read the files that a configuration names; the gateway does without them.
extension ConfigurationOptions {
  /// The settings in force with the files they name, and what is to be said against them.
  func validated() throws(ConfigurationError) -> ValidatedConfiguration {
    try ValidatedConfiguration(path: path, overrides: overrides)
  }
}
