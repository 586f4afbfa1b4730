import Alerts
import Market
import TestSupport
import Testing

/// Two evaluators that come and go, against one that sees every stored state.
struct AlertPropertyTests {
  private static let series = AlertSubject(symbol: Symbol("sh600000"), source: "one")

  private func alerts(_ count: Int, in market: MarketModel, using random: inout SplitMix) -> [Alert]
  {
    let conditions: [AlertCondition] = [
      .above, .below, .changePercentAbove, .changePercentBelow, .volumeAbove,
    ]
    return (0..<count).map { number in
      let condition = conditions[number % conditions.count]
      let place = Int.random(in: 0..<MarketModel.minutesPerDay * 2, using: &random)
      let threshold =
        switch condition {
        case .above: ExactDecimal(units: .random(in: 980...1_080, using: &random), scale: 2)
        case .below: ExactDecimal(units: .random(in: 920...1_020, using: &random), scale: 2)
        case .changePercentAbove: ExactDecimal(units: .random(in: 0...60, using: &random), scale: 1)
        case .changePercentBelow:
          ExactDecimal(units: .random(in: -60...0, using: &random), scale: 1)
        default: ExactDecimal(.random(in: 100...2_600, using: &random))
        }
      return Alert(
        id: Int64(number + 1), userID: 1, symbol: Self.series.symbol, source: Self.series.source,
        condition: condition, threshold: threshold, repeats: number % 3 == 0 ? .daily : .once,
        arming: market.arming(at: place))
    }
  }

  /// What a gateway does with a state, or after a start.
  private func turn(
    _ book: inout AlertBook, at state: MarketModel.State, in market: MarketModel,
    examining: Bool
  ) -> [AlertNotice] {
    let position = FeedPosition(epoch: 1, seq: state.seq, at: state.at)
    var notices: [AlertNotice] = []
    var unsettled: [UnsettledAlert] = []
    if examining {
      var day = MarketModel.firstDay
      while day < state.reading.day {
        if let candle = market.candle(of: day) {
          let seen = book.look(at: candle, of: Self.series, position: position, isCandle: true)
          notices += seen.notices
          unsettled += seen.unsettled
        }
        day = day.advanced(by: 1)
      }
    }
    let settle = { (entries: [UnsettledAlert], book: inout AlertBook) -> [AlertNotice] in
      entries.compactMap { entry in
        var entry = entry
        entry.reading.minutes = market.minutes(
          of: entry.reading.day, through: state.seq, since: entry.since)
        return book.settle(entry)
      }
    }
    notices += settle(unsettled, &book)
    let seen = book.look(at: state.reading, of: Self.series, position: position)
    return notices + seen.notices + settle(seen.unsettled, &book)
  }

  /// - Returns: the store at the end of the market, after a last look.
  private func run(
    _ alerts: [Alert], in market: MarketModel, using random: inout SplitMix
  ) -> AlertStoreModel {
    var store = AlertStoreModel()
    var books: [AlertBook?] = [nil, nil]
    // How far each has read. One may be behind, although what it knows of the alerts is new.
    var reached = [0, 0]
    // How many changes each was told.
    var told = [0, 0]
    for (place, state) in market.states.enumerated() {
      let armed = alerts.filter { $0.arming.seq == state.seq }
      for alert in armed { store.add(alert) }
      let isLast = place == market.states.count - 1
      for gateway in books.indices {
        if Int.random(in: 0..<10, using: &random) == 0 { books[gateway] = nil }
        let isUp = isLast || Int.random(in: 0..<8, using: &random) > 1
        guard isUp else {
          books[gateway] = nil
          continue
        }
        let starts = books[gateway] == nil || isLast
        // A book may be older than the store: the other gateway wrote meanwhile.
        let isTold = !armed.isEmpty || Bool.random(using: &random)
        var book = starts ? store.book : books[gateway] ?? store.book
        if isTold { book.replace(store.part(of: Set(store.changes[told[gateway]...]))) }
        if starts || isTold { told[gateway] = store.changes.count }
        let behind = starts ? 0 : max(0, Int.random(in: -6...3, using: &random))
        reached[gateway] = max(reached[gateway], place - behind)
        let notices = turn(
          &book, at: market.states[reached[gateway]], in: market, examining: starts)
        store.write(notices, standing: market.arming(at: place))
        books[gateway] = book
      }
    }
    return store
  }

  /// Every state behind the arming in turn, as docs/gateway.md#alerts describes it.
  private func expected(_ alert: Alert, in market: MarketModel) -> Set<FiringKey> {
    var keys: Set<FiringKey> = []
    var before = market.states.first { $0.seq == alert.arming.seq }
    for state in market.states where state.seq > alert.arming.seq {
      let (now, isSameDay) = (state.reading, state.reading.day == before?.reading.day)
      var prices = [now.last]
      if !isSameDay || now.high != before?.reading.high { prices.append(now.high) }
      if !isSameDay || now.low != before?.reading.low { prices.append(now.low) }
      if prices.compactMap(\.self).contains(where: { meets(alert, $0, now) }) {
        keys.insert(alert.key(on: now.day))
      }
      before = state
    }
    return keys
  }

  private func meets(_ alert: Alert, _ price: ExactDecimal, _ day: DayReading) -> Bool {
    guard let threshold = alert.threshold, let close = day.previousClose else { return false }
    func percent() -> Double {
      (Double(price.description) ?? 0) / (Double(close.description) ?? 1) * 100 - 100
    }
    // Tenths of a per cent and cents around 10.00: apart by far more than a Double errs, or equal.
    let slack = 1e-9
    let bound = Double(threshold.description) ?? 0
    switch alert.condition {
    case .above: return price >= threshold
    case .below: return price <= threshold
    case .changePercentAbove: return percent() >= bound - slack
    case .changePercentBelow: return percent() <= bound + slack
    default: return day.volume >= threshold
    }
  }

  @Test func `each alert that every state together fires fires once, and no other`() {
    let seed = UInt64.random(in: .min ... .max)
    var random = SplitMix(seed: seed)
    var (fired, total) = (0, 0)
    for _ in 0..<200 {
      let market = MarketModel(errors: 0, using: &random)
      let alerts = alerts(50, in: market, using: &random)
      let store = run(alerts, in: market, using: &random)
      let found = Dictionary(grouping: store.firings, by: \.key.alertID)
      for alert in alerts {
        let keys = (found[alert.id] ?? []).map(\.key)
        let wanted = expected(alert, in: market)
        #expect(keys.count == Set(keys).count && Set(keys) == wanted, "seed \(seed): \(alert)")
        fired += wanted.isEmpty ? 0 : 1
        total += 1
      }
      #expect(store.withdrawn.isEmpty, "seed \(seed)")
    }
    // Of 10,000, enough of both kinds that the comparison says something.
    #expect(total == 10_000 && (2_000...9_500).contains(fired), "seed \(seed): \(fired)")
  }

  @Test func `of rows that are taken out no firing stands, each is withdrawn once, none is lost`() {
    let seed = UInt64.random(in: .min ... .max)
    var random = SplitMix(seed: seed)
    var withdrawn = 0
    for _ in 0..<200 {
      let market = MarketModel(errors: 30, using: &random)
      let alerts = alerts(20, in: market, using: &random)
      let store = run(alerts, in: market, using: &random)
      #expect(Set(store.withdrawn).count == store.withdrawn.count, "seed \(seed)")
      withdrawn += store.withdrawn.count
      for alert in alerts {
        let standing = store.firings.filter { $0.key.alertID == alert.id && !$0.isWithdrawn }
        for firing in standing {
          let day = market.candle(of: firing.day)
          #expect(day.flatMap { alert.isMet(by: $0) } ?? false, "seed \(seed): \(firing)")
        }
        let days = Set(standing.map(\.day))
        #expect(days.count == standing.count, "seed \(seed): \(standing)")
        // Of the days that began behind the arming the candle alone decides.
        let due = (1..<MarketModel.days).map { MarketModel.firstDay.advanced(by: $0) }.filter {
          let arming = alert.arming.day ?? MarketModel.firstDay
          return $0 > arming && market.candle(of: $0).flatMap { alert.isMet(by: $0) } ?? false
        }
        if alert.repeats == .daily {
          #expect(days.isSuperset(of: due), "seed \(seed): \(alert) \(days) \(due)")
        } else {
          #expect(!standing.isEmpty || due.isEmpty, "seed \(seed): \(alert)")
        }
      }
    }
    #expect(withdrawn > 50, "seed \(seed): \(withdrawn)")
  }
}
