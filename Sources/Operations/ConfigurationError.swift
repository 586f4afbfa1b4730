/// Everything that is wrong with a configuration, at once: whoever has to fix a file wants the
/// whole list, not the first line of it.

package struct ConfigurationProblem: Sendable, Hashable {
  /// The file as it was named, or `--set`.
  package var origin: String
  /// Counted from 1; nil where there is no line.
  package var line: Int?
  /// The setting or section, in full; nil when the text is not TOML at all.
  package var key: String?
  /// What was expected, and what stands there. Never the value of a secret.
  package var sentence: String
  /// The known name nearest to an unknown one.
  package var nearest: String?
}

extension ConfigurationProblem: CustomStringConvertible {
  /// `config/candled.toml:12: quotes.cadense: unknown setting; did you mean quotes.cadence?`
  package var description: String {
    let place = line.map { "\(origin):\($0)" } ?? origin
    let hint = nearest.map { "; did you mean \($0)?" } ?? ""
    return [place, key, sentence + hint].compactMap { $0 }.joined(separator: ": ")
  }
}

/// The one error of this module.
package struct ConfigurationError: Error, Sendable, Hashable {
  package enum Code: String, Sendable, CaseIterable {
    /// The file cannot be read.
    case unreadable
    /// The file, or an override, says something that is not allowed.
    case invalid
  }

  package var code: Code
  /// At least one, in the order of the file.
  package var problems: [ConfigurationProblem]

  package var exitCode: ExitCode {
    switch code {
    case .unreadable: .noInput
    case .invalid: .configuration
    }
  }
}

extension Settings {
  /// What is wrong with a value that only another module can judge.
  package func error(in key: String, _ sentence: String) -> ConfigurationError {
    let entry = entries[key]
    let problem = ConfigurationProblem(
      origin: entry?.origin ?? "default", line: entry?.line, key: key, sentence: sentence)
    return ConfigurationError(code: .invalid, problems: [problem])
  }
}

extension ConfigurationError {
  /// What is wrong with a file, with the setting that names it: who reads it knows neither.
  package func about(_ setting: String) -> ConfigurationError {
    var error = self
    for place in error.problems.indices { error.problems[place].key = setting }
    return error
  }
}

extension ConfigurationError: CustomStringConvertible {
  /// A line a problem.
  package var description: String { problems.map(\.description).joined(separator: "\n") }
}
