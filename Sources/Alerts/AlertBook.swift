/// All alerts in force, and what fired of them, as a value: each reading of a series makes notices.
/// What is stored decides; a book only spares the database what it has done already.

import Market

/// What is to be stored of an alert.
package struct AlertNotice: Sendable, Hashable {
  package enum Kind: Sendable, Hashable {
    case fired
    /// The row that fired it was taken out.
    case withdrawn(firing: Int64)
  }

  package let kind: Kind
  package let key: FiringKey
  package let day: TradingDay
  package let evidence: AlertEvidence
  /// The feed's change that showed it.
  package let position: FeedPosition
}

/// A place in the feed, and what the daemon's clock showed there.
package struct FeedPosition: Sendable, Hashable {
  package var epoch: Int64
  package var seq: Int64
  package var at: Timestamp

  package init(epoch: Int64, seq: Int64, at: Timestamp) {
    self.epoch = epoch
    self.seq = seq
    self.at = at
  }
}

/// What fired and may have to be withdrawn: the alert as it was then.
package struct AlertFiring: Sendable, Hashable {
  /// Of the notification.
  package var id: Int64
  package var key: FiringKey
  package var day: TradingDay
  package var symbol: Symbol?
  package var source: String
  package var condition: AlertCondition
  package var threshold: ExactDecimal?
  /// The feed's change that showed it: what was read before cannot take it back.
  package var epoch: Int64
  package var seq: Int64
  /// Whether it was withdrawn already.
  package var isWithdrawn: Bool

  package init(
    id: Int64, key: FiringKey, day: TradingDay, symbol: Symbol?, source: String,
    condition: AlertCondition, threshold: ExactDecimal?, epoch: Int64, seq: Int64,
    isWithdrawn: Bool
  ) {
    self.id = id
    self.key = key
    self.day = day
    self.symbol = symbol
    self.source = source
    self.condition = condition
    self.threshold = threshold
    self.epoch = epoch
    self.seq = seq
    self.isWithdrawn = isWithdrawn
  }

  package var subject: AlertSubject { AlertSubject(symbol: symbol, source: source) }

  /// Another gateway saw more of the feed than whoever stands there.
  fileprivate func isAhead(of position: FeedPosition) -> Bool {
    epoch == position.epoch && seq > position.seq
  }

  fileprivate func isMet(by reading: DayReading) -> Bool? {
    Alert(
      id: key.alertID, userID: 0, symbol: symbol, source: source, condition: condition,
      threshold: threshold, arming: AlertArming(at: Timestamp(microseconds: 0), epoch: 0, seq: 0)
    ).isMet(by: reading)
  }
}

/// An alert that the minutes of a day decide.
package struct UnsettledAlert: Sendable, Hashable {
  package let alert: Alert
  package var reading: DayReading
  package let position: FeedPosition

  /// From when on minutes count.
  package var since: Timestamp {
    reading.day == alert.arming.day ? alert.arming.at : Timestamp(microseconds: 0)
  }
}

package struct AlertBook: Sendable {
  private var armed: [AlertSubject: [Alert]] = [:]
  private var firings: [AlertSubject: [AlertFiring]] = [:]
  /// What fired, and with which day: what fires once fires with the earliest, seen last or not.
  private var done: [FiringKey: TradingDay] = [:]

  /// Nothing is older.
  package static let firstDay = TradingDay(daysSince1970: 0)

  /// As the database has it now.
  package init(alerts: [Alert], firings: [AlertFiring]) {
    replace(Part(ids: [], alerts: alerts, firings: firings))
  }

  /// What the database has now of some alerts.
  package struct Part: Sendable {
    package var ids: Set<Int64>
    package var alerts: [Alert]
    package var firings: [AlertFiring]

    package init(ids: Set<Int64>, alerts: [Alert], firings: [AlertFiring]) {
      self.ids = ids
      self.alerts = alerts
      self.firings = firings
    }

    package var subjects: Set<AlertSubject> {
      Set(alerts.map(\.subject)).union(firings.map(\.subject))
    }
  }

  /// As if all had been read again, and only these had changed.
  package mutating func replace(_ part: Part) {
    armed = armed.compactMapValues { $0.without(part.ids, by: \.id) }
    firings = firings.compactMapValues { $0.without(part.ids, by: \.key.alertID) }
    done = done.filter { !part.ids.contains($0.key.alertID) }
    for alert in part.alerts where alert.isArmed { armed[alert.subject, default: []].append(alert) }
    for firing in part.firings {
      done[firing.key] = firing.day
      if !firing.isWithdrawn { firings[firing.subject, default: []].append(firing) }
    }
  }

  package var armedCount: Int { armed.values.reduce(0) { $0 + $1.count } }

  /// What readings are wanted of.
  package var subjects: Set<AlertSubject> { Set(armed.keys).union(firings.keys) }

  /// - Returns: those whose alerts were armed on a condition.
  package func subjects(of condition: AlertCondition) -> [AlertSubject] {
    armed.filter { $0.value.contains { $0.condition == condition } }.map(\.key)
  }

  package func alerts(of subject: AlertSubject) -> [Alert] { armed[subject] ?? [] }

  /// The earliest day that an alert of the subject may fire on, or a firing be withdrawn of; nil:
  /// there is none.
  package func firstDay(of subject: AlertSubject) -> TradingDay? {
    let days =
      (armed[subject] ?? []).map(\.firstDay) + (firings[subject] ?? []).map(\.day)
    return days.min()
  }

  /// Looks at a day of a series.
  /// - Parameters:
  ///   - position: of a quote, the change that wrote it; of a candle, the newest.
  ///   - isCandle: whether the reading is the day's candle.
  ///   - withdraws: whether it is the newest that is known of the day.
  /// - Returns: what is new, and the alerts that must be looked at again with their minutes.
  package mutating func look(
    at reading: DayReading, of subject: AlertSubject, position: FeedPosition,
    isCandle: Bool = false, withdraws: Bool = true
  ) -> (notices: [AlertNotice], unsettled: [UnsettledAlert]) {
    var notices = withdraws ? withdraw(by: reading, of: subject, position: position) : []
    var unsettled: [UnsettledAlert] = []
    for alert in armed[subject] ?? [] {
      let isBehind = position.epoch != alert.arming.epoch || position.seq > alert.arming.seq
      let key = alert.key(on: reading.day)
      guard isCandle || isBehind, !isDone(key, on: reading.day) else { continue }
      let seen = isCandle ? alert.behindArming(reading) : reading
      if let evidence = alert.evidence(in: seen) {
        done[key] = reading.day
        notices.append(
          AlertNotice(
            kind: .fired, key: key, day: reading.day, evidence: evidence, position: position))
      } else if alert.needsMinutes(of: seen) {
        unsettled.append(UnsettledAlert(alert: alert, reading: seen, position: position))
      }
    }
    return (notices, unsettled)
  }

  private func isDone(_ key: FiringKey, on day: TradingDay) -> Bool {
    done[key].map { $0 <= day } ?? false
  }

  private mutating func withdraw(
    by reading: DayReading, of subject: AlertSubject, position: FeedPosition
  ) -> [AlertNotice] {
    guard let open = firings[subject], reading.high != nil else { return [] }
    let gone = open.filter {
      $0.day == reading.day && !$0.isAhead(of: position) && $0.isMet(by: reading) == false
    }
    if gone.isEmpty { return [] }
    firings[subject] = open.filter { !gone.contains($0) }
    return gone.map { firing in
      AlertNotice(
        kind: .withdrawn(firing: firing.id), key: firing.key, day: firing.day,
        evidence: AlertEvidence(.correction, nil), position: position)
    }
  }

  /// An alert whose minutes were read since.
  package mutating func settle(_ entry: UnsettledAlert) -> AlertNotice? {
    let (key, reading) = (entry.alert.key(on: entry.reading.day), entry.reading)
    guard !isDone(key, on: reading.day), let evidence = entry.alert.evidence(in: reading) else {
      return nil
    }
    done[key] = reading.day
    return AlertNotice(
      kind: .fired, key: key, day: reading.day, evidence: evidence, position: entry.position)
  }

  /// Something happened to the subject that is no price: a gap was stored, a source fell silent.
  /// - Parameter at: when it became known, by the daemon's clock.
  package mutating func happened(
    _ condition: AlertCondition, to subject: AlertSubject, on day: TradingDay, at: Timestamp,
    position: FeedPosition
  ) -> [AlertNotice] {
    var notices: [AlertNotice] = []
    for alert in armed[subject] ?? [] where alert.condition == condition && at > alert.arming.at {
      let key = alert.key(on: day)
      if isDone(key, on: day) { continue }
      done[key] = day
      notices.append(
        AlertNotice(
          kind: .fired, key: key, day: day,
          evidence: AlertEvidence(condition == .gap ? .gap : .stall, nil), position: position))
    }
    return notices
  }
}

extension Array {
  /// nil: none is left.
  fileprivate func without(_ ids: Set<Int64>, by id: (Element) -> Int64) -> Self? {
    let left = filter { !ids.contains(id($0)) }
    return left.isEmpty ? nil : left
  }
}
