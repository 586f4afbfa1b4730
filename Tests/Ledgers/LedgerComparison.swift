import ExchangeSimulator
import Market
import TestExchange

/// The ledgers against what somebody else made of the day: every difference a readable line.

/// Gathers differences, and stops writing them down when they become a flood.
struct Differences {
  static let linesMax = 200

  private(set) var lines: [String] = []
  private var unwritten = 0

  mutating func add(_ line: @autoclosure () -> String) {
    if lines.count < Differences.linesMax { lines.append(line()) } else { unwritten += 1 }
  }

  var report: [String] {
    unwritten == 0 ? lines : lines + ["… and \(unwritten) differences more"]
  }
}

extension ObservableLedger {
  /// What differs from these rows; empty if nothing does. Compares minute candles field by field,
  /// gaps, certificates, and day candles and after-hours candles if there are any. Rows of other
  /// trading days are none of this ledger's business and passed over, and of an instrument with a
  /// false row that cannot be known for one only the exchange's totals are compared.
  package func differences(candles: [Candle], gaps: [Gap], certificates: [DayCertificate])
    -> [String]
  {
    var differences = Differences()
    let today = candles.filter { $0.tradingDay == day && !hidden.contains($0.symbol) }
    compareMinutes(today.filter { $0.timeframe == .minute1 }, &differences)
    compareDays(today.filter { $0.timeframe == .day1 }, &differences)
    compareAfterHours(today.filter { $0.timeframe == .afterHours }, &differences)
    compareGaps(
      gaps.filter { $0.tradingDay == day && !hidden.contains($0.symbol) }, &differences)
    compareCertificates(certificates.filter { $0.tradingDay == day }, &differences)
    return differences.report
  }

  private func compareMinutes(_ candles: [Candle], _ differences: inout Differences) {
    var given = Array(repeating: false, count: symbols.count * Calculation.minutes)
    for candle in candles {
      guard let place = places[candle.symbol] else {
        differences.add("\(candle.symbol) \(candle.openedAt): no such instrument in the ledger")
        continue
      }
      let second = candle.openedAt.shanghaiSecondOfDay
      guard let minute = Calculation.minute(openingAt: second) else {
        differences.add("\(candle.symbol) \(candle.openedAt): opens at no minute of the day")
        continue
      }
      let cell = place * Calculation.minutes + minute
      if given[cell] { differences.add("\(candle.symbol) \(candle.openedAt): given twice") }
      given[cell] = true
      guard let row = pages[place]?.rows[minute] else {
        differences.add("\(candle.symbol) \(candle.openedAt): no candle expected")
        continue
      }
      let expected = self.candle(row, place: place, minute: minute)
      if !tolerances[place].accepts(candle, expected) {
        differences.add(Self.line(expected, candle))
      }
    }
    for place in symbols.indices where !hidden.contains(symbols[place]) {
      guard let page = pages[place] else { continue }
      for minute in 0..<Calculation.minutes where !given[place * Calculation.minutes + minute] {
        guard let row = page.rows[minute] else { continue }
        let expected = candle(row, place: place, minute: minute)
        differences.add("\(expected.symbol) \(expected.openedAt): candle missing")
      }
    }
  }

  private static func line(_ expected: Candle, _ candle: Candle) -> String {
    var parts: [String] = []
    func compare(_ name: String, _ expected: some Equatable, _ found: some Equatable) {
      if "\(expected)" != "\(found)" { parts.append("\(name) \(found), expected \(expected)") }
    }
    compare("closed_at", expected.closedAt, candle.closedAt)
    compare("open", expected.open.normalized, candle.open.normalized)
    compare("high", expected.high.normalized, candle.high.normalized)
    compare("low", expected.low.normalized, candle.low.normalized)
    compare("close", expected.close.normalized, candle.close.normalized)
    compare("volume", expected.volume.normalized, candle.volume.normalized)
    compare("turnover", expected.turnover?.normalized, candle.turnover?.normalized)
    compare("flags", expected.flags.rawValue, candle.flags.rawValue)
    compare("source", expected.source.rawValue, candle.source.rawValue)
    return "\(candle.symbol) \(candle.openedAt): " + parts.joined(separator: "; ")
  }

  private func compareDays(_ candles: [Candle], _ differences: inout Differences) {
    for candle in candles {
      guard let place = places[candle.symbol], let row = pages[place]?.day else {
        differences.add("\(candle.symbol): day candle of an instrument never seen")
        continue
      }
      let price = { (units: Int64) in ExactDecimal(units: units, scale: scales[place]) }
      let tolerance = tolerances[place]
      let isEqual =
        tolerance.accepts(candle.open, price(row.open))
        && tolerance.accepts(candle.high, price(row.high))
        && tolerance.accepts(candle.low, price(row.low))
        && tolerance.accepts(candle.close, price(row.close))
        && Tolerance.accepts(
          candle.volume, ExactDecimal(row.volume), candle.turnover, money(row.turnover),
          ends: row.flags.contains(.coarse) ? 1 : 0)
      if !isEqual { differences.add("\(candle.symbol): day candle \(candle), expected \(row)") }
    }
  }

  private func compareAfterHours(_ candles: [Candle], _ differences: inout Differences) {
    for candle in candles {
      let page = places[candle.symbol].flatMap { pages[$0] }
      let isEqual =
        candle.volume == ExactDecimal(page?.afterHours.volume ?? -1)
        && candle.turnover == money(page?.afterHours.turnover ?? -1)
      if !isEqual {
        differences.add(
          "\(candle.symbol): after hours \(candle.volume) \(candle.turnover ?? .zero)")
      }
    }
  }

  private func compareGaps(_ gaps: [Gap], _ differences: inout Differences) {
    var expected: [Gap: Int] = [:]
    for place in symbols.indices where !hidden.contains(symbols[place]) {
      for hole in pages[place]?.holes ?? [] {
        expected[gap(hole, place: place)] = hole.isCoarse ? 2 : 0
      }
    }
    for gap in gaps where expected.removeValue(forKey: gap) == nil {
      let same = expected.keys.first { expected in
        (gap.symbol, gap.from, gap.to, gap.cause)
          == (expected.symbol, expected.from, expected.to, expected.cause)
      }
      let isSame = same.map { other in
        Tolerance.accepts(
          gap.volume, other.volume, gap.turnover, other.turnover, ends: expected[other] ?? 0)
      }
      if let same, isSame == true {
        expected[same] = nil
      } else {
        differences.add("gap not expected: \(Self.text(gap))")
      }
    }
    for gap in expected.keys.sorted(by: { ($0.symbol, $0.from) < ($1.symbol, $1.from) }) {
      differences.add("gap missing: \(Self.text(gap))")
    }
  }

  private static func text(_ gap: Gap) -> String {
    "\(gap.symbol) \(gap.from) to \(gap.to), volume \(gap.volume), turnover \(gap.turnover), "
      + gap.cause.name
  }

  private func compareCertificates(
    _ certificates: [DayCertificate], _ differences: inout Differences
  ) {
    var given: Set<Symbol> = []
    for var certificate in certificates {
      // The ledger is of what traded.
      certificate.reference = nil
      if !given.insert(certificate.symbol).inserted {
        differences.add("\(certificate.symbol): two audits")
      }
      guard let expected = self.certificate(of: certificate.symbol) else {
        differences.add("\(certificate.symbol): audit of an instrument never seen")
        continue
      }
      let isEqual =
        hidden.contains(certificate.symbol)
        ? (expected.exchangeVolume, expected.exchangeTurnover)
          == (certificate.exchangeVolume, certificate.exchangeTurnover)
        : accepts(certificate, expected)
      if !isEqual { differences.add("audit \(certificate), expected \(expected)") }
    }
    for place in symbols.indices where pages[place] != nil && !given.contains(symbols[place]) {
      differences.add("\(symbols[place]): audit missing")
    }
  }

  /// The exchange's totals are exact unless the day ended on rounded ones; what of it lies in
  /// minutes and what in gaps is known to a lot for each end of a gap between rounded totals.
  private func accepts(_ found: DayCertificate, _ expected: DayCertificate) -> Bool {
    if found == expected { return true }
    guard let place = places[found.symbol], let page = pages[place], page.hasCoarse else {
      return false
    }
    let dayEnds = expected.isCoarse ? 1 : 0
    let ends = 2 * page.holes.count(where: \.isCoarse) + dayEnds
    var settled = found
    settled.exchangeVolume = expected.exchangeVolume
    settled.exchangeTurnover = expected.exchangeTurnover
    settled.minuteVolume = expected.minuteVolume
    settled.minuteTurnover = expected.minuteTurnover
    settled.gapVolume = expected.gapVolume
    settled.gapTurnover = expected.gapTurnover
    return settled == expected && found.isBalanced
      && (found.exchangeVolume == nil) == (expected.exchangeVolume == nil)
      && Tolerance.accepts(
        found.exchangeVolume ?? .zero, expected.exchangeVolume ?? .zero, found.exchangeTurnover,
        expected.exchangeTurnover, ends: dayEnds)
      && Tolerance.accepts(
        found.minuteVolume, expected.minuteVolume, found.minuteTurnover, expected.minuteTurnover,
        ends: ends)
  }
}

extension TrueLedger {
  /// Volume and turnover of every minute against what really traded; empty if all are equal. Only
  /// meaningful for a day of which every publication was seen, with stamps on the minute's grid.
  package func differences(candles: [Candle]) -> [String] {
    var differences = Differences()
    var left = minutes.map { ($0.volume, $0.turnover) }
    let places = Dictionary(uniqueKeysWithValues: symbols.enumerated().map { ($1, $0) })
    for candle in candles where candle.timeframe == .minute1 && candle.tradingDay == day {
      guard let place = places[candle.symbol],
        let minute = Calculation.minute(openingAt: candle.openedAt.shanghaiSecondOfDay)
      else {
        differences.add("\(candle.symbol) \(candle.openedAt): no minute of this market")
        continue
      }
      let cell = place * TrueLedger.minutesPerDay + minute
      let (volume, turnover) = left[cell]
      if candle.volume != ExactDecimal(volume)
        || candle.turnover != ExactDecimal(units: turnover, scale: 3)
      {
        differences.add(
          "\(candle.symbol) \(candle.openedAt): volume \(candle.volume), turnover "
            + "\(candle.turnover ?? .zero); in truth \(volume) and "
            + "\(ExactDecimal(units: turnover, scale: 3))"
        )
      }
      left[cell] = (0, 0)
    }
    for cell in left.indices where left[cell].0 != 0 {
      let minute = cell % TrueLedger.minutesPerDay
      let opening = Timestamp(day: day, secondOfDay: Grid.opening(ofMinute: minute))
      differences.add(
        "\(symbols[cell / TrueLedger.minutesPerDay]) \(opening): \(left[cell].0) traded, no candle")
    }
    return differences.report
  }
  /// The certificates that say other totals than what really traded; one of a day whose end was
  /// not seen says none.
  package func differences(certificates: [DayCertificate]) -> [String] {
    var differences = Differences()
    for certificate in certificates where certificate.tradingDay == day {
      guard let volume = certificate.exchangeVolume, let turnover = certificate.exchangeTurnover,
        let traded = totals(of: certificate.symbol), (volume, turnover) != traded
      else { continue }
      differences.add(
        "\(certificate.symbol): certified \(volume) and \(turnover), traded \(traded.volume) and "
          + "\(traded.turnover)")
    }
    return differences.report
  }

  /// How much volume these minutes have that traded in another one, of how much there is. Shares
  /// and funds only: an index has the volume of its members.
  package func displacement(candles: [Candle]) -> (moved: Int64, total: Int64) {
    let places = Dictionary(uniqueKeysWithValues: symbols.enumerated().map { ($1, $0) })
    var (moved, total): (Int64, Int64) = (0, 0)
    for candle in candles where candle.timeframe == .minute1 && candle.tradingDay == day {
      guard let place = places[candle.symbol], Instrument.classify(candle.symbol)?.kind != .index,
        let minute = Calculation.minute(openingAt: candle.openedAt.shanghaiSecondOfDay),
        let volume = try? candle.volume.rescaled(places: 0).units
      else { continue }
      moved += max(volume - minutes[place * TrueLedger.minutesPerDay + minute].volume, 0)
      total += volume
    }
    return (moved, total)
  }
}
