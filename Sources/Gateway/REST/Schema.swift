/// The shape of a JSON value, for the OpenAPI document.

package indirect enum Schema: Sendable {
  case string
  /// A string that is neither empty nor has control characters.
  case text(charactersMax: Int)
  case matching(TextPattern)
  /// A decimal number in quotes, its scale kept.
  case decimal
  case moment
  case day
  case integer
  /// Any number.
  case number
  case boolean
  case choice([String])
  /// Only these values, as JSON: what is known, and offered with no other.
  case only([String])
  case array(of: Schema)
  /// An array of 1 element at least.
  case some(Schema, countMax: Int)
  case object([Member])
  /// An object of anything that PostgreSQL can store: no text in it holds NUL.
  case anyObject
  case nullable(Schema)
  case either(Schema, Schema)
  /// One that others refer to by its name.
  case named(String, Schema)
  /// JSON Schema as it stands in the document.
  case encoded(String)

  package struct Member: Sendable {
    let name: String
    let schema: Schema
    let isRequired: Bool

    package init(_ name: String, _ schema: Schema, isRequired: Bool = true) {
      self.name = name
      self.schema = schema
      self.isRequired = isRequired
    }
  }

  static let optionalDecimal = Schema.nullable(.decimal)
  static let optionalString = Schema.nullable(.string)

  /// Whether an empty body is none of these.
  var needsText: Bool {
    guard case .object(let members) = self else { return true }
    return members.contains(where: \.isRequired)
  }

  private static let storable = #""pattern":"^[^\\u0000]*$""#
  private static let objectSchema =
    #"{"type":"object","propertyNames":{\#(storable)},"#
    + ##""additionalProperties":{"$ref":"#/components/schemas/AnyValue"}}"##
  private static let valueSchema =
    #"{"anyOf":[{"type":"string",\#(storable)},{"type":["number","boolean","null"]},"#
    + ##"{"type":"array","items":{"$ref":"#/components/schemas/AnyValue"}},"##
    + ##"{"$ref":"#/components/schemas/AnyObject"}]}"##

  /// Names and shapes of what is referred to, itself included.
  var named: [(name: String, schema: Schema)] {
    switch self {
    case .array(let element), .some(let element, _): element.named
    case .object(let members): members.flatMap(\.schema.named)
    case .anyObject:
      [("AnyObject", .encoded(Self.objectSchema)), ("AnyValue", .encoded(Self.valueSchema))]
    case .nullable(let schema): schema.named
    case .either(let one, let other): one.named + other.named
    case .named(let name, let schema): [(name, schema)] + schema.named
    default: []
    }
  }

  /// - Parameter isClosed: of what a client sends: objects have no fields but these. What a client
  ///   reads may get more.
  func write(to text: inout JSONWriter, isClosed: Bool = false) {
    switch self {
    case .named(let name, _): text.reference(to: "schemas/\(name)")
    case .anyObject: text.reference(to: "schemas/AnyObject")
    case .encoded(let json): text.encoded(Array(json.utf8))
    case .nullable(let schema):
      Self.writeChoices(to: &text) { choices in
        schema.write(to: &choices, isClosed: isClosed)
        choices.object { $0.member("type") { $0.string("null") } }
      }
    case .either(let one, let other):
      Self.writeChoices(to: &text) { choices in
        one.write(to: &choices, isClosed: isClosed)
        other.write(to: &choices, isClosed: isClosed)
      }
    case .array(let element):
      text.object { list in
        list.member("type") { $0.string("array") }
        list.member("items") { element.write(to: &$0, isClosed: isClosed) }
      }
    case .some(let element, let countMax):
      text.object { list in
        list.member("type") { $0.string("array") }
        list.member("minItems") { $0.integer(1) }
        list.member("maxItems") { $0.integer(Int64(countMax)) }
        list.member("items") { element.write(to: &$0, isClosed: isClosed) }
      }
    case .object(let members): Self.write(members, to: &text, isClosed: isClosed)
    case .only(let values):
      text.object { object in
        object.array("enum") { list in for value in values { list.encoded(Array(value.utf8)) } }
      }
    default: text.object { self.writeScalar(to: &$0) }
    }
  }

  private static func writeChoices(
    to text: inout JSONWriter, choices: (inout JSONWriter) -> Void
  ) {
    text.object { either in either.member("anyOf") { $0.array(choices) } }
  }

  private static func write(_ members: [Member], to text: inout JSONWriter, isClosed: Bool) {
    text.object { object in
      if isClosed { object.member("additionalProperties") { $0.boolean(false) } }
      object.member("type") { $0.string("object") }
      object.member("required") { $0.strings(members.filter(\.isRequired).map(\.name)) }
      object.object("properties") { properties in
        for member in members {
          properties.member(named: member.name) {
            member.schema.write(to: &$0, isClosed: isClosed)
          }
        }
      }
    }
  }

  private func writeScalar(to text: inout JSONWriter) {
    let type =
      switch self {
      case .integer: "integer"
      case .number: "number"
      case .boolean: "boolean"
      default: "string"
      }
    text.member("type") { $0.string(type) }
    switch self {
    case .text(let charactersMax):
      text.member("minLength") { $0.integer(1) }
      text.member("maxLength") { $0.integer(Int64(charactersMax)) }
      text.member("pattern") { $0.string(#"^[^\u0000-\u001f\u007f]+$"#) }
    case .matching(let pattern): text.member("pattern") { $0.string(pattern.expression) }
    case .decimal: text.member("pattern") { $0.string("^-?[0-9]+([.][0-9]+)?$") }
    case .moment: text.member("format") { $0.string("date-time") }
    case .day: text.member("format") { $0.string("date") }
    case .choice(let names): text.member("enum") { $0.strings(names) }
    default: break
    }
  }
}

extension JSONWriter {
  /// - Parameter name: below `#/components/`.
  mutating func reference(to name: String) {
    object { $0.member("$ref") { $0.string("#/components/\(name)") } }
  }
}
