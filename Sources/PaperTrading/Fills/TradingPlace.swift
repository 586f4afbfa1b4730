import Market

/// Where the orders of an account in an instrument stand: what is stored, so that another process
/// goes on where one was killed. In bytes: it is written as often as it changes. Of what the newest
/// rows changed the differences are written, from the newest row back: where hundreds of orders
/// stand in one queue, all of them change with each row.
struct TradingPlace: Sendable {
  var takings: Takings
  var orders: [RestingOrder]
  var changes: [AccountOrders.Change] = []
  var isConfirmed = true
  var ended: Set<Int64> = []
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
    var newer = standings
    writer.putAll(changes.reversed()) { $1.write(to: &$0, behind: &newer) }
    writer.put(isConfirmed ? 1 : 0)
    writer.putAll(ended) { $0.put($1) }
    return writer.bytes
  }

  init?(body: [UInt8], account: Int64, symbol: Symbol) {
    let place = PlaceReader.read(body) { reader in
      var place = TradingPlace(
        takings: try Takings(from: &reader),
        orders: try reader.all { reader in
          try RestingOrder(from: &reader, account: account, symbol: symbol)
        })
      var newer = place.standings
      place.changes = try reader.all { reader in
        try AccountOrders.Change(from: &reader, symbol: symbol, behind: &newer)
      }.reversed()
      place.isConfirmed = try reader.integer() == 1
      place.ended = Set(try reader.all { try $0.integer() })
      return place
    }
    guard let place else { return nil }
    self = place
  }

  private var standings: [Int64: RestingOrder.Standing] {
    Dictionary(orders.map { ($0.order.id, $0.standing) }) { first, _ in first }
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
    let seen = PlaceReader.read(body) { reader in
      let earlier = try SealWatch(from: &reader)
      let rows = try reader.all { reader in
        let snapshot = try Snapshot(from: &reader)
        let band = try reader.optional {
          PriceBand(lower: try $0.decimal(), upper: try $0.decimal())
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

  fileprivate init(from reader: inout PlaceReader) throws {
    for _ in 0..<max(try reader.integer(), 0) {
      let (side, price): (Side, ExactDecimal) = (try reader.named(), try reader.decimal())
      add(try reader.integer(), at: price, side: side)
    }
  }
}

extension AccountOrders.Change {
  fileprivate func write(
    to writer: inout PlaceWriter, behind newer: inout [Int64: RestingOrder.Standing]
  ) {
    writer.put(row)
    writer.putAll(orders) { writer, order in
      order.write(to: &writer, behind: newer[order.id])
      newer[order.id] = order
    }
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
    from reader: inout PlaceReader, symbol: Symbol,
    behind newer: inout [Int64: RestingOrder.Standing]
  ) throws {
    self.init(
      row: try reader.integer(),
      orders: try reader.all { reader in
        let order = try RestingOrder.Standing(from: &reader, behind: newer)
        newer[order.id] = order
        return order
      },
      takings: try Takings(from: &reader),
      events: try reader.all { reader in
        let (order, kind): (Int64, Int) = (try reader.integer(), try reader.integer())
        switch kind {
        case 0:
          guard let evidence = FillEvidence(text: try reader.text()),
            let fill = Fill(order: order, symbol: symbol, evidence: evidence)
          else { throw PlaceReader.Malformed() }
          return .booked(fill)
        case 1:
          return .cancelled(order: order, reason: try reader.optional { try $0.text() })
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

  fileprivate init(from reader: inout PlaceReader) throws {
    let day = try reader.optional { TradingDay(daysSince1970: try $0.integer()) }
    let since: Int32? = try reader.optional { try $0.integer() }
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

  fileprivate init(from reader: inout PlaceReader) throws {
    func levels() throws -> [BookLevel] {
      try reader.all { BookLevel(price: try $0.decimal(), volume: try $0.decimal()) }
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
    stage.write(to: &writer, behind: nil)
  }

  fileprivate init(from reader: inout PlaceReader, account: Int64, symbol: Symbol) throws {
    func price() throws -> ExactDecimal? {
      try reader.optional { try $0.decimal() }
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
    stage = try Stage(from: &reader, behind: nil)
  }
}

extension RestingOrder.Standing {
  fileprivate func write(to writer: inout PlaceWriter, behind newer: Self?) {
    writer.put(id)
    writer.put(filled - (newer?.filled ?? 0))
    stage.write(to: &writer, behind: newer?.stage.queue)
  }

  fileprivate init(from reader: inout PlaceReader, behind newer: [Int64: Self]) throws {
    id = try reader.integer()
    let newer = newer[id]
    filled = try reader.integer() &+ (newer?.filled ?? 0)
    stage = try RestingOrder.Stage(from: &reader, behind: newer?.stage.queue)
  }
}

extension RestingOrder.Stage {
  fileprivate func write(to writer: inout PlaceWriter, behind newer: Queue?) {
    switch self {
    case .untriggered: writer.put(0)
    case .waiting: writer.put(1)
    case .done: writer.put(2)
    case .queued(let queue):
      let newer = newer.flatMap { queue.isSame(as: $0) ? $0 : nil }
      writer.put(newer == nil ? 3 : 4)
      queue.write(to: &writer, behind: newer)
    }
  }

  fileprivate init(from reader: inout PlaceReader, behind newer: Queue?) throws {
    switch try reader.integer() as Int {
    case 0: self = .untriggered
    case 1: self = .waiting
    case 2: self = .done
    case 3: self = .queued(try Queue(from: &reader, behind: nil))
    case 4:
      guard let newer else { throw PlaceReader.Malformed() }
      self = .queued(try Queue(from: &reader, behind: newer))
    default: throw PlaceReader.Malformed()
    }
  }
}

extension Queue {
  /// Whether one is the other, with other rows behind it.
  fileprivate func isSame(as other: Queue) -> Bool {
    (limit, isAtLimit, own, ownSharesAhead)
      == (other.limit, other.isAtLimit, other.own, other.ownSharesAhead)
  }

  fileprivate func write(to writer: inout PlaceWriter, behind newer: Queue?) {
    if newer == nil {
      writer.put(limit)
      writer.put(isAtLimit ? 1 : 0)
      writer.put(own)
      writer.put(ownSharesAhead)
    }
    writer.put(filled - (newer?.filled ?? 0))
    writer.put(counted - (newer?.counted ?? 0))
    writer.put(possibleVolume - (newer?.possibleVolume ?? 0))
    writer.putOptional(front) { $0.put($1 - (newer?.front ?? 0)) }
  }

  fileprivate init(from reader: inout PlaceReader, behind newer: Queue?) throws {
    if let newer {
      self = newer
    } else {
      let (limit, atLimit): (ExactDecimal, Int) = (try reader.decimal(), try reader.integer())
      self.init(limit: limit, isAtLimit: atLimit == 1, own: try reader.integer(), filled: 0)
      ownSharesAhead = try reader.integer()
    }
    filled &+= try reader.integer()
    counted &+= try reader.integer()
    possibleVolume &+= try reader.integer()
    let base = front ?? 0
    front = try reader.optional { reader -> Int64 in
      try reader.integer() &+ base
    }
  }
}
