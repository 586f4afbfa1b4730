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
  typealias Read<Part> = @Sendable (Value) -> Part

  private static func field<Part>(
    _ name: StaticString, schema: Schema, read: @escaping Read<Part>,
    write: @escaping @Sendable (inout JSONWriter, Part) -> Void
  ) -> Self {
    Self(name, schema: schema) { text, value, _ in write(&text, read(value)) }
  }

  private static func optional<Part>(
    _ name: StaticString, schema: Schema, read: @escaping Read<Part?>,
    write: @escaping @Sendable (inout JSONWriter, Part) -> Void
  ) -> Self {
    Self(name, schema: .nullable(schema)) { text, value, _ in
      text.optional(read(value), write: write)
    }
  }

  static func string(_ name: StaticString, read: @escaping Read<String>) -> Self {
    field(name, schema: .string, read: read) { $0.string($1) }
  }

  static func optionalString(_ name: StaticString, read: @escaping Read<String?>) -> Self {
    optional(name, schema: .string, read: read) { $0.string($1) }
  }

  static func strings(_ name: StaticString, read: @escaping Read<[String]>) -> Self {
    field(name, schema: .array(of: .string), read: read) { $0.strings($1) }
  }

  /// One of these words.
  static func choice(
    _ name: StaticString, of words: [String], read: @escaping Read<String>
  ) -> Self {
    field(name, schema: .choice(words), read: read) { $0.string($1) }
  }

  static func decimal(_ name: StaticString, read: @escaping Read<ExactDecimal>) -> Self {
    field(name, schema: .decimal, read: read) { $0.decimal($1) }
  }

  static func optionalDecimal(_ name: StaticString, read: @escaping Read<ExactDecimal?>) -> Self {
    optional(name, schema: .decimal, read: read) { $0.decimal($1) }
  }

  static func integer(_ name: StaticString, read: @escaping Read<Int64>) -> Self {
    field(name, schema: .integer, read: read) { $0.integer($1) }
  }

  static func optionalInteger(_ name: StaticString, read: @escaping Read<Int64?>) -> Self {
    optional(name, schema: .integer, read: read) { $0.integer($1) }
  }

  static func boolean(_ name: StaticString, read: @escaping Read<Bool>) -> Self {
    field(name, schema: .boolean, read: read) { $0.boolean($1) }
  }

  static func optionalBoolean(_ name: StaticString, read: @escaping Read<Bool?>) -> Self {
    optional(name, schema: .boolean, read: read) { $0.boolean($1) }
  }

  static func day(_ name: StaticString, read: @escaping Read<TradingDay>) -> Self {
    field(name, schema: .day, read: read) { $0.day($1) }
  }

  static func moment(_ name: StaticString, read: @escaping Read<Timestamp>) -> Self {
    Self(name, schema: .moment) { text, value, zone in text.moment(read(value), in: zone) }
  }

  static func optionalMoment(_ name: StaticString, read: @escaping Read<Timestamp?>) -> Self {
    Self(name, schema: .nullable(.moment)) { text, value, zone in
      text.optional(read(value)) { $0.moment($1, in: zone) }
    }
  }

  static func object<Part>(
    _ name: StaticString, as shape: Shape<Part>, read: @escaping Read<Part>
  ) -> Self {
    Self(name, schema: shape.schema) { text, value, zone in
      text.object { $0.write(read(value), as: shape, in: zone) }
    }
  }

  static func optionalObject<Part>(
    _ name: StaticString, as shape: Shape<Part>, read: @escaping Read<Part?>
  ) -> Self {
    Self(name, schema: .nullable(shape.schema)) { text, value, zone in
      text.optional(read(value)) { text, part in
        text.object { $0.write(part, as: shape, in: zone) }
      }
    }
  }

  static func objects<Part>(
    _ name: StaticString, as shape: Shape<Part>, read: @escaping Read<[Part]>
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
  /// - Parameter members: appends those of one.
  mutating func objects<Row>(
    of rows: some Sequence<Row>, members: (inout JSONWriter, Row) -> Void
  ) {
    array { list in
      for row in rows { list.object { members(&$0, row) } }
    }
  }

  mutating func rows<Value>(
    _ values: [Value], as shape: Shape<Value>, in zone: MarketZone = .utc
  ) {
    objects(of: values) { $0.write($1, as: shape, in: zone) }
  }

  /// An object with an array for each field, which all of them have.
  mutating func columns<Value>(
    _ values: [Value], as shape: Shape<Value>, in zone: MarketZone = .utc
  ) {
    object { columns in
      for field in shape.fields {
        columns.array(field.name) { column in
          for value in values { field.write(&column, value, zone) }
        }
      }
    }
  }

  /// A member that is an array of objects.
  mutating func list<Row>(
    _ name: StaticString, of rows: some Sequence<Row>, members: (inout JSONWriter, Row) -> Void
  ) {
    member(name) { $0.objects(of: rows, members: members) }
  }

  mutating func list<Row>(
    _ name: StaticString, of rows: some Sequence<Row>, as shape: Shape<Row>,
    in zone: MarketZone = .utc
  ) {
    list(name, of: rows) { $0.write($1, as: shape, in: zone) }
  }
}
