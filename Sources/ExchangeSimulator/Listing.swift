import Market

/// What is fixed about an instrument for the day: who it is and how it behaves.

/// How an instrument spends the day. Every one a feed has to cope with is in any roster of 100.
package enum Behaviour: UInt8, Sendable, CaseIterable {
  /// Trades in nearly every publication.
  case liquid
  /// Trades every quarter of a minute or so.
  case active
  /// Trades every few minutes; the book moves in between.
  case illiquid
  /// Has a book all day and no trade.
  case untraded
  /// Status 03, prices zero.
  case haltedAllDay
  /// Halted, but the line says status 00 with all prices zero.
  case haltedUnmarked
  /// Status 04 for part of the day; some never come back.
  case haltedMidday
  /// Status 01 until 10:30:30, then trades.
  case haltedAtOpening
  /// Locked at the upper limit from the auction on: ask 0.
  case lockedLimitUp
  /// Locked at the lower limit: bid 0.
  case lockedLimitDown
  /// First day, name N…, no price limit.
  case newListing
  case index
  /// Status -3, everything zero, previous close too.
  case delisted
  /// Status -2, everything zero.
  case notListed
}

/// An instrument of the simulated market, for people and tests to look at.
package struct Listing: Sendable {
  package let symbol: Symbol
  /// The name as it stands on the wire: raw GB18030.
  package let name: [UInt8]
  private let traits: Traits

  package init(symbol: Symbol, name: [UInt8], traits: Traits) {
    self.symbol = symbol
    self.name = name
    self.traits = traits
  }

  package var exchange: Exchange { traits.exchange }
  package var kind: InstrumentKind { traits.kind }
  package var board: Board { traits.board }
  package var behaviour: Behaviour { traits.behaviour }

  package var previousClose: ExactDecimal {
    behaviour == .delisted || behaviour == .notListed ? .zero : price(traits.previousClose)
  }

  /// nil where the day has no price limit.
  package var limitUp: ExactDecimal? { traits.limits.up > 0 ? price(traits.limits.up) : nil }
  package var limitDown: ExactDecimal? { traits.limits.up > 0 ? price(traits.limits.down) : nil }

  private func price(_ units: Int64) -> ExactDecimal {
    ExactDecimal(units: units, scale: traits.scale)
  }
}

/// The plain numbers the stepping loop needs of a listing; prices in units of 10^-scale.
package struct Traits: Sendable {
  package struct Order: Sendable {
    package var minimum: Int64 = 100
    /// What orders are multiples of.
    package var step: Int64 = 100
  }

  /// 0: no limit.
  package struct Limits: Sendable {
    package var up: Int64 = 0
    package var down: Int64 = 0
  }

  package struct Pace: Sendable {
    /// Publications between two events of this instrument, on average.
    package var gapSteps: Int64 = 1
    package var tradeChancePerMille: Int64 = 0
    /// Mean size of a trade in order steps beyond the minimum.
    package var sizeSteps: Int64 = 1
  }

  /// Status 04 between these seconds; 0 if never.
  package struct Halt: Sendable {
    package var from: Int32 = 0
    package var to: Int32 = 0
  }

  package var exchange: Exchange
  package var kind: InstrumentKind
  package var board: Board
  package var behaviour: Behaviour
  package var scale: UInt8
  /// Eligible for the 15:05–15:30 fixed-price session on this date.
  package var afterHours: Bool
  package var tick: Int64
  package var order = Order()
  package var previousClose: Int64
  /// What its prices walk around; 0 for the previous close.
  package var center: Int64 = 0
  package var limits = Limits()
  package var pace = Pace()
  /// Published in the seconds that leave this remainder when divided by the period.
  package var phase: Int32 = 0
  /// Of 1,000 rows with trades right after another, as many have the stamp of that one.
  var keptStampsPerMille: Int64 = 0
  package var halt = Halt()

  package var isIndex: Bool { kind == .index }
  package var isShanghaiIndex: Bool { kind == .index && exchange == .shanghai }
  /// One that can trade today at all.
  package var trades: Bool {
    switch behaviour {
    case .untraded, .haltedAllDay, .haltedUnmarked, .delisted, .notListed: false
    default: true
    }
  }

  /// A price on tick and inside the limits.
  @inline(__always)
  package func clamped(_ price: Int64) -> Int64 {
    if limits.up > 0 { return min(max(price, limits.down), limits.up) }
    return max(price, 10 * tick)
  }

  @inline(__always)
  package func onTick(_ price: Int64) -> Int64 { price - price % tick }
}
