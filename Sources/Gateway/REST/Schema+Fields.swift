/// Which fields a body may have: one that is misspelled would be ignored without a word.

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
  private func members(for object: [String: Any]) -> [Member] {
    let shapes = alternatives.compactMap { schema -> [Member]? in
      if case .object(let members) = schema { members } else { nil }
    }
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

  /// What is wrong with the first field that no object of it has; nil: there is none. Values are
  /// not looked at, and what is no JSON is told by who reads it.
  func strangeField(in json: Data) -> Problem? {
    (try? JSONSerialization.jsonObject(with: json)).flatMap { strangeField(in: $0, at: "") }
  }

  private func strangeField(in value: Any, at path: String) -> Problem? {
    switch value {
    case let object as [String: Any]:
      let members = members(for: object)
      if members.isEmpty { return nil }
      for (name, value) in object.sorted(by: { $0.key < $1.key }) {
        guard let member = members.first(where: { $0.name == name }) else {
          return Self.unknown(name, at: path, members: members)
        }
        if let problem = member.schema.strangeField(in: value, at: "\(path)\(name).") {
          return problem
        }
      }
    case let list as [Any]:
      guard let element else { return nil }
      for (place, value) in list.enumerated() {
        let field = "\(path.dropLast())[\(place)]."
        if let problem = element.strangeField(in: value, at: field) { return problem }
      }
    default: break
    }
    return nil
  }

  /// A secret at a wrong place is not sent back.
  private static func unknown(_ name: String, at path: String, members: [Member]) -> Problem {
    let isWord =
      name.utf8.count <= nameBytesMax && name.allSatisfy { $0.isLetter || $0 == "_" }
    let names = Set(members.map(\.name)).sorted().joined(separator: ", ")
    return .invalidBody(
      Problem.Fault(
        field: path + (isWord ? name : "?"), expected: "one of the fields \(names)",
        found: "another name"))
  }

  private static let nameBytesMax = 32
}
