/// A parameter of a route: what it may be, as data. The same row validates requests and describes
/// the parameter in the OpenAPI document.

import Market

package struct Parameter: Sendable {
  package enum Place: String, Sendable {
    case path, query, header
  }

  package enum Kind: Sendable {
    /// Any text without NUL.
    case text(charactersMax: Int)
    /// A text of a form.
    case matching(TextPattern)
    case integer(ClosedRange<Int64>)
    case choice([String])
    /// RFC 3339, or a date.
    case moment
    case day
    /// Texts with commas between them, and perhaps blanks.
    case list(countMax: Int)
    /// The same of these.
    case choices([String])
  }

  package let name: String
  package let place: Place
  package let kind: Kind
  package let summary: String
  /// Empty where what is valid depends on the database.
  package let example: String
  package let isRequired: Bool

  package init(
    _ name: String, _ kind: Kind, in place: Place = .query, summary: String, example: String = "",
    isRequired: Bool = false
  ) {
    self.name = name
    self.place = place
    self.kind = kind
    self.summary = summary
    self.example = example
    self.isRequired = isRequired || place == .path
  }

  /// What is wrong with a value; nil if nothing is.
  func fault(of value: String) -> Problem.Fault? {
    let isValid =
      switch kind {
      case .text(let charactersMax):
        // As JSON Schema counts.
        (1...charactersMax).contains(value.unicodeScalars.count)
      case .matching(let pattern): pattern.matches(value)
      case .integer(let range): Self.integer(value).map(range.contains) ?? false
      case .choice(let names): names.contains(value)
      case .moment: Timestamp(rfc3339: value, zone: .shanghai) != nil
      case .day: TradingDay(value) != nil
      case .list(let countMax): Self.isList(value, countMax: countMax) { _ in true }
      case .choices(let names):
        Self.isList(value, countMax: names.count, isItem: names.contains)
      }
    return isValid ? nil : Problem.Fault(field: name, expected: expectation, found: value)
  }

  private static func isList(
    _ text: String, countMax: Int, isItem: (String) -> Bool
  ) -> Bool {
    let items = items(of: text)
    return items.count <= countMax
      && items.allSatisfy { (1...listItemMax).contains($0.unicodeScalars.count) && isItem($0) }
  }

  /// What is between the commas, without the blanks around it. A comma that a combining mark
  /// follows is no character of its own.
  static func items(of text: String) -> [String] {
    text.unicodeScalars.split(separator: ",", omittingEmptySubsequences: false).map { item in
      let isBlank: (Unicode.Scalar) -> Bool = { $0 == " " }
      let end = item.lastIndex { !isBlank($0) }.map { item.index(after: $0) } ?? item.startIndex
      return String(String.UnicodeScalarView(item[..<end].drop(while: isBlank)))
    }
  }

  static let listItemMax = 40

  /// Digits, perhaps with a minus before them: a plus would be a space in a query.
  static func integer(_ text: String) -> Int64? {
    text.utf8.first != UInt8(ascii: "+") ? Int64(text) : nil
  }

  private var expectation: String {
    switch kind {
    case .text(let charactersMax): "1 to \(charactersMax) characters"
    case .matching(let pattern): pattern.expectation
    case .integer(let range): "a number from \(range.lowerBound) to \(range.upperBound)"
    case .choice(let names): "one of \(names.joined(separator: ", "))"
    case .moment: "a time such as 2026-07-06T09:31:00+08:00, or a date"
    case .day: "a date such as 2026-07-06"
    case .list(let countMax): "1 to \(countMax) texts with commas between them"
    case .choices(let names): "some of \(names.joined(separator: ", ")), with commas between them"
    }
  }
}

/// What a route is called with: the values of a request, each of them valid, and who makes it.
package struct Arguments: Sendable {
  /// Who asks, as access control found.
  package internal(set) var principal = Principal.anonymous
  private let values: [String: String]
  /// The body, empty where the route takes none.
  package let body: [UInt8]

  init(_ values: [String: String], body: [UInt8]) {
    self.values = values
    self.body = body
  }

  package subscript(_ name: String) -> String? { values[name] }

  package func integer(_ name: String) -> Int64? { values[name].flatMap(Parameter.integer) }

  package func day(_ name: String) -> TradingDay? { values[name].flatMap { TradingDay($0) } }

  package func list(_ name: String) -> [String]? { values[name].map(Parameter.items) }

  /// A date alone begins in `zone`.
  package func moment(_ name: String, zone: MarketZone) -> Timestamp? {
    values[name].flatMap { Timestamp(rfc3339: $0, zone: zone) }
  }

  /// What an answer depends on, but for the page: a cursor of one request fits no other.
  func fingerprint(of route: String) -> String {
    let pairs = values.filter { $0.key != "cursor" && $0.key != "limit" }
      .map { "\($0.key)=\($0.value)" }
    return ([route] + pairs.sorted()).joined(separator: "&")
  }
}
