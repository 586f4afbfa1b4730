/// One setting: its name, what it accepts, its default, and one line for people. A `Setting` knows
/// how to read a value, how to print one, and what to say when it is not one; the table, the
/// sample, the reference and the validation are all made from these.

import Market

/// What stands in a file or on the command line, before it is understood.
enum SettingInput: Sendable {
  case string(String)
  case boolean(Bool)
  case integer(Int64)
  case strings([String])
  /// Anything no setting accepts, by its TOML name.
  case other(String)

  var kind: String {
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
struct SettingMismatch: Error {
  var expected: String
  /// What to show of the value; nil shows its TOML kind.
  var found: String?
}

package struct Setting<Value: Sendable & Equatable>: Sendable {
  package let key: String
  package let help: String
  package let defaultValue: Value
  /// What the sample configuration sets it to; nil leaves it commented out at its default.
  let exampleLines: [String]?
  let kind: String
  let range: String
  let isSecret: Bool
  /// Whether a reload changes it; otherwise the old value stays in force until a restart.
  private(set) var isLive = false
  /// Throws `SettingMismatch`. (A closure literal cannot yet infer a typed throw.)
  let read: @Sendable (SettingInput) throws -> Value
  /// As TOML, nil when unset.
  let print: @Sendable (Value) -> String?

  /// The same, changed by a reload.
  var live: Self { live(true) }

  func live(_ isLive: Bool) -> Self {
    var copy = self
    copy.isLive = isLive
    return copy
  }
}

/// A setting of whatever type.
protocol AnySetting: Sendable {
  var key: String { get }
  var help: String { get }
  var kind: String { get }
  var range: String { get }
  var isSecret: Bool { get }
  var isLive: Bool { get }
  var exampleLines: [String]? { get }
  /// As TOML, nil when unset.
  var defaultText: String? { get }
  /// Throws `SettingMismatch`.
  func accept(_ input: SettingInput) throws -> any Sendable
  func text(of value: any Sendable) -> String?
  /// nil is the default.
  func isSame(_ left: (any Sendable)?, as right: (any Sendable)?) -> Bool
  /// The kind of input that text on a command line stands for.
  func input(from text: String) -> SettingInput
}

extension Setting: AnySetting {
  var defaultText: String? { print(defaultValue) }

  func accept(_ input: SettingInput) throws -> any Sendable { try read(input) }

  func text(of value: any Sendable) -> String? { (value as? Value).flatMap(print) }

  func isSame(_ left: (any Sendable)?, as right: (any Sendable)?) -> Bool {
    // Not `left as? Value`: of an optional value's absence that makes a present nil.
    let left = left.flatMap { $0 as? Value } ?? defaultValue
    let right = right.flatMap { $0 as? Value } ?? defaultValue
    return left == right
  }

  func input(from text: String) -> SettingInput {
    switch kind {
    case "boolean": Bool(text).map { .boolean($0) } ?? .string(text)
    case "integer": Int64(text).map { .integer($0) } ?? .string(text)
    case "list": .strings(text.isEmpty ? [] : text.split(separator: ",").map { String($0) })
    default: .string(text)
    }
  }
}

extension AnySetting {
  /// What it accepts and what a reload does to it, for the sample and the reference.
  var remarks: [String] { (range.isEmpty ? [] : [range]) + (isLive ? ["live"] : []) }
}
