import Market

/// A value of `/status`: its JSON for programs, and its lines for people.
struct StatusValue: Sendable {
  struct Line: Sendable {
    let label: String
    let words: String
  }

  /// nil where there is no value: the name is then left out.
  private(set) var json: String?
  /// Of a list or an object, those of its members.
  private(set) var lines: [Line] = []

  static func text(_ text: String?) -> StatusValue { StatusValue(json: text?.quoted) }
  static func texts(_ texts: [String]) -> StatusValue { .list(texts.map { .text($0) }) }
  static func flag(_ isSet: Bool?) -> StatusValue { StatusValue(json: isSet.map { "\($0)" }) }
  /// RFC 3339, in Shanghai.
  static func moment(_ at: Timestamp?) -> StatusValue { .text(at.map { "\($0)" }) }

  static func count(_ count: (some BinaryInteger)?) -> StatusValue {
    StatusValue(json: count.map { "\($0)" })
  }

  static func thousandths(_ units: Int64?) -> StatusValue {
    StatusValue(json: units.map { "\(ExactDecimal(units: $0, scale: 3).normalized)" })
  }

  static func list(_ values: [StatusValue]) -> StatusValue {
    let members = values.compactMap(\.json).joined(separator: ",")
    return StatusValue(json: "[\(members)]", lines: values.flatMap(\.lines))
  }

  /// In the order given.
  static func object(_ pairs: [(name: String, value: StatusValue)]?) -> StatusValue {
    let members = pairs?.compactMap { pair in
      pair.value.json.map { pair.name.quoted + ":" + $0 }
    }
    return StatusValue(
      json: members.map { "{" + $0.joined(separator: ",") + "}" },
      lines: (pairs ?? []).flatMap(\.value.lines))
  }

  /// The same value, shown by this line alone.
  /// - Parameter words: nil where there is nothing to say.
  func line(_ label: String, words: String?) -> StatusValue {
    // Names come from upstream: nothing in one may end its line or steer the terminal.
    let lines = words.map { words in
      let isControl = { (scalar: Unicode.Scalar) in scalar.properties.generalCategory == .control }
      let clean = words.unicodeScalars.map { isControl($0) ? " " : Character($0) }
      return [Line(label: label, words: String(clean))]
    }
    return StatusValue(json: json, lines: lines ?? [])
  }
}
