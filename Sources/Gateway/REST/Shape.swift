/// What the objects of an answer are, described once: a list of fields, from which follow the JSON
/// of rows and of columns, and the schema in the OpenAPI document.

import Market

struct Shape<Value>: Sendable {
  /// Appends exactly one value; moments are written as the clock of the zone shows them.
  typealias Write = @Sendable (inout JSONWriter, Value, MarketZone) -> Void

  struct Field: Sendable {
    let name: StaticString
    let schema: Schema
    let write: Write
    /// nil where every object has it.
    private(set) var isPresent: (@Sendable (Value) -> Bool)?

    /// - Parameter name: nothing in it needs an escape.
    init(_ name: StaticString, schema: Schema, write: @escaping Write) {
      self.name = name
      self.schema = schema
      self.write = write
    }

    /// The same, but only objects that this holds of have it.
    func present(where isPresent: @escaping @Sendable (Value) -> Bool) -> Self {
      var field = self
      field.isPresent = isPresent
      return field
    }
  }

  /// By which others refer to it in the document; nil: it is repeated wherever it is used.
  let name: String?
  let fields: [Field]

  init(_ name: String? = nil, fields: [Field]) {
    self.name = name
    self.fields = fields
  }

  var schema: Schema {
    guard let name else { return .object(members) }
    return .named(name, .object(members))
  }

  var members: [Schema.Member] {
    fields.map { field in
      Schema.Member(
        field.name.description, field.schema, isRequired: field.isPresent == nil)
    }
  }

  /// An object with an array for each field.
  var columns: Schema {
    .object(fields.map { Schema.Member($0.name.description, .array(of: $0.schema)) })
  }

  /// The fields as those of a whole that has such a value as its part.
  func partFields<Whole>(
    of whole: Whole.Type, read: @escaping @Sendable (Whole) -> Value
  ) -> [Shape<Whole>.Field] {
    fields.map { field in
      let write = field.write
      return Shape<Whole>.Field(field.name, schema: field.schema) { text, whole, zone in
        write(&text, read(whole), zone)
      }
    }
  }
}

extension Shape.Field {
  static func string(
    _ name: StaticString, read: @escaping @Sendable (Value) -> String
  ) -> Self {
    Self(name, schema: .string) { text, value, _ in text.string(read(value)) }
  }

  static func optionalString(
    _ name: StaticString, read: @escaping @Sendable (Value) -> String?
  ) -> Self {
    Self(name, schema: .optionalString) { text, value, _ in
      text.optional(read(value)) { $0.string($1) }
    }
  }

  static func strings(
    _ name: StaticString, read: @escaping @Sendable (Value) -> [String]
  ) -> Self {
    Self(name, schema: .array(of: .string)) { text, value, _ in text.strings(read(value)) }
  }

  /// One of these words.
  static func choice(
    _ name: StaticString, of words: [String], read: @escaping @Sendable (Value) -> String
  ) -> Self {
    Self(name, schema: .choice(words)) { text, value, _ in text.string(read(value)) }
  }

  static func decimal(
    _ name: StaticString, read: @escaping @Sendable (Value) -> ExactDecimal
  ) -> Self {
    Self(name, schema: .decimal) { text, value, _ in text.decimal(read(value)) }
  }

  static func optionalDecimal(
    _ name: StaticString, read: @escaping @Sendable (Value) -> ExactDecimal?
  ) -> Self {
    Self(name, schema: .optionalDecimal) { text, value, _ in
      text.optional(read(value)) { $0.decimal($1) }
    }
  }

  static func integer(
    _ name: StaticString, read: @escaping @Sendable (Value) -> Int64
  ) -> Self {
    Self(name, schema: .integer) { text, value, _ in text.integer(read(value)) }
  }

  static func optionalInteger(
    _ name: StaticString, read: @escaping @Sendable (Value) -> Int64?
  ) -> Self {
    Self(name, schema: .nullable(.integer)) { text, value, _ in
      text.optional(read(value)) { $0.integer($1) }
    }
  }

  static func boolean(
    _ name: StaticString, read: @escaping @Sendable (Value) -> Bool
  ) -> Self {
    Self(name, schema: .boolean) { text, value, _ in text.boolean(read(value)) }
  }

  static func optionalBoolean(
    _ name: StaticString, read: @escaping @Sendable (Value) -> Bool?
  ) -> Self {
    Self(name, schema: .nullable(.boolean)) { text, value, _ in
      text.optional(read(value)) { $0.boolean($1) }
    }
  }

  static func moment(
    _ name: StaticString, read: @escaping @Sendable (Value) -> Timestamp
  ) -> Self {
    Self(name, schema: .moment) { text, value, zone in text.moment(read(value), in: zone) }
  }

  static func optionalMoment(
    _ name: StaticString, read: @escaping @Sendable (Value) -> Timestamp?
  ) -> Self {
    Self(name, schema: .nullable(.moment)) { text, value, zone in
      text.optional(read(value)) { $0.moment($1, in: zone) }
    }
  }

  static func day(
    _ name: StaticString, read: @escaping @Sendable (Value) -> TradingDay
  ) -> Self {
    Self(name, schema: .day) { text, value, _ in text.day(read(value)) }
  }

  static func object<Part>(
    _ name: StaticString, as shape: Shape<Part>, read: @escaping @Sendable (Value) -> Part
  ) -> Self {
    Self(name, schema: shape.schema) { text, value, zone in
      text.object { $0.write(read(value), as: shape, in: zone) }
    }
  }

  static func optionalObject<Part>(
    _ name: StaticString, as shape: Shape<Part>, read: @escaping @Sendable (Value) -> Part?
  ) -> Self {
    Self(name, schema: .nullable(shape.schema)) { text, value, zone in
      text.optional(read(value)) { text, part in
        text.object { $0.write(part, as: shape, in: zone) }
      }
    }
  }

  static func objects<Part>(
    _ name: StaticString, as shape: Shape<Part>, read: @escaping @Sendable (Value) -> [Part]
  ) -> Self {
    Self(name, schema: .array(of: shape.schema)) { text, value, zone in
      text.rows(read(value), as: shape, in: zone)
    }
  }
}

extension JSONWriter {
  /// The members of an object.
  mutating func write<Value>(
    _ value: Value, as shape: Shape<Value>, in zone: MarketZone = .utc
  ) {
    for field in shape.fields where field.isPresent?(value) ?? true {
      member(field.name) { field.write(&$0, value, zone) }
    }
  }

  /// An array of objects.
  mutating func rows<Value>(
    _ values: [Value], as shape: Shape<Value>, in zone: MarketZone = .utc
  ) {
    array { rows in
      for value in values { rows.object { $0.write(value, as: shape, in: zone) } }
    }
  }

  /// An object with an array for each field, which all of them have.
  mutating func columns<Value>(
    _ values: [Value], as shape: Shape<Value>, in zone: MarketZone = .utc
  ) {
    object { columns in
      for field in shape.fields {
        columns.member(field.name) { column in
          column.array { column in
            for value in values { field.write(&column, value, zone) }
          }
        }
      }
    }
  }

  /// A member that is an array of objects.
  /// - Parameter write: appends the members of one.
  mutating func list<Row>(
    _ name: StaticString, of rows: some Sequence<Row>, write: (inout JSONWriter, Row) -> Void
  ) {
    member(name) { list in
      list.array { list in
        for row in rows { list.object { write(&$0, row) } }
      }
    }
  }

  mutating func list<Row>(
    _ name: StaticString, of rows: some Sequence<Row>, as shape: Shape<Row>,
    in zone: MarketZone = .utc
  ) {
    list(name, of: rows) { $0.write($1, as: shape, in: zone) }
  }
}
