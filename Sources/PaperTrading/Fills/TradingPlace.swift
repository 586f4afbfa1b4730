import Market

/// Where the open orders of an account in an instrument stand, as of a row: what is stored, so that
/// another process goes on where one was killed. In bytes: it is written as often as it changes.
struct TradingPlace: Sendable {
  /// nil before the day's first one.
  var row: Snapshot?
  var takings: Takings
  var orders: [RestingOrder]
}

/// Integers in as many bytes as they need, behind the format's number.
private struct PlaceWriter {
  private(set) var bytes = [Self.format]

  /// Raised with each change of what is written.
  static let format: UInt8 = 1

  mutating func put(_ value: some FixedWidthInteger) {
    let value = Int64(value)
    var rest = UInt64(bitPattern: value << 1 ^ value >> 63)
    while rest > 0x7F {
      bytes.append(UInt8(rest & 0x7F) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }

  mutating func put(_ value: ExactDecimal) {
    put(value.scale)
    put(value.units)
  }

  mutating func put<Value: CaseIterable & Equatable>(_ value: Value) {
    put(Value.allCases.prefix { $0 != value }.count)
  }

  mutating func putOptional<Value>(_ value: Value?, _ put: (inout Self, Value) -> Void) {
    self.put(value == nil ? 0 : 1)
    if let value { put(&self, value) }
  }

  mutating func putAll<Values: Collection>(
    _ values: Values, _ put: (inout Self, Values.Element) -> Void
  ) {
    self.put(values.count)
    for value in values { put(&self, value) }
  }
}

private struct PlaceReader {
  struct Malformed: Error {}

  private var bytes: ArraySlice<UInt8>

  init(_ body: [UInt8]) throws(Malformed) {
    bytes = body.dropFirst()
    guard body.first == PlaceWriter.format else { throw Malformed() }
  }

  var isAtEnd: Bool { bytes.isEmpty }

  mutating func integer<Value: FixedWidthInteger>() throws(Malformed) -> Value {
    var (rest, shift): (UInt64, UInt64) = (0, 0)
    while let byte = bytes.popFirst(), shift < 64 {
      rest |= UInt64(byte & 0x7F) << shift
      shift += 7
      guard byte & 0x80 == 0 else { continue }
      let value = Int64(bitPattern: rest >> 1) ^ -Int64(bitPattern: rest & 1)
      guard let value = Value(exactly: value) else { break }
      return value
    }
    throw Malformed()
  }

  mutating func decimal() throws(Malformed) -> ExactDecimal {
    let scale: UInt8 = try integer()
    guard scale <= ExactDecimal.scaleMax else { throw Malformed() }
    return ExactDecimal(units: try integer(), scale: scale)
  }

  mutating func named<Value: CaseIterable>() throws(Malformed) -> Value {
    let index: Int = try integer()
    guard index >= 0, let value = Value.allCases.dropFirst(index).first else { throw Malformed() }
    return value
  }

  mutating func optional<Value>(
    _ read: (inout Self) throws(Malformed) -> Value
  ) throws(Malformed) -> Value? {
    try integer() == 0 ? nil : try read(&self)
  }

  mutating func all<Value>(
    _ read: (inout Self) throws(Malformed) -> Value
  ) throws(Malformed) -> [Value] {
    let count: Int = try integer()
    var values: [Value] = []
    guard count >= 0 else { throw Malformed() }
    while values.count < count { values.append(try read(&self)) }
    return values
  }

  /// nil where the bytes are none of it, whole.
  static func read<Value>(
    _ body: [UInt8], _ read: (inout Self) throws(Malformed) -> Value
  ) -> Value? {
    do {
      var reader = try Self(body)
      let value = try read(&reader)
      return reader.isAtEnd ? value : nil
    } catch {
      return nil
    }
  }
}

extension TradingPlace {
  var body: [UInt8] {
    var writer = PlaceWriter()
    writer.putOptional(row) { $1.write(to: &$0) }
    writer.putAll(takings.levels) { writer, level in
      writer.put(level.side)
      writer.put(level.price)
      writer.put(level.shares)
    }
    writer.putAll(orders) { $1.write(to: &$0) }
    return writer.bytes
  }

  init?(body: [UInt8], account: Int64, symbol: Symbol) {
    let place = PlaceReader.read(body) { (reader) throws(PlaceReader.Malformed) in
      let row = try reader.optional { (reader) throws(PlaceReader.Malformed) in
        try Snapshot(from: &reader)
      }
      var takings = Takings()
      for _ in 0..<max(try reader.integer(), 0) {
        let (side, price): (Side, ExactDecimal) = (try reader.named(), try reader.decimal())
        takings.add(try reader.integer(), at: price, side: side)
      }
      let orders = try reader.all { (reader) throws(PlaceReader.Malformed) in
        try RestingOrder(from: &reader, account: account, symbol: symbol)
      }
      return TradingPlace(row: row, takings: takings, orders: orders)
    }
    guard let place else { return nil }
    self = place
  }
}

extension SealWatch {
  var body: [UInt8] {
    var writer = PlaceWriter()
    writer.putOptional(day) { $0.put($1.daysSince1970) }
    writer.putOptional(sealedSince) { $0.put($1) }
    for flag in [hasOpened, wasSealed] { writer.put(flag ? 1 : 0) }
    writer.put(rows)
    return writer.bytes
  }

  init?(body: [UInt8]) {
    let seal = PlaceReader.read(body) { (reader) throws(PlaceReader.Malformed) in
      let day = try reader.optional { (reader) throws(PlaceReader.Malformed) in
        TradingDay(daysSince1970: try reader.integer())
      }
      let since = try reader.optional { (reader) throws(PlaceReader.Malformed) -> Int32 in
        try reader.integer()
      }
      let (opened, sealed): (Int, Int) = (try reader.integer(), try reader.integer())
      return SealWatch(
        day: day, sealedSince: since, hasOpened: opened == 1, wasSealed: sealed == 1,
        rows: try reader.integer())
    }
    guard let seal else { return nil }
    self = seal
  }
}

extension Snapshot {
  fileprivate func write(to writer: inout PlaceWriter) {
    writer.put(stamp.day.daysSince1970)
    writer.put(stamp.secondOfDay)
    writer.put(stamp.sequence)
    for number in [previousClose, last, high, low, volume, turnover] { writer.put(number) }
    for levels in [bids, asks] {
      writer.putAll(levels) { writer, level in
        writer.put(level.price)
        writer.put(level.volume)
      }
    }
    writer.put(rounding.volume)
    writer.put(rounding.turnover)
    writer.put(trading)
  }

  fileprivate init(from reader: inout PlaceReader) throws(PlaceReader.Malformed) {
    func levels() throws(PlaceReader.Malformed) -> [BookLevel] {
      try reader.all { (reader) throws(PlaceReader.Malformed) in
        BookLevel(price: try reader.decimal(), volume: try reader.decimal())
      }
    }
    self.init(
      stamp: SnapshotStamp(
        day: TradingDay(daysSince1970: try reader.integer()), secondOfDay: try reader.integer(),
        sequence: try reader.integer()),
      previousClose: try reader.decimal(), last: try reader.decimal(), high: try reader.decimal(),
      low: try reader.decimal(), volume: try reader.decimal(), turnover: try reader.decimal(),
      bids: try levels(), asks: try levels(),
      rounding: Rounding(volume: try reader.integer(), turnover: try reader.integer()),
      trading: try reader.named())
  }
}

extension RestingOrder {
  fileprivate func write(to writer: inout PlaceWriter) {
    writer.put(order.id)
    writer.put(order.side)
    writer.put(order.kind)
    writer.put(order.timeInForce)
    writer.put(order.origin)
    writer.put(order.quantity)
    writer.put(quantity)
    writer.put(day.daysSince1970)
    writer.put(entersAt)
    for price in [order.limit, order.stop, worstPrice, dayLimit] {
      writer.putOptional(price) { $0.put($1) }
    }
    writer.put(filled)
    writer.put(stage == .untriggered ? 0 : 1)
    writer.putOptional(queue) { $1.write(to: &$0) }
  }

  fileprivate init(
    from reader: inout PlaceReader, account: Int64, symbol: Symbol
  ) throws(PlaceReader.Malformed) {
    func price() throws(PlaceReader.Malformed) -> ExactDecimal? {
      try reader.optional { (reader) throws(PlaceReader.Malformed) in try reader.decimal() }
    }
    let (id, side, kind): (Int64, Side, OrderKind) = (
      try reader.integer(), try reader.named(), try reader.named()
    )
    let (force, origin): (TimeInForce, Order.Origin) = (try reader.named(), try reader.named())
    let (whole, quantity) = (try reader.decimal(), try reader.decimal())
    let day = TradingDay(daysSince1970: try reader.integer())
    let entersAt: Int = try reader.integer()
    let order = Order(
      id: id, account: account, symbol: symbol, side: side, kind: kind, timeInForce: force,
      quantity: whole, limit: try price(), stop: try price(), origin: origin)
    self.init(
      order, quantity: quantity, entersAt: entersAt, worstPrice: try price(),
      dayLimit: try price(), day: day, isReleased: false)
    filled = try reader.integer()
    let isUntriggered = try reader.integer() == 0
    let queue = try reader.optional { (reader) throws(PlaceReader.Malformed) in
      try Queue(from: &reader)
    }
    stage = queue.map { .queued($0) } ?? (isUntriggered ? .untriggered : .waiting)
  }
}

extension Queue {
  fileprivate func write(to writer: inout PlaceWriter) {
    writer.put(limit)
    writer.put(isAtLimit ? 1 : 0)
    for count in [own, filled, counted, ownSharesAhead, possibleVolume] { writer.put(count) }
    writer.putOptional(front) { $0.put($1) }
  }

  fileprivate init(from reader: inout PlaceReader) throws(PlaceReader.Malformed) {
    let (limit, atLimit): (ExactDecimal, Int) = (try reader.decimal(), try reader.integer())
    self.init(
      limit: limit, isAtLimit: atLimit == 1, own: try reader.integer(),
      filled: try reader.integer(), counted: try reader.integer(),
      ownSharesAhead: try reader.integer(), possibleVolume: try reader.integer())
    front = try reader.optional { (reader) throws(PlaceReader.Malformed) -> Int64 in
      try reader.integer()
    }
  }
}
