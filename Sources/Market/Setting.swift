/// Settings, and the sections that they stand in. A module declares its own, the sources theirs as
/// the daemon and the gateway do; `Operations` makes one table of them, from which validation,
/// sample, reference, `--set` and reload follow.

/// What stands in a file or on the command line, before it is understood.
package enum SettingInput: Sendable {
  case string(String)
  case boolean(Bool)
  case integer(Int64)
  case strings([String])
  /// Anything no setting accepts, by its TOML name.
  case other(String)

  package var kind: String {
    switch self {
    case .string: "a string"
    case .boolean: "a boolean"
    case .integer: "an integer"
    case .strings: "a list of strings"
    case .other(let name): name
    }
  }
}

/// The expectation a value did not meet, as the rest of a sentence: `a duration such as "3s"`.
package struct SettingMismatch: Error {
  package let expected: String
  /// What to show of the value; nil shows its TOML kind.
  package let found: String?

  package init(expected: String, found: String? = nil) {
    self.expected = expected
    self.found = found
  }
}

/// One setting, whatever the type of its values.
package struct SettingDeclaration: Sendable {
  /// In full: `sina.base`.
  package let key: String
  /// As the reference names it: `duration`.
  package let kind: String
  /// What it accepts, with its units; empty where the kind says all.
  package let range: String
  /// One line for people: what it is.
  package let help: String
  /// As TOML, nil when unset.
  package let defaultText: String?
  /// What the sample configuration sets it to; nil leaves it commented out at its default.
  package let exampleLines: [String]?
  /// Whether its values are never shown.
  package let isSecret: Bool
  /// The value that an input stands for. Throws `SettingMismatch`.
  package let accept: @Sendable (SettingInput) throws -> any Sendable
  /// A value as TOML, nil when unset.
  package let text: @Sendable (any Sendable) -> String?
  /// Whether two values are equal; nil is the default.
  package let isSame: @Sendable ((any Sendable)?, (any Sendable)?) -> Bool
  /// Whether a reload changes it; otherwise the old value stays in force until a restart.
  package fileprivate(set) var isLive = false
  /// The key of a setting without which this one must not be set.
  package fileprivate(set) var needs: String?
}

/// The key to the values of a setting: its declaration with their type.
package struct Setting<Value: Sendable & Equatable>: Sendable {
  package private(set) var declaration: SettingDeclaration
  package let defaultValue: Value

  /// A setting of a new kind.
  /// - Parameters:
  ///   - write: a value as TOML, nil when unset.
  ///   - read: throws `SettingMismatch`. (A closure literal cannot yet infer a typed throw.)
  package init(
    _ key: String, kind: String, default defaultValue: Value, range: String = "",
    isSecret: Bool = false, example: [String]? = nil, help: String,
    write: @escaping @Sendable (Value) -> String?,
    read: @escaping @Sendable (SettingInput) throws -> Value
  ) {
    self.defaultValue = defaultValue
    declaration = SettingDeclaration(
      key: key, kind: kind, range: range, help: help, defaultText: write(defaultValue),
      exampleLines: example, isSecret: isSecret,
      accept: { input in try read(input) },
      text: { value in (value as? Value).flatMap(write) },
      isSame: { left, right in
        Self.value(in: left, default: defaultValue) == Self.value(in: right, default: defaultValue)
      })
  }

  package var key: String { declaration.key }

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

  /// What a table holds as this setting's; nil is the default.
  package func value(in stored: (any Sendable)?) -> Value {
    Self.value(in: stored, default: defaultValue)
  }

  private static func value(in stored: (any Sendable)?, default other: Value) -> Value {
    // Not by `??`: what is not there would pass for a setting that was set to nothing.
    guard let stored, let value = stored as? Value else { return other }
    return value
  }
}

/// A setting of whatever type.
package protocol DeclaredSetting: Sendable {
  var declaration: SettingDeclaration { get }
}

extension Setting: DeclaredSetting {}

/// A section of the configuration: what one module declares.
package struct SettingSection: Sendable {
  package let declarations: [SettingDeclaration]

  /// Every key is `name`, or begins with it and a dot.
  package init(_ name: String, _ settings: any DeclaredSetting...) {
    declarations = settings.map(\.declaration)
    for key in declarations.map(\.key) {
      precondition(key == name || key.hasPrefix(name + "."), "\(key) is not in \(name)")
    }
  }
}

/// The values of a configuration, for modules that know no more of it than their own keys.
package protocol SettingValues: Sendable {
  subscript<Value: Sendable & Equatable>(key: Setting<Value>) -> Value { get }
}
