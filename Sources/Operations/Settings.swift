/// The configuration in force: every setting of the table with its value and where that came from.
/// Later layers win: default, file, `--set`.

import Market

@dynamicMemberLookup
package struct Settings: Sendable {
  struct Entry: Sendable {
    var value: any Sendable
    /// Where it was set; nil is the default.
    var origin: String?
    var line: Int?
  }

  var entries: [String: Entry] = [:]

  /// All at their defaults.
  package init() {}

  /// `settings.quotesCadence`: the value of a setting of `SettingTable`.
  package subscript<Value: Sendable & Equatable>(
    dynamicMember member: KeyPath<SettingTable, Setting<Value>>
  ) -> Value {
    let setting = SettingTable.shared[keyPath: member]
    // Not by `??`: what is not there would pass for a setting that was set to nothing.
    guard let entry = entries[setting.key], let value = entry.value as? Value else {
      return setting.defaultValue
    }
    return value
  }

  /// `journal.directory`, or its place in the state directory.
  package var journalPath: String { self.journalDirectory ?? self.stateDirectory + "/journal" }

  /// Sets one value from text, as `--set key=value` does; a list is separated by commas. Rules
  /// between settings are for `validate` to check, after the last of them.
  package mutating func overlay(key: String, value: String) throws(ConfigurationError) {
    let origin = "--set"
    guard let setting = SettingTable.all.first(where: { $0.key == key }) else {
      throw ConfigurationError(code: .invalid, problems: [.unknown(key, origin: origin, line: nil)])
    }
    // A command line is there for everybody to read (ps, /proc).
    if setting.isSecret, ConnectionURL(value)?.passwords.isEmpty == false {
      let problem = ConfigurationProblem(
        origin: origin, key: key, sentence: "holds a password; put it in the configuration file")
      throw ConfigurationError(code: .invalid, problems: [problem])
    }
    if let problem = set(setting, to: setting.input(from: value), origin: origin, line: nil) {
      throw ConfigurationError(code: .invalid, problems: [problem])
    }
  }

  /// Makes the mask know every secret that is set.
  package func register(in mask: SecretMask) {
    for case let secret as Secret in entries.values.map(\.value) { mask.register(url: secret) }
    // One that cannot be read is told of where it is needed.
    if let file = self.storePasswordFile, let password = try? CredentialFile.password(file) {
      mask.register(password)
    }
  }

  /// Checks what must hold between settings.
  package func validate() throws(ConfigurationError) {
    let problems = brokenRules()
    if !problems.isEmpty { throw ConfigurationError(code: .invalid, problems: problems) }
  }

  func brokenRules() -> [ConfigurationProblem] {
    SettingTable.rules.filter { !$0.holds(self) }.map { rule in
      let entry = entries[rule.key]
      return ConfigurationProblem(
        origin: entry?.origin ?? "default", line: entry?.line, key: rule.key,
        sentence: rule.sentence)
    }
  }

  mutating func set(
    _ setting: any AnySetting, to input: SettingInput, origin: String, line: Int?
  ) -> ConfigurationProblem? {
    do {
      let value = try setting.accept(input)
      entries[setting.key] = Entry(value: value, origin: origin, line: line)
      return nil
    } catch {
      let mismatch = error as? SettingMismatch
      let found = setting.isSecret ? input.kind : mismatch?.found ?? input.shown
      return ConfigurationProblem(
        origin: origin, line: line, key: setting.key,
        sentence: "expected \(mismatch?.expected ?? setting.kind), found \(found)")
    }
  }
}

extension SettingInput {
  /// The value, short enough for a sentence.
  fileprivate var shown: String {
    switch self {
    case .string(let text) where text.count <= 60: text.quoted
    case .boolean(let value): "\(value)"
    case .integer(let value): "\(value)"
    default: kind
    }
  }
}

extension ConfigurationProblem {
  static func unknown(_ key: String, origin: String, line: Int?) -> ConfigurationProblem {
    if let name = SettingTable.renamed[key] {
      return ConfigurationProblem(
        origin: origin, line: line, key: key, sentence: "renamed; write \(name)")
    }
    return ConfigurationProblem(
      origin: origin, line: line, key: key, sentence: "unknown setting",
      nearest: nearestName(to: key, among: SettingTable.all.map(\.key)))
  }
}
