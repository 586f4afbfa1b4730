import Alerts
import Market
import Testing

/// Whether one alert fires on one row.
struct AlertTests {
  private static let day = TradingDay(daysSince1970: 20_640)

  private func price(_ cents: Int64) -> ExactDecimal { ExactDecimal(units: cents, scale: 2) }

  private func alert(_ condition: AlertCondition, _ threshold: Int64? = nil) -> Alert {
    var arming = AlertArming(at: Timestamp(day: Self.day, secondOfDay: 36_000), epoch: 1, seq: 10)
    arming.day = Self.day
    (arming.high, arming.low, arming.last) = (price(1_000), price(900), price(950))
    return Alert(
      id: 1, userID: 1, symbol: Symbol("sh600000"), source: "one", condition: condition,
      threshold: threshold.map(price), arming: arming)
  }

  private func reading(last: Int64, high: Int64 = 1_000, low: Int64 = 900) -> DayReading {
    var reading = DayReading(day: Self.day, volume: ExactDecimal(500))
    (reading.last, reading.high, reading.low) = (price(last), price(high), price(low))
    (reading.previousClose, reading.limitUp) = (price(1_000), price(1_100))
    return reading
  }

  @Test func `a price at the threshold fires, and one short of it does not`() {
    #expect(alert(.above, 960).evidence(in: reading(last: 960)) == .init(.last, price(960)))
    #expect(alert(.above, 960).evidence(in: reading(last: 959)) == nil)
    #expect(alert(.below, 940).evidence(in: reading(last: 940)) == .init(.last, price(940)))
    #expect(alert(.below, 940).evidence(in: reading(last: 941)) == nil)
  }

  @Test func `a spike between two polls counts by the day's high and low`() {
    let up = alert(.above, 1_050).evidence(in: reading(last: 950, high: 1_051))
    #expect(up == .init(.high, price(1_051)))
    let down = alert(.below, 890).evidence(in: reading(last: 950, low: 889))
    #expect(down == .init(.low, price(889)))
  }

  @Test func `what the day reached before the arming does not fire, and its minutes tell`() {
    let seen = reading(last: 950)
    #expect(alert(.above, 990).evidence(in: seen) == nil)
    #expect(alert(.above, 990).needsMinutes(of: seen))
    #expect(!alert(.above, 1_001).needsMinutes(of: seen))
    var settled = seen
    settled.minutes = [
      MinuteExtremes(
        openedAt: Timestamp(day: Self.day, secondOfDay: 36_060), high: price(991), low: price(950))
    ]
    #expect(alert(.above, 990).evidence(in: settled) == .init(.minute, price(991)))
    settled.minutes = []
    #expect(alert(.above, 990).evidence(in: settled) == nil)
  }

  @Test func `a percentage is of the previous close, without rounding`() {
    let alert = alert(.changePercentBelow, -333)  // −3.33 %
    #expect(alert.evidence(in: reading(last: 967, high: 1_000, low: 967)) == nil)
    var exact = reading(last: 9_667, low: 9_667)
    exact.last = ExactDecimal(units: 96_670, scale: 4)
    exact.low = exact.last
    exact.previousClose = price(1_000)
    #expect(alert.evidence(in: exact) == .init(.last, exact.last))
    exact.last = ExactDecimal(units: 96_671, scale: 4)
    exact.low = exact.last
    // 9.6671 is below every low of the arming's day, and not by 3.33 %.
    #expect(alert.evidence(in: exact) == nil)
  }

  @Test func `volume fires when the day's total gets there`() {
    var high = alert(.volumeAbove)
    high.threshold = ExactDecimal(500)
    #expect(high.evidence(in: reading(last: 950)) == .init(.volume, ExactDecimal(500)))
    high.threshold = ExactDecimal(501)
    #expect(high.evidence(in: reading(last: 950)) == nil)
  }

  @Test func `limit-up is touched at the limit and opens below it, but not before it was touched`()
  {
    let sealed = reading(last: 1_100, high: 1_100)
    let open = reading(last: 1_099, high: 1_100)
    #expect(alert(.limitUpTouched).evidence(in: sealed) == .init(.last, price(1_100)))
    #expect(alert(.limitUpTouched).evidence(in: reading(last: 1_099, high: 1_099)) == nil)
    #expect(alert(.limitUpOpened).evidence(in: sealed) == nil)
    #expect(alert(.limitUpOpened).evidence(in: open) == .init(.last, price(1_099)))
    var later = alert(.limitUpOpened)
    // It had been touched, and was open, when it was armed.
    later.arming.high = price(1_100)
    #expect(later.evidence(in: open) == nil && later.needsMinutes(of: open))
    later.arming.last = price(1_100)
    #expect(later.evidence(in: open) != nil)
  }

  @Test func `a day that went above the limit of today's name had another, or none`() {
    for (high, limit) in [(Int64(1_100), Optional(price(1_100))), (1_101, nil)] {
      var seen = reading(last: 1_050, high: high)
      seen.setLimitUp(price(1_100))
      #expect(seen.limitUp == limit)
      #expect((alert(.limitUpTouched).evidence(in: seen) != nil) == (limit != nil))
    }
  }

  @Test func `a seal that opened and closed between two polls is in the minutes`() {
    func minute(_ number: Int, _ high: Int64, _ low: Int64) -> MinuteExtremes {
      MinuteExtremes(
        openedAt: Timestamp(day: Self.day, secondOfDay: 36_000 + 60 * number), high: price(high),
        low: price(low))
    }
    var sealed = reading(last: 1_100, high: 1_100)
    #expect(alert(.limitUpOpened).needsMinutes(of: sealed))
    sealed.minutes = [minute(0, 1_050, 1_000), minute(1, 1_100, 1_050), minute(2, 1_100, 1_100)]
    #expect(alert(.limitUpOpened).evidence(in: sealed) == nil)
    sealed.minutes?.append(minute(3, 1_100, 1_098))
    #expect(alert(.limitUpOpened).evidence(in: sealed) == .init(.minute, price(1_098)))
  }

  @Test func `an alert of a series without a quote does not fire for days before it was made`() {
    var waiting = alert(.above, 960)
    // It is still the evening of the day before in New York.
    waiting.arming = AlertArming(
      at: Timestamp(day: Self.day, secondOfDay: 7_200), epoch: 1, seq: 10)
    var seen = reading(last: 970)
    #expect(waiting.evidence(in: seen) != nil && waiting.firstDay == Self.day)
    seen.day = Self.day.advanced(by: -1)
    #expect(waiting.evidence(in: seen) == nil)
    let book = AlertBook(alerts: [waiting], firings: [])
    #expect(book.firstDay(of: waiting.subject) == Self.day)
    waiting.symbol = Symbol("AAPL")
    #expect(waiting.evidence(in: seen) != nil && waiting.firstDay == seen.day)
    seen.day = Self.day.advanced(by: -2)
    #expect(waiting.evidence(in: seen) == nil)
  }

  @Test func `a firing is withdrawn by what contradicts it, not by a bar that does not tell`() {
    for condition in [AlertCondition.changePercentAbove, .limitUpTouched, .limitUpOpened] {
      let fired = AlertFiring(
        id: 1, key: FiringKey(alertID: 1, revision: 1, day: nil), day: Self.day,
        symbol: Symbol("sh600000"), source: "one", condition: condition, threshold: price(500),
        epoch: 1, seq: 11, isWithdrawn: false)
      let subject = fired.subject
      func look(at reading: DayReading) -> [AlertNotice] {
        var book = AlertBook(alerts: [], firings: [fired])
        let position = FeedPosition(epoch: 1, seq: 12, at: Timestamp(microseconds: 0))
        return book.look(at: reading, of: subject, position: position, isCandle: true).notices
      }
      var bar = reading(last: 1_040, high: 1_040)
      #expect(look(at: bar).map(\.kind) == [.withdrawn(firing: 1)])
      (bar.previousClose, bar.limitUp) = (nil, nil)
      #expect(look(at: bar).isEmpty, "\(condition)")
    }
  }

  @Test func `what fires once fires with an older day, too, where that is seen last`() {
    for repeats in [Alert.Repeats.once, .daily] {
      var alert = alert(.above, 1_050)
      alert.repeats = repeats
      var book = AlertBook(alerts: [alert], firings: [])
      let days = [2, 1, 1, 2, 3].flatMap { ahead in
        var seen = reading(last: 1_060, high: 1_060)
        seen.day = Self.day.advanced(by: ahead)
        let position = FeedPosition(epoch: 1, seq: 12, at: Timestamp(microseconds: 0))
        return book.look(at: seen, of: alert.subject, position: position, isCandle: true).notices
          .map { Self.day.distance(to: $0.day) }
      }
      #expect(days == (repeats == .once ? [2, 1] : [2, 1, 3]))
    }
  }

  @Test func `days before the arming never fire`() {
    var early = reading(last: 2_000, high: 2_000)
    early.day = Self.day.advanced(by: -1)
    for condition in AlertCondition.allCases {
      let threshold: Int64? = condition.threshold == nil ? nil : 1
      #expect(alert(condition, threshold).evidence(in: early) == nil)
    }
  }
}
