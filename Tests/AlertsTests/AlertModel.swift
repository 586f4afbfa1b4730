import Alerts
import Market
import TestSupport

/// A database of alerts and notifications in memory, with the rules of schema_app.sql.
struct AlertStoreModel {
  private(set) var alerts: [Int64: Alert] = [:]
  private(set) var firings: [AlertFiring] = []
  private(set) var withdrawn: [Int64] = []
  /// What is notified: the alerts that changed, or fired, in turn.
  private(set) var changes: [Int64] = []

  mutating func add(_ alert: Alert) {
    alerts[alert.id] = alert
    changes.append(alert.id)
  }

  func part(of ids: Set<Int64>) -> AlertBook.Part {
    AlertBook.Part(
      ids: ids, alerts: ids.compactMap { alerts[$0] },
      firings: firings.filter { ids.contains($0.key.alertID) })
  }

  var book: AlertBook { AlertBook(alerts: Array(alerts.values), firings: firings) }

  /// - Parameter standing: how the series stands now, for alerts that are armed again.
  mutating func write(_ notices: [AlertNotice], standing: AlertArming) {
    for notice in notices.sorted(by: { $0.day < $1.day }) {
      guard case .withdrawn(let id) = notice.kind else {
        fire(notice)
        continue
      }
      guard let place = firings.firstIndex(where: { $0.id == id }), !firings[place].isWithdrawn
      else { continue }
      firings[place].isWithdrawn = true
      changes.append(firings[place].key.alertID)
      withdrawn.append(id)
      let (key, day) = (firings[place].key, firings[place].day)
      guard let alert = alerts[key.alertID], alert.revision == key.revision,
        key.day == nil || day == standing.day
      else { continue }
      alerts[key.alertID]?.revision += 1
      alerts[key.alertID]?.isArmed = true
      // As it was armed, but by rows behind the one that took the firing back.
      var arming = AlertArming(
        at: alert.arming.at, epoch: notice.position.epoch, seq: notice.position.seq)
      arming.day = key.day == nil ? alert.arming.day : day
      if key.day == nil || day == alert.arming.day {
        (arming.high, arming.low) = (alert.arming.high, alert.arming.low)
        (arming.last, arming.volume) = (alert.arming.last, alert.arming.volume)
      }
      alerts[key.alertID]?.arming = arming
    }
  }

  private mutating func fire(_ notice: AlertNotice) {
    guard let alert = alerts[notice.key.alertID], alert.isArmed,
      alert.revision == notice.key.revision, !firings.contains(where: { $0.key == notice.key })
    else { return }
    changes.append(alert.id)
    firings.append(
      AlertFiring(
        id: Int64(firings.count + 1), key: notice.key, day: notice.day, symbol: alert.symbol,
        source: alert.source, condition: alert.condition, threshold: alert.threshold,
        epoch: notice.position.epoch, seq: notice.position.seq, isWithdrawn: false))
    if alert.repeats == .once { alerts[alert.id]?.isArmed = false }
  }
}

/// A series over some days: the states that the daemon stores, one a minute.
struct MarketModel {
  struct State {
    var reading: DayReading
    var seq: Int64
    var at: Timestamp
    var minute: MinuteExtremes
  }

  private(set) var states: [State] = []
  static let days = 4
  static let minutesPerDay = 24
  static let firstDay = TradingDay(daysSince1970: 20_640)

  /// - Parameter errors: how many of a thousand states are false, and taken out by the next.
  init(errors: Int, using random: inout SplitMix) {
    var cents: Int64 = 1_000
    for number in 0..<Self.days {
      let day = Self.firstDay.advanced(by: number)
      var truth = DayReading(day: day)
      truth.previousClose = ExactDecimal(units: cents, scale: 2)
      for minute in 0..<Self.minutesPerDay {
        cents = max(100, cents + .random(in: -8...8, using: &random))
        let spike = Int.random(in: 0..<8, using: &random) == 0
        let reach: Int64 = spike ? .random(in: 0...40, using: &random) : 0
        let isUp = Bool.random(using: &random)
        let (top, bottom) = (cents + (isUp ? reach : 0), cents - (isUp ? 0 : reach))
        append(&truth, cents: cents, top: top, bottom: bottom, minute: minute)
        if Int.random(in: 0..<1_000, using: &random) < errors, minute + 1 < Self.minutesPerDay {
          states[states.count - 1].reading.high = ExactDecimal(units: cents + 90, scale: 2)
          states[states.count - 1].reading.last = ExactDecimal(units: cents + 90, scale: 2)
        }
      }
    }
  }

  private mutating func append(
    _ truth: inout DayReading, cents: Int64, top: Int64, bottom: Int64, minute: Int
  ) {
    func price(_ cents: Int64) -> ExactDecimal { ExactDecimal(units: cents, scale: 2) }
    let (highBefore, lowBefore) = (truth.high, truth.low)
    truth.last = price(cents)
    truth.high = max(highBefore ?? price(top), price(top))
    truth.low = min(lowBefore ?? price(bottom), price(bottom))
    truth.volume = ExactDecimal(Int64(minute + 1) * 100)
    // As the daemon makes minutes of snapshots: an extreme shows only where the day's grew.
    let opened = Timestamp(day: truth.day, secondOfDay: 34_200 + 60 * minute)
    let high = highBefore.map { price(top) > $0 } ?? true ? price(top) : price(cents)
    let low = lowBefore.map { price(bottom) < $0 } ?? true ? price(bottom) : price(cents)
    states.append(
      State(
        reading: truth, seq: Int64(states.count + 1), at: opened.adding(seconds: 60),
        minute: MinuteExtremes(openedAt: opened, high: max(high, price(cents)), low: low)))
  }

  /// The day's candle, once it is over.
  func candle(of day: TradingDay) -> DayReading? { states.last { $0.reading.day == day }?.reading }

  func minutes(of day: TradingDay, through seq: Int64, since: Timestamp) -> [MinuteExtremes] {
    states.filter { $0.reading.day == day && $0.seq <= seq && $0.minute.openedAt >= since }
      .map(\.minute)
  }

  func arming(at place: Int) -> AlertArming {
    let state = states[place]
    var arming = AlertArming(at: state.at, epoch: 1, seq: state.seq)
    arming.day = state.reading.day
    (arming.high, arming.low) = (state.reading.high, state.reading.low)
    arming.last = state.reading.last
    arming.volume = state.reading.volume
    return arming
  }
}
