/// Which fields a body may have: one that is misspelled, or that is not offered with its value,
/// would be ignored without a word.

import Foundation

extension Schema {
  /// What it may be, one after the other.
  private var alternatives: [Schema] {
    switch self {
    case .either(let one, let other): one.alternatives + other.alternatives
    case .nullable(let schema), .named(_, let schema): schema.alternatives
    default: [self]
    }
  }

  /// Of the alternatives whose choices are those of the object: of one with a kind, what that kind
  /// has. More than one may have the same name.
  /// - Returns: nil where any may be.
  private func members(for object: [String: Any]) -> [Member]? {
    let shapes = alternatives.compactMap { schema -> [Member]? in
      if case .object(let members) = schema { members } else { nil }
    }
    if shapes.isEmpty { return nil }
    let fitting = shapes.filter { members in
      members.allSatisfy { $0.schema.isChoice(of: object[$0.name]) }
    }
    return (fitting.isEmpty ? shapes : fitting).flatMap { $0 }
  }

  private func isChoice(of value: Any?) -> Bool {
    guard let word = value as? String else { return true }
    return alternatives.contains { schema in
      if case .choice(let words) = schema { words.contains(word) } else { true }
    }
  }

  private var element: Schema? {
    for case .array(let element) in alternatives { return element }
    for case .some(let element, _) in alternatives { return element }
    return nil
  }

  /// What is wrong with the first field that no object of it has, or not with that value; nil:
  /// there is none. Of values only those of `only` are looked at, and what is no JSON is refused by
  /// who reads it.
  func strangeField(in json: Data) -> Problem.Fault? {
    (try? JSONSerialization.jsonObject(with: json)).flatMap { strangeField(in: $0, at: "") }
  }

  private func strangeField(in value: Any, at path: String) -> Problem.Fault? {
    if case .only(let values) = self { return Self.fault(of: value, at: path, beside: values) }
    switch value {
    case let object as [String: Any]:
      guard let members = members(for: object) else { return nil }
      for (name, value) in object.sorted(by: { $0.key < $1.key }) {
        let found = members.filter { $0.name == name }
          .map { $0.schema.strangeField(in: value, at: "\(path)\(name).") }
        if found.isEmpty { return Self.unknown(name, at: path, members: members) }
        if let fault = found[0], !found.contains(nil) { return fault }
      }
    case let list as [Any]:
      guard let element else { return nil }
      for (place, value) in list.enumerated() {
        let field = "\(path.dropLast())[\(place)]."
        if let fault = element.strangeField(in: value, at: field) { return fault }
      }
    default: break
    }
    return nil
  }

  /// A secret at a wrong place is not sent back.
  private static func unknown(
    _ name: String, at path: String, members: [Member]
  ) -> Problem.Fault {
    let isWord =
      name.utf8.count <= nameBytesMax && name.allSatisfy { $0.isLetter || $0 == "_" }
    let names = Set(members.map(\.name)).sorted().joined(separator: ", ")
    return Problem.Fault(
      field: path + (isWord ? name : "?"),
      expected: names.isEmpty ? "no field" : "one of the fields \(names)", found: "another name")
  }

  private static func fault(
    of value: Any, at path: String, beside values: [String]
  ) -> Problem.Fault? {
    let isOffered = values.contains { text in
      guard
        let offered = try? JSONSerialization.jsonObject(
          with: Data(text.utf8), options: .fragmentsAllowed)
      else { return false }
      // To Foundation 0 equals false.
      return type(of: offered) == type(of: value)
        && (offered as? NSObject)?.isEqual(value) == true
    }
    if isOffered { return nil }
    return Problem.Fault(
      field: String(path.dropLast()), expected: values.joined(separator: " or "),
      found: "what is not offered")
  }

  private static let nameBytesMax = 32
}
