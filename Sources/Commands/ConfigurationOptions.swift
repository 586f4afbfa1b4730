/// The options of every command that reads the configuration.

import ArgumentParser
import Glibc
import Operations

package struct ConfigurationOptions: ParsableArguments {
  @Option(
    help:
      "The configuration file, and conf.d/*.toml beside it. (default: \(defaultPath) if it exists)",
    completion: .file())
  package var config: String?

  @Option(
    name: .customLong("set"),
    help: ArgumentHelp("Override one setting of the file; may be repeated.", valueName: "key=value")
  )
  package var overrides: [String] = []

  package init() {}

  /// Where the Debian way of things puts it.
  package static let defaultPath = "/etc/candled/candled.toml"

  /// The file that is read: the one named, else the default one if it is there.
  package var path: String? {
    config ?? (access(Self.defaultPath, F_OK) == 0 ? Self.defaultPath : nil)
  }

  /// The settings in force.
  package func load() throws(ConfigurationError) -> Settings {
    try ConfigurationFile.load(path, overrides: overrides, table: .candled)
  }
}
