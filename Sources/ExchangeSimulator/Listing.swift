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
  package let exchange: Exchange
  package let kind: InstrumentKind
  package let board: Board
  package let behaviour: Behaviour
  package let previousClose: ExactDecimal
  /// nil where the day has no price limit.
  package let limitUp: ExactDecimal?
  package let limitDown: ExactDecimal?
  /// Scale of its prices on the wire.
  package let priceScale: UInt8
}

extension Listing {
  init(symbol: Symbol, name: [UInt8], _ traits: Traits) {
    let isListed = traits.behaviour != .delisted && traits.behaviour != .notListed
    func price(_ units: Int64) -> ExactDecimal { ExactDecimal(units: units, scale: traits.scale) }
    self.init(
      symbol: symbol, name: name, exchange: traits.exchange, kind: traits.kind,
      board: traits.board, behaviour: traits.behaviour,
      previousClose: isListed ? price(traits.previousClose) : .zero,
      limitUp: traits.limitUp > 0 ? price(traits.limitUp) : nil,
      limitDown: traits.limitUp > 0 ? price(traits.limitDown) : nil, priceScale: traits.scale)
  }
}

/// The plain numbers the stepping loop needs of a listing; prices in units of 10^-scale.
struct Traits: Sendable {
  var exchange: Exchange
  var kind: InstrumentKind
  var board: Board
  var behaviour: Behaviour
  var scale: UInt8
  /// Eligible for the 15:05–15:30 fixed-price session on this date.
  var afterHours: Bool
  var tick: Int64
  /// Smallest order, and what orders are multiples of.
  var orderMinimum: Int64
  var orderStep: Int64
  var previousClose: Int64
  /// What its prices walk around; 0 for the previous close.
  var center: Int64 = 0
  /// 0: no limit.
  var limitUp: Int64
  var limitDown: Int64
  /// Publications between two events of this instrument, on average.
  var gapSteps: Int64
  var tradeChancePerMille: Int64
  /// Mean size of a trade in `orderStep`s beyond the minimum.
  var sizeSteps: Int64
  /// Published in the seconds that leave this remainder when divided by the period.
  var phase: Int32 = 0
  /// Of 1,000 rows with trades right after another, as many have the stamp of that one.
  var keptStampsPerMille: Int64 = 0
  /// Status 04 from and to these seconds; 0 if never.
  var haltAt: Int32
  var resumeAt: Int32

  var isIndex: Bool { kind == .index }
  var isShanghaiIndex: Bool { kind == .index && exchange == .shanghai }
  /// One that can trade today at all.
  var trades: Bool {
    switch behaviour {
    case .untraded, .haltedAllDay, .haltedUnmarked, .delisted, .notListed: false
    default: true
    }
  }

  /// A price on tick and inside the limits.
  @inline(__always)
  func clamped(_ price: Int64) -> Int64 {
    if limitUp > 0 { return min(max(price, limitDown), limitUp) }
    return max(price, 10 * tick)
  }

  @inline(__always)
  func onTick(_ price: Int64) -> Int64 { price - price % tick }
}
