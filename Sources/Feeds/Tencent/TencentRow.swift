/// The fields of a line as a quote (docs/sources/tencent.md#fields). Rules are checked from the
/// outside in, so that a line cut short or shifted is called malformed and not by the nonsense its
/// fields then hold.

import Market

struct TencentRow {
  /// The places of the fields, as the line numbers them.
  private enum Place {
    static let name = 1, code = 2, last = 3, previousClose = 4, open = 5, volume = 6
    static let bids = 9, asks = 19, stamp = 30, high = 33, low = 34, totals = 35
    static let volumeAgain = 36, state = 40, limitUp = 47, limitDown = 48
    static let turnover = 57, afterHoursTurnover = 58, afterHoursVolume = 59
  }

  /// The fields up to the turnover rate: old and shortened lines have no more.
  static let fieldsMin = 38
  /// Lots are rounded to the nearest, money to the yuan (docs/sources/tencent.md#units).
  private static let ofLots = Rounding.coarsest
  private static let ofShares = Rounding(volume: 0, turnover: 1)

  private static let ofKnownUnits: QuotedSecurity = [.tradesAtPrices, .index]

  let fields: TencentFields
  let security: QuotedSecurity
  /// What stood beside the row and could not be read.
  private(set) var dropped: [DroppedMember] = []

  var name: UnsafeRawBufferPointer { fields[Place.name] }

  mutating func read(into quote: inout Quote, clock: inout TencentClock) throws(RowFault) {
    guard fields.count >= TencentRow.fieldsMin else {
      throw .malformed("\(fields.count) fields, at least \(TencentRow.fieldsMin) expected")
    }
    guard quote.symbol.bytes.dropFirst(2).elementsEqual(fields[Place.code]) else {
      throw .malformed(
        "code: the digits of the symbol expected, found `\(RowFault.excerpt(fields[Place.code]))`")
    }
    guard let moment = clock.moment(fields[Place.stamp]) else {
      throw .malformed(
        "stamp: YYYYMMDDhhmmss expected, found `\(RowFault.excerpt(fields[Place.stamp]))`")
    }
    (quote.tradingDay, quote.secondOfDay) = moment
    try readPrices(into: &quote)
    try readBook(into: &quote)
    try readTotals(into: &quote)
    quote.status = status(hasTraded: quote.volume.isPositive)
    let row = self
    quote.limits =
      dropped.value(of: .limitPrices, in: quote.symbol) { () throws(RowFault) in try row.limits() }
      ?? .unstated
    quote.afterHours =
      dropped.value(of: .afterHours, in: quote.symbol) { () throws(RowFault) in
        try row.afterHours()
      } ?? nil
    // A virtual match price in the auction, the previous close of what does not trade: nothing has
    // traded there yet. An index has no auction.
    if quote.volume.isZero, quote.turnover.isZero, quote.open.isZero, quote.high.isZero,
      !security.contains(.index)
    {
      quote.last = .zero
    }
    if let broken = QuoteInconsistency.first(in: &quote, of: security) {
      throw RowFault(broken, of: quote)
    }
  }

  private func readPrices(into quote: inout Quote) throws(RowFault) {
    quote.last = try ExactDecimal(field: fields[Place.last], named: "last")
    quote.previousClose = try ExactDecimal(
      field: fields[Place.previousClose], named: "previous close")
    quote.open = try ExactDecimal(field: fields[Place.open], named: "open")
    quote.high = try ExactDecimal(field: fields[Place.high], named: "high")
    quote.low = try ExactDecimal(field: fields[Place.low], named: "low")
  }

  /// Lots, of the STAR board too.
  private mutating func readBook(into quote: inout Quote) throws(RowFault) {
    quote.bids = try side("bid", of: quote.symbol, from: Place.bids)
    quote.asks = try side("ask", of: quote.symbol, from: Place.asks)
    (quote.bid, quote.ask) = (quote.bids[0].price, quote.asks[0].price)
  }

  private mutating func side(
    _ name: String, of symbol: Symbol, from first: Int
  ) throws(RowFault) -> Quote.Book {
    let row = self
    return try dropped.book(of: symbol) { (level) throws(RowFault) in
      let price = try ExactDecimal(
        field: row.fields[first + 2 * level], named: "\(name) price \(level + 1)")
      return BookLevel(
        price: price,
        volume: try row.lots(
          row.fields[first + 2 * level + 1], named: "\(name) volume \(level + 1)"))
    }
  }

  private func lots(
    _ text: UnsafeRawBufferPointer, named name: @autoclosure () -> String
  ) throws(RowFault) -> ExactDecimal {
    try ExactDecimal(countIn: text, named: name()).shares(named: name())
  }

  /// Shares of a count that is in the unit of the day's volume.
  private func shares(
    _ text: UnsafeRawBufferPointer, named name: String
  ) throws(RowFault) -> ExactDecimal {
    security.contains(.countsLots)
      ? try lots(text, named: name) : try ExactDecimal(countIn: text, named: name)
  }

  private mutating func readTotals(into quote: inout Quote) throws(RowFault) {
    let row = self
    quote.volume = try shares(fields[Place.volume], named: "volume")
    let again = dropped.value(of: .repeatedTotal, in: quote.symbol) { () throws(RowFault) in
      try row.shares(row.fields[Place.volumeAgain], named: "volume again")
    }
    guard again ?? quote.volume == quote.volume else {
      throw RowFault(.inconsistent, detail: "volume: field 36 is another than field 6")
    }
    guard quote.volume.isZero || !security.isDisjoint(with: TencentRow.ofKnownUnits) else {
      throw .malformed("volume: the unit of this kind of instrument is not known")
    }
    quote.turnover = try turnover(of: quote.symbol)
    quote.rounding = security.contains(.countsLots) ? TencentRow.ofLots : TencentRow.ofShares
  }

  /// The turnover of `price/volume/turnover`, and again in ten thousands of yuan: to the yuan where
  /// that has four decimals, as it has since 2020.
  private mutating func turnover(of symbol: Symbol) throws(RowFault) -> ExactDecimal {
    let totals = fields[Place.totals]
    guard let first = totals.offset(of: UInt8(ascii: "/")),
      let second = totals.offset(of: UInt8(ascii: "/"), from: first + 1)
    else { throw .malformed("totals: price/volume/turnover expected") }
    let turnover = try ExactDecimal(field: totals.dropping(second + 1), named: "turnover")
    let again = fields.optional(Place.turnover)
    guard !again.isEmpty else { return turnover }
    let repeated = dropped.value(of: .repeatedTotal, in: symbol) { () throws(RowFault) in
      try ExactDecimal(field: again, named: "turnover in ten thousands")
    }
    guard let tenThousands = repeated, tenThousands.scale == TencentRow.yuanPlaces else {
      return turnover
    }
    let exact = ExactDecimal(tenThousands.units)
    guard exact == turnover else {
      throw RowFault(
        .inconsistent, detail: "turnover: \(turnover) in field 35 and \(exact) in field 57")
    }
    return exact
  }

  /// Decimals of an amount in ten thousands of yuan that is exact to the yuan.
  private static let yuanPlaces: UInt8 = 4

  private func status(hasTraded: Bool) -> QuoteStatus {
    let state = fields.optional(Place.state)
    guard let letter = state.first else { return .normal }
    guard state.count == 1 else { return .unknown }
    return switch letter {
    case UInt8(ascii: "S"): hasTraded ? .haltedTemporarily : .halted
    case UInt8(ascii: "D"): .delisted
    case UInt8(ascii: "U"): .notListed
    default: .unknown
    }
  }

  /// -1, or 0 in older lines, where none applies.
  private func limits() throws(RowFault) -> StatedLimits {
    let (up, down) = (fields.optional(Place.limitUp), fields.optional(Place.limitDown))
    if up.isEmpty, down.isEmpty { return .unstated }
    if TencentRow.isMinusOne(up), TencentRow.isMinusOne(down) { return .none }
    let upper = try ExactDecimal(field: up, named: "limit-up")
    let lower = try ExactDecimal(field: down, named: "limit-down")
    if upper.isZero, lower.isZero { return .none }
    guard lower.isPositive, lower <= upper else {
      throw RowFault(.inconsistent, detail: "limit-up \(upper) and limit-down \(lower)")
    }
    return .band(PriceBand(lower: lower, upper: upper))
  }

  private static func isMinusOne(_ text: UnsafeRawBufferPointer) -> Bool {
    text.count == 2 && text[0] == UInt8(ascii: "-") && text[1] == UInt8(ascii: "1")
  }

  /// nil where nothing traded after the close.
  private func afterHours() throws(RowFault) -> AfterHours? {
    let (money, count) = (
      fields.optional(Place.afterHoursTurnover), fields.optional(Place.afterHoursVolume)
    )
    if money.isEmpty, count.isEmpty { return nil }
    let volume = try shares(count, named: "after-hours volume")
    let tenThousands = try ExactDecimal(field: money, named: "after-hours turnover")
    if volume.isZero, tenThousands.isZero { return nil }
    guard let turnover = try? tenThousands * ExactDecimal(10_000) else {
      throw .notANumber(
        "after-hours turnover", expected: "a number of at most 18 digits", found: money)
    }
    return AfterHours(volume: volume, turnover: turnover.rounded(places: 0))
  }
}
