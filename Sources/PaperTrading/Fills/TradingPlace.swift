import Market

/// Where the orders of an account in an instrument stand: what is stored, so that another process
/// goes on where one was killed. In bytes: it is written as often as it changes.
struct TradingPlace: Sendable {
  var takings: Takings
  var orders: [RestingOrder]
  var changes: [AccountOrders.Change]
  var isConfirmed: Bool
  var ended: Set<Int64>
}

/// The newest rows of an instrument, which are stored beside the places.
struct SeenRows: Sendable {
  var rows: [SeenRow]
  var earlierSeal: SealWatch
}

/// A row, and what is known of the seal with it.
struct SeenRow: Sendable {
  let row: MarketRow
  let seal: SealWatch

  var snapshot: Snapshot { row.snapshot }
  var sequence: Int64 { row.snapshot.stamp.sequence }
}

extension TradingPlace {
  var body: [UInt8] {
    var writer = PlaceWriter()
    takings.write(to: &writer)
    writer.putAll(orders) { $1.write(to: &$0) }
    writer.putAll(changes) { $1.write(to: &$0) }
    writer.put(isConfirmed ? 1 : 0)
    writer.putAll(ended) { $0.put($1) }
    return writer.bytes
  }

  init?(body: [UInt8], account: Int64, symbol: Symbol) {
    let place = PlaceReader.read(body) { (reader) throws(PlaceReader.Malformed) in
      TradingPlace(
        takings: try Takings(from: &reader),
        orders: try RestingOrder.all(from: &reader, account: account, symbol: symbol),
        changes: try reader.all { (reader) throws(PlaceReader.Malformed) in
          try AccountOrders.Change(from: &reader, account: account, symbol: symbol)
        },
        isConfirmed: try reader.integer() == 1,
        ended: Set(
          try reader.all { (reader) throws(PlaceReader.Malformed) in
            try reader.integer()
          }))
    }
    guard let place else { return nil }
    self = place
  }
}

extension SeenRows {
  var body: [UInt8] {
    var writer = PlaceWriter()
    earlierSeal.write(to: &writer)
    writer.putAll(rows) { writer, seen in
      seen.snapshot.write(to: &writer)
      writer.putOptional(seen.row.band) { writer, band in
        writer.put(band.lower)
        writer.put(band.upper)
      }
      seen.seal.write(to: &writer)
    }
    return writer.bytes
  }

  init?(body: [UInt8]) {
    let seen = PlaceReader.read(body) { (reader) throws(PlaceReader.Malformed) in
      let earlier = try SealWatch(from: &reader)
      let rows = try reader.all { (reader) throws(PlaceReader.Malformed) in
        let snapshot = try Snapshot(from: &reader)
        let band = try reader.optional { (reader) throws(PlaceReader.Malformed) in
          PriceBand(lower: try reader.decimal(), upper: try reader.decimal())
        }
        return SeenRow(row: MarketRow(snapshot, band: band), seal: try SealWatch(from: &reader))
      }
      return SeenRows(rows: rows, earlierSeal: earlier)
    }
    guard let seen else { return nil }
    self = seen
  }
}

extension Takings {
  fileprivate func write(to writer: inout PlaceWriter) {
    writer.putAll(levels) { writer, level in
      writer.put(level.side)
      writer.put(level.price)
      writer.put(level.shares)
    }
  }

  fileprivate init(from reader: inout PlaceReader) throws(PlaceReader.Malformed) {
    for _ in 0..<max(try reader.integer(), 0) {
      let (side, price): (Side, ExactDecimal) = (try reader.named(), try reader.decimal())
      add(try reader.integer(), at: price, side: side)
    }
  }
}

extension AccountOrders.Change {
  fileprivate func write(to writer: inout PlaceWriter) {
    writer.put(row)
    writer.putAll(orders) { $1.write(to: &$0) }
    takings.write(to: &writer)
    writer.putAll(events) { writer, event in
      writer.put(event.order)
      switch event {
      case .booked(let fill):
        writer.put(0)
        writer.put(fill.evidence.text)
      case .cancelled(_, let reason):
        writer.put(1)
        writer.putOptional(reason) { $0.put($1) }
      case .released: writer.put(2)
      case .pending, .dropped, .reversed, .heldAgain: preconditionFailure("no row leads to it")
      }
    }
  }

  fileprivate init(
    from reader: inout PlaceReader, account: Int64, symbol: Symbol
  ) throws(PlaceReader.Malformed) {
    self.init(
      row: try reader.integer(),
      orders: try RestingOrder.all(from: &reader, account: account, symbol: symbol),
      takings: try Takings(from: &reader),
      events: try reader.all { (reader) throws(PlaceReader.Malformed) in
        let (order, kind): (Int64, Int) = (try reader.integer(), try reader.integer())
        switch kind {
        case 0:
          guard let evidence = FillEvidence(text: try reader.text()),
            let fill = Fill(order: order, symbol: symbol, evidence: evidence)
          else { throw PlaceReader.Malformed() }
          return .booked(fill)
        case 1:
          let reason = try reader.optional { (reader) throws(PlaceReader.Malformed) in
            try reader.text()
          }
          return .cancelled(order: order, reason: reason)
        case 2: return .released(order: order)
        default: throw PlaceReader.Malformed()
        }
      })
  }
}

extension SealWatch {
  fileprivate func write(to writer: inout PlaceWriter) {
    writer.putOptional(day) { $0.put($1.daysSince1970) }
    writer.putOptional(sealedSince) { $0.put($1) }
    for flag in [hasOpened, wasSealed] { writer.put(flag ? 1 : 0) }
    writer.put(rows)
  }

  fileprivate init(from reader: inout PlaceReader) throws(PlaceReader.Malformed) {
    let day = try reader.optional { (reader) throws(PlaceReader.Malformed) in
      TradingDay(daysSince1970: try reader.integer())
    }
    let since = try reader.optional { (reader) throws(PlaceReader.Malformed) -> Int32 in
      try reader.integer()
    }
    let (opened, sealed): (Int, Int) = (try reader.integer(), try reader.integer())
    self.init(
      day: day, sealedSince: since, hasOpened: opened == 1, wasSealed: sealed == 1,
      rows: try reader.integer())
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
    writer.put(stage == .untriggered ? 0 : stage == .done ? 2 : 1)
    writer.putOptional(queue) { $1.write(to: &$0) }
  }

  fileprivate static func all(
    from reader: inout PlaceReader, account: Int64, symbol: Symbol
  ) throws(PlaceReader.Malformed) -> [RestingOrder] {
    try reader.all { (reader) throws(PlaceReader.Malformed) in
      try RestingOrder(from: &reader, account: account, symbol: symbol)
    }
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
    let number: Int = try reader.integer()
    let queue = try reader.optional { (reader) throws(PlaceReader.Malformed) in
      try Queue(from: &reader)
    }
    stage = queue.map { .queued($0) } ?? [0: .untriggered, 2: .done][number] ?? .waiting
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
