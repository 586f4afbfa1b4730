import Market

/// What an order is judged by beside its code: facts of the day that a code does not show.
package struct TradedInstrument: Sendable, Hashable {
  package let instrument: Instrument
  /// The exchange's own limits, where a source has them: they prevail over the table.
  package var statedLimits: StatedLimits
  /// On an operator's list of funds that may be sold on the day of their purchase, beside those
  /// that the rules have. No code and no name shows it.
  package var isOnSameDayList: Bool

  package init(
    _ instrument: Instrument, statedLimits: StatedLimits = .unstated,
    isOnSameDayList: Bool = false
  ) {
    self.instrument = instrument
    self.statedLimits = statedLimits
    self.isOnSameDayList = isOnSameDayList
  }

  /// Whether what is bought may be sold on the same day (T+0); else from the next one on (T+1).
  package func sellsSameDay(on day: TradingDay) -> Bool {
    isOnSameDayList && instrument.kind == .fund
      || RuleBook.current.sellsSameDay(instrument, on: day)
  }

  /// Whether neither a source nor the table has its limits, though it has some.
  package func hasUnknownBand(on day: TradingDay) -> Bool {
    statedLimits == .unstated && !PriceLimit.isKnown(for: instrument, on: day)
  }

  /// Prices between which all its trades of the day are; nil: any.
  func widestBand(previousClose: ExactDecimal, on day: TradingDay) -> PriceBand? {
    hasUnknownBand(on: day)
      ? PriceLimit.widest(for: instrument, previousClose: previousClose, on: day)
      : band(previousClose: previousClose, on: day)
  }

  /// The legal prices of the day; nil where no limit applies, or it is not known.
  package func band(previousClose: ExactDecimal, on day: TradingDay) -> PriceBand? {
    statedLimits.band(
      or: PriceLimit.band(
        for: instrument, previousClose: previousClose, on: day, specialTreatment: false,
        tradingDaysSinceListing: nil))
  }
}

/// A moment on the market's clock. An order that is placed after the close is one for the next
/// trading day: its moment is second 0 of that day.
package struct TradingMoment: Sendable, Hashable {
  package let day: TradingDay
  package let secondOfDay: Int

  package init(day: TradingDay, secondOfDay: Int) {
    self.day = day
    self.secondOfDay = secondOfDay
  }
}

/// What the account has of the instrument that no open order claims.
package struct Holding: Sendable, Hashable {
  /// May be sold today.
  package let sellable: ExactDecimal
  /// Bought today and not to be sold before tomorrow.
  package let today: ExactDecimal

  package static let none = Holding(sellable: .zero, today: .zero)

  package init(sellable: ExactDecimal, today: ExactDecimal) {
    self.sellable = sellable
    self.today = today
  }
}

/// What is traded on paper at all: the one rule of the broker, and of APIs that show it beforehand.
extension Instrument {
  /// Whether orders of it are taken: of shares, funds and convertible bonds at the mainland's
  /// exchanges.
  package var isTradedOnPaper: Bool {
    Self.tradedKinds.contains(kind) && Self.tradedExchanges.contains(exchange)
  }

  private static let tradedKinds: Set = [InstrumentKind.stock, .fund, .convertibleBond]
  private static let tradedExchanges: Set = [Exchange.shanghai, .shenzhen, .beijing]
}
