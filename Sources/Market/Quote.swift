/// What an exchange says of one instrument at one moment: the running day totals and extremes and
/// the five-level book. Source: upstreams' level-1 snapshots (Sina fields 0…33).
public struct Quote: Sendable {
  public var symbol: Symbol
  @usableFromInline var stamp: Stamp
  public var status: QuoteStatus
  /// Prices in the instrument's currency; zero where the exchange has none yet.
  public var open: ExactDecimal
  public var previousClose: ExactDecimal
  public var last: ExactDecimal
  public var high: ExactDecimal
  public var low: ExactDecimal
  public var bid: ExactDecimal
  public var ask: ExactDecimal
  /// Shares or units traded since the day began (an SH index's lots are already multiplied).
  public var volume: ExactDecimal
  /// Money traded since the day began, in the instrument's currency.
  public var turnover: ExactDecimal
  /// Best level first.
  public var bids: Book
  public var asks: Book
  @usableFromInline var extras = Extras()

  public typealias Book = InlineArray<5, BookLevel>

  /// A quote that says nothing yet: for a decoder to fill.
  public init(symbol: Symbol, tradingDay: TradingDay, secondOfDay: Int32) {
    self.symbol = symbol
    stamp = Stamp(tradingDay: tradingDay, secondOfDay: secondOfDay)
    status = .normal
    open = .zero
    previousClose = .zero
    last = .zero
    high = .zero
    low = .zero
    bid = .zero
    ask = .zero
    volume = .zero
    turnover = .zero
    bids = Book(repeating: .empty)
    asks = Book(repeating: .empty)
  }

  /// The exchange's stamp.
  public var at: Timestamp { clock.moment(on: tradingDay, secondOfDay: Int(secondOfDay)) }
}

extension Quote {
  @usableFromInline
  struct Stamp: Sendable, Hashable {
    @usableFromInline var tradingDay: TradingDay
    @usableFromInline var secondOfDay: Int32
    var clock = LocalClock.mainlandChina
  }

  /// What only some sources tell, or only at some hours.
  @usableFromInline
  struct Extras: Sendable, Hashable {
    @usableFromInline var afterHours: AfterHours?
    @usableFromInline var rounding = Rounding.exact
    @usableFromInline var limits = StatedLimits.unstated

    @usableFromInline init() {}
  }

  /// The fixed-price session after the close, where the exchange reports one.
  @inlinable
  public var afterHours: AfterHours? {
    get { extras.afterHours }
    set { extras.afterHours = newValue }
  }

  /// Of the day's totals, for a source that rounds them.
  @inlinable
  public var rounding: Rounding {
    get { extras.rounding }
    set { extras.rounding = newValue }
  }

  @inlinable
  public var limits: StatedLimits {
    get { extras.limits }
    set { extras.limits = newValue }
  }

  /// Its market's.
  package var clock: LocalClock {
    get { stamp.clock }
    set { stamp.clock = newValue }
  }

  /// The exchange's date of the snapshot.
  @inlinable
  public var tradingDay: TradingDay {
    get { stamp.tradingDay }
    set { stamp.tradingDay = newValue }
  }

  /// The exchange's clock of the snapshot, in seconds since midnight; 86,400 where the day's last
  /// session ends then.
  @inlinable
  public var secondOfDay: Int32 {
    get { stamp.secondOfDay }
    set { stamp.secondOfDay = newValue }
  }
}

/// How far running totals may lie above the exchange's own.
public struct Rounding: Sendable, Hashable {
  /// Shares or units.
  public var volume: Int32
  /// Money, in whole units of the currency.
  public var turnover: Int32

  @inlinable public static var exact: Rounding { Rounding(volume: 0, turnover: 0) }
  /// To the nearest lot and to whole money: no source rounds more.
  package static let coarsest = Rounding(volume: 50, turnover: 1)

  @inlinable
  public init(volume: Int32, turnover: Int32) {
    self.volume = volume
    self.turnover = turnover
  }
}

/// The legal prices of the day, as the exchange states them.
public enum StatedLimits: Sendable, Hashable {
  /// The source does not tell.
  case unstated
  /// Stated: no limit applies.
  case none
  case band(PriceBand)

  /// - Parameter band: as it is stored: nil where nothing is stated, zeros where no limit applies.
  package init(stored band: PriceBand?) {
    guard let band else {
      self = .unstated
      return
    }
    self = band.upper.isZero ? Self.none : .band(band)
  }

  package var stored: PriceBand? {
    switch self {
    case .unstated: nil
    case .none: PriceBand(lower: .zero, upper: .zero)
    case .band(let band): band
    }
  }

  /// The legal prices, nil where no limit applies; what is stated prevails over our own table.
  public func band(or table: @autoclosure () -> PriceBand?) -> PriceBand? {
    switch self {
    case .band(let band): band
    case .none: nil
    case .unstated: table()
    }
  }
}

/// One price level: shares or units wanted or offered there.
public struct BookLevel: Sendable, Hashable {
  public var price: ExactDecimal
  public var volume: ExactDecimal

  @inlinable public static var empty: BookLevel { BookLevel(price: .zero, volume: .zero) }

  @inlinable
  public init(price: ExactDecimal, volume: ExactDecimal) {
    self.price = price
    self.volume = volume
  }
}

/// What the 15:05–15:30 fixed-price session traded, apart from the day's totals.
public struct AfterHours: Sendable, Hashable {
  public var volume: ExactDecimal
  public var turnover: ExactDecimal

  public init(volume: ExactDecimal, turnover: ExactDecimal) {
    self.volume = volume
    self.turnover = turnover
  }
}

/// The exchange's status field (Sina field 32).
public enum QuoteStatus: UInt8, Sendable, CaseIterable {
  case normal = 0
  /// Halted for one hour.
  case haltedOneHour = 1
  case halted = 2
  /// Halted all day or continuously.
  case haltedAllDay = 3
  case haltedTemporarily = 4
  case haltedHalfDay = 5
  case paused = 7
  case noRecord = 8
  case notListed = 9
  case delisted = 10
  /// A code this version does not know: kept, treated as normal.
  case unknown = 255
}

/// What can be done with the instrument, derived from status, prices, book and clock.
public enum TradingState: UInt8, Sendable, CaseIterable {
  case normal
  case halted
  case delisted
  case preOpen
  case auction
  case notListed

  public var name: String {
    switch self {
    case .normal: "normal"
    case .halted: "halted"
    case .delisted: "delisted"
    case .preOpen: "pre_open"
    case .auction: "auction"
    case .notListed: "not_listed"
    }
  }
}

extension Quote {
  /// The derived state. Sina's own precedence: a status other than normal counts only while both
  /// best prices are zero, because the field lags behind a reopening; and halted rows often come
  /// with status normal and all prices zero.
  public var trading: TradingState {
    if status == .delisted || (previousClose.isZero && last.isZero) {
      return status == .notListed ? .notListed : .delisted
    }
    if status == .notListed { return .notListed }
    let hasBook = !bid.isZero || !ask.isZero
    let mayHalt = status != .normal && status != .unknown && status != .noRecord
    if mayHalt, !hasBook { return .halted }
    // By the clock: an ETF and an index show the previous close as `last` before anything trades.
    if secondOfDay < clock.auctionOpens { return .preOpen }
    if secondOfDay < clock.auctionMatches { return .auction }
    if !last.isZero { return .normal }
    if secondOfDay < clock.opens { return hasBook ? .auction : .preOpen }
    return hasBook ? .normal : .halted
  }
}

extension Quote: Equatable {
  public static func == (left: Quote, right: Quote) -> Bool {
    left.symbol == right.symbol && left.stamp == right.stamp && left.status == right.status
      && left.volume == right.volume && left.turnover == right.turnover
      && left.open == right.open && left.previousClose == right.previousClose
      && left.last == right.last && left.high == right.high && left.low == right.low
      && left.bid == right.bid && left.ask == right.ask && left.extras == right.extras
      && left.bids.indices.allSatisfy {
        left.bids[$0] == right.bids[$0] && left.asks[$0] == right.asks[$0]
      }
  }
}
