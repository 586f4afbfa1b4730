/// Settings that a module below `Operations` declares for itself, such as a source's hosts and
/// budget. `Operations` adds them to its table, so that validation, sample, reference, `--set` and
/// reload follow; the module reads its values by the keys it declared.

package struct SettingDeclaration: Sendable, Hashable {
  /// What it accepts, with its default.
  package enum Kind: Sendable, Hashable {
    case string(default: String)
    /// nil unless set; `unset` says what that means.
    case optionalString(unset: String)
    /// Scheme and host, without a path.
    case origin(default: String)
    /// The first that answers is asked.
    case origins(default: [String])
    case boolean(default: Bool)
    case integer(default: Int, range: ClosedRange<Int>)
    case duration(default: Duration, range: ClosedRange<Duration>)
    /// None unless set.
    case symbols
    case choice(default: String, names: [String])
  }

  /// In full: `sina.base`.
  package let key: String
  package let kind: Kind
  /// One line for people: what it is.
  package let help: String
  /// Whether a reload changes it; otherwise the old value stays in force until a restart.
  package fileprivate(set) var isLive = false
  /// The key of a setting without which this one must not be set.
  package fileprivate(set) var needs: String?
}

/// A declaration with the type of its values.
package struct SettingKey<Value: Sendable & Equatable>: Sendable {
  package private(set) var declaration: SettingDeclaration
  package let defaultValue: Value
  /// A value of the table as this type; nil if it is none.
  package let decode: @Sendable (any Sendable) -> Value?

  fileprivate init(
    _ key: String, kind: SettingDeclaration.Kind, default defaultValue: Value, help: String,
    decode: @escaping @Sendable (any Sendable) -> Value? = { $0 as? Value }
  ) {
    declaration = SettingDeclaration(key: key, kind: kind, help: help)
    self.defaultValue = defaultValue
    self.decode = decode
  }

  /// The same, changed by a reload.
  package var live: Self {
    var copy = self
    copy.declaration.isLive = true
    return copy
  }

  /// The same, refused unless the setting of that key is set too.
  package func needing(_ key: String) -> Self {
    var copy = self
    copy.declaration.needs = key
    return copy
  }
}

/// What one module declares: a section of the configuration.
package struct SettingSection: Sendable, Hashable {
  package let declarations: [SettingDeclaration]
  /// Earlier names, which are refused, and what each is now.
  package let renamed: [String: String]

  /// Every key begins with `name` and a dot.
  package init(
    _ name: String, _ declarations: SettingDeclaration..., renamed: [String: String] = [:]
  ) {
    for declaration in declarations {
      precondition(declaration.key.hasPrefix(name + "."), "\(declaration.key) is not in \(name)")
    }
    self.declarations = declarations
    self.renamed = renamed
  }
}

/// The values of a configuration, for modules that know no more of it than their own keys.
package protocol SettingValues: Sendable {
  subscript<Value: Sendable & Equatable>(key: SettingKey<Value>) -> Value { get }
}

// MARK: - The kinds

extension SettingKey where Value == String {
  package static func string(_ key: String, default value: String, help: String) -> Self {
    SettingKey(key, kind: .string(default: value), default: value, help: help)
  }

  package static func origin(_ key: String, default value: String, help: String) -> Self {
    SettingKey(key, kind: .origin(default: value), default: value, help: help)
  }
}

extension SettingKey where Value == [String] {
  package static func origins(_ key: String, default values: [String], help: String) -> Self {
    SettingKey(key, kind: .origins(default: values), default: values, help: help)
  }
}

extension SettingKey where Value == String? {
  package static func optionalString(_ key: String, unset: String, help: String) -> Self {
    SettingKey(key, kind: .optionalString(unset: unset), default: nil, help: help)
  }
}

extension SettingKey where Value == Bool {
  package static func boolean(_ key: String, default value: Bool, help: String) -> Self {
    SettingKey(key, kind: .boolean(default: value), default: value, help: help)
  }
}

extension SettingKey where Value == Int {
  package static func integer(
    _ key: String, default value: Int, in range: ClosedRange<Int>, help: String
  ) -> Self {
    SettingKey(key, kind: .integer(default: value, range: range), default: value, help: help)
  }
}

extension SettingKey where Value == Duration {
  package static func duration(
    _ key: String, default value: Duration, in range: ClosedRange<Duration>, help: String
  ) -> Self {
    SettingKey(key, kind: .duration(default: value, range: range), default: value, help: help)
  }
}

extension SettingKey where Value == [Symbol] {
  package static func symbols(_ key: String, help: String) -> Self {
    SettingKey(key, kind: .symbols, default: [], help: help)
  }
}

extension SettingKey where Value: RawRepresentable & CaseIterable, Value.RawValue == String {
  package static func choice(_ key: String, default value: Value, help: String) -> Self {
    SettingKey(
      key, kind: .choice(default: value.rawValue, names: Value.allCases.map(\.rawValue)),
      default: value, help: help
    ) { ($0 as? String).flatMap { Value(rawValue: $0) } }
  }
}
