/// The configuration in force: every setting of the table with its value and where that came from.
/// Later layers win: default, file, `--set`.

import Market

package struct Settings: Sendable {
  struct Entry: Sendable {
    var value: any Sendable
    /// Where it was set; nil is the default.
    var origin: String?
    var line: Int?
  }

  var entries: [String: Entry] = [:]

  let table: SettingTable

  /// All at their defaults.
  package init(_ table: SettingTable = .shared) { self.table = table }

  /// `journal.directory`, or its place in the state directory.
  package var journalPath: String {
    self[JournalSettings.directory] ?? self[StateSettings.directory] + "/journal"
  }

  /// Folder of the private cluster, for when `store.url` is not set.
  package var serverPath: String { self[StateSettings.directory] + "/postgres" }

  /// Sets one value from text, as `--set key=value` does; a list is separated by commas. Rules
  /// between settings are for `validate` to check, after the last of them.
  package mutating func overlay(key: String, value: String) throws(ConfigurationError) {
    let origin = "--set"
    guard let setting = table[key] else {
      throw ConfigurationError(
        code: .invalid, problems: [table.unknown(key, origin: origin, line: nil)])
    }
    // A command line is there for everybody to read (ps, /proc).
    if setting.isSecret, ConnectionURL(value)?.passwords.isEmpty == false {
      let problem = ConfigurationProblem(
        origin: origin, key: key, sentence: "contains a password: set it in the configuration file")
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
    for setting in [StoreSettings.passwordFile, GatewaySettings.storePasswordFile] {
      guard let file = self[setting] else { continue }
      if let password = try? CredentialFile.password(file) { mask.register(password) }
    }
  }

  /// Checks what must hold between settings.
  package func validate() throws(ConfigurationError) {
    let problems = brokenRules()
    if !problems.isEmpty { throw ConfigurationError(code: .invalid, problems: problems) }
  }

  func brokenRules() -> [ConfigurationProblem] {
    table.rules.filter { !$0.holds(self) }.map { rule in
      let entry = entries[rule.key]
      return ConfigurationProblem(
        origin: entry?.origin ?? "default", line: entry?.line, key: rule.key,
        sentence: rule.sentence)
    }
  }

  /// Whether it is other than its default.
  func isSet(_ key: String) -> Bool {
    table[key].map { !$0.isSame(entries[key]?.value, nil) } ?? false
  }

  mutating func set(
    _ setting: SettingDeclaration, to input: SettingInput, origin: String, line: Int?
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

extension SettingTable {
  func unknown(_ key: String, origin: String, line: Int?) -> ConfigurationProblem {
    ConfigurationProblem(
      origin: origin, line: line, key: key, sentence: "unknown setting",
      nearest: nearestName(to: key, among: keys))
  }
}

extension SettingDeclaration {
  /// The kind of input that text on a command line stands for.
  fileprivate func input(from text: String) -> SettingInput {
    switch kind {
    case "boolean": Bool(text).map { .boolean($0) } ?? .string(text)
    case "integer": Int64(text).map { .integer($0) } ?? .string(text)
    case "list": .strings(text.isEmpty ? [] : text.split(separator: ",").map { String($0) })
    default: .string(text)
    }
  }
}

extension Settings: SettingValues {
  package subscript<Value: Sendable & Equatable>(key: Setting<Value>) -> Value {
    key.value(in: entries[key.key]?.value)
  }
}
