/// The file of rules that the operator sets over those that ship (`rules.file`): docs/rules.md.

import Market

extension RuleFile {
  /// Reads and parses the file at `path`. Throws every field that is wrong.
  package static func load(_ path: String) throws(ConfigurationError) -> [Rule] {
    let (rules, problems) = parse(try ConfigurationFile.read(path), isOperators: true)
    guard problems.isEmpty else {
      throw ConfigurationError(
        code: .invalid,
        problems: problems.map {
          ConfigurationProblem(
            origin: path, line: $0.line, key: $0.field, sentence: $0.sentence)
        })
    }
    return rules
  }
}

extension Settings {
  /// Rules that the operator sets over those that ship.
  package func operatorsRules() throws(ConfigurationError) -> [Rule] {
    guard let file = self[RuleSettings.file] else { return [] }
    return try RuleFile.load(file)
  }
}
