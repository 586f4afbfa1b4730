import Market

/// What of a row met a condition; raw values are those of the API and of the database.
package enum AlertBasis: String, Sendable {
  case last, high, low, minute, volume
  case gap, stall
  /// Of a withdrawn notice: the row was taken out.
  case correction
  /// Of an alert that ended: what its instrument became by.
  case merger, conversion
}

package struct AlertEvidence: Sendable, Hashable {
  package let basis: AlertBasis
  package let value: ExactDecimal?

  package init(_ basis: AlertBasis, _ value: ExactDecimal?) {
    self.basis = basis
    self.value = value
  }
}

extension Alert {
  /// The earliest day that it may fire on. Of a series without a quote then it is the day of the
  /// arming, at its exchange: what is no instrument of China's may be American.
  package var firstDay: TradingDay {
    if let day = arming.day { return day }
    let isChinese = symbol.flatMap { Instrument.classify($0) } != nil
    return isChinese ? arming.at.shanghaiDay : arming.at.newYorkDay
  }

  /// Whether a day that was stored behind the arming meets the condition. The day's extremes
  /// count where they grew since then: so a spike between two polls counts, and one before does
  /// not. Where the day had gone as far before the arming, its minutes tell.
  package func evidence(in reading: DayReading) -> AlertEvidence? {
    if reading.day < firstDay { return nil }
    switch condition.rule {
    case .price: return crossing(in: reading)
    case .volume:
      guard let threshold, reading.volume >= threshold else { return nil }
      return AlertEvidence(.volume, reading.volume)
    case .opening: return opening(in: reading)
    case .event: return nil
    }
  }

  /// What a day's candle says of the time behind the arming: its close and its volume may be those
  /// that the day had then.
  func behindArming(_ candle: DayReading) -> DayReading {
    guard candle.day == arming.day else { return candle }
    var reading = candle
    reading.last = nil
    if let before = arming.volume, candle.volume <= before { reading.volume = .zero }
    return reading
  }

  /// Whether `evidence` says more with the minutes since the arming.
  package func needsMinutes(of reading: DayReading) -> Bool {
    guard reading.minutes == nil, evidence(in: reading) == nil else { return false }
    switch condition.rule {
    case .price: return reading.day == arming.day && isMet(by: reading) == true
    case .opening: return isMet(by: reading) == true
    case .volume, .event: return false
    }
  }

  /// Whether the day as a whole meets the condition, whenever it was armed: where a firing's does
  /// no more, the row that fired it was taken out. nil where the reading does not tell: a bar of
  /// the day may come without the close before it, or the limit.
  package func isMet(by reading: DayReading) -> Bool? {
    switch condition.rule {
    case .volume: return threshold.map { reading.volume >= $0 }
    case .opening:
      guard let limit = reading.limitUp, let high = reading.high else { return nil }
      return high >= limit
    case .event: return true
    case .price:
      guard let target = target(in: reading), let extreme = extreme(in: reading) else { return nil }
      return reaches(extreme, target)
    }
  }

  // MARK: Prices

  private var isUpward: Bool {
    if case .price(let isUpward, _) = condition.rule { isUpward } else { true }
  }

  private func target(in reading: DayReading) -> AlertTarget? {
    guard case .price(_, let target) = condition.rule else { return nil }
    return target(self, reading)
  }

  private func reaches(_ price: ExactDecimal, _ target: AlertTarget) -> Bool {
    var compared = price
    if let close = target.previousClose {
      guard let change = try? (price - close) * ExactDecimal(100) else { return false }
      compared = change
    }
    return isUpward ? compared >= target.price : compared <= target.price
  }

  private func extreme(in reading: DayReading) -> ExactDecimal? {
    isUpward ? reading.high : reading.low
  }

  private func crossing(in reading: DayReading) -> AlertEvidence? {
    guard let target = target(in: reading) else { return nil }
    if let last = reading.last, reaches(last, target) { return AlertEvidence(.last, last) }
    let extreme = extreme(in: reading)
    if let extreme, reaches(extreme, target), hasGrown(extreme, in: reading) {
      return AlertEvidence(isUpward ? .high : .low, extreme)
    }
    let prices = reading.minutes?.lazy.map { isUpward ? $0.high : $0.low }
    return prices?.first { reaches($0, target) }.map { AlertEvidence(.minute, $0) }
  }

  /// Whether the extreme is none that the day had when it was armed.
  private func hasGrown(_ extreme: ExactDecimal, in reading: DayReading) -> Bool {
    guard reading.day == arming.day, let before = isUpward ? arming.high : arming.low else {
      return true
    }
    return isUpward ? extreme > before : extreme < before
  }

  // MARK: Limit-up opened

  /// It was at limit-up since the arming, and then below.
  private func opening(in reading: DayReading) -> AlertEvidence? {
    guard let limit = reading.limitUp, let high = reading.high, high >= limit else { return nil }
    let isArmingDay = reading.day == arming.day
    let wasSealed = isArmingDay && arming.last.map { $0 >= limit } ?? false
    let hasTouched = !isArmingDay || arming.high.map { $0 < limit } ?? true
    if wasSealed || hasTouched, let last = reading.last, last < limit {
      return AlertEvidence(.last, last)
    }
    let minutes = reading.minutes ?? []
    let first = wasSealed ? 0 : minutes.firstIndex { $0.high >= limit }.map { $0 + 1 }
    guard let first else { return nil }
    if let opened = minutes[first...].first(where: { $0.low < limit }) {
      return AlertEvidence(.minute, opened.low)
    }
    guard let last = reading.last, last < limit else { return nil }
    return AlertEvidence(.last, last)
  }
}
