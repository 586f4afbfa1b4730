/// The file of rules that the operator sets over those that ship (`rules.file`): docs/rules.md.

import Market

extension RuleFile {
  /// Reads and parses the file at `path`. Throws every field that is wrong.
  package static func load(_ path: String) throws(ConfigurationError) -> [Rule] {
    let (rules, problems) = parse(try ConfigurationFile.read(path), isOperators: true)
    try LineFile.refuse(problems, in: path)
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
