/// What a user waits for. Values without input or output: `Alert+Evaluation` says when one fires,
/// `AlertBook` holds all of them.

import Market

package struct Alert: Sendable, Hashable {
  package enum Repeats: String, Sendable, CaseIterable, Codable {
    case once
    /// Once a trading day.
    case daily
  }

  package var id: Int64
  package var userID: Int64
  /// nil: it is about a source.
  package var symbol: Symbol?
  /// Of the series, or the source itself, by name.
  package var source: String
  package var condition: AlertCondition
  package var threshold: ExactDecimal?
  package var repeats: Repeats
  /// Each edit adds one.
  package var revision: Int32
  /// false: it has fired, and fires no more.
  package var isArmed: Bool
  /// Its instrument became another one.
  package var hasEnded = false
  package var arming: AlertArming

  package init(
    id: Int64, userID: Int64, symbol: Symbol?, source: String, condition: AlertCondition,
    threshold: ExactDecimal? = nil, repeats: Repeats = .once, revision: Int32 = 1,
    isArmed: Bool = true, arming: AlertArming
  ) {
    self.id = id
    self.userID = userID
    self.symbol = symbol
    self.source = source
    self.condition = condition
    self.threshold = threshold
    self.repeats = repeats
    self.revision = revision
    self.isArmed = isArmed
    self.arming = arming
  }

  /// What the alert is about.
  package var subject: AlertSubject { AlertSubject(symbol: symbol, source: source) }

  /// Nothing fires twice with the same one.
  package func key(on day: TradingDay) -> FiringKey {
    FiringKey(alertID: id, revision: revision, day: repeats == .once ? nil : day)
  }
}

/// A series, or a source as a whole.
package struct AlertSubject: Sendable, Hashable {
  package let symbol: Symbol?
  package let source: String

  package init(symbol: Symbol?, source: String) {
    self.symbol = symbol
    self.source = source
  }
}

package struct FiringKey: Sendable, Hashable {
  package let alertID: Int64
  package let revision: Int32
  /// nil: once.
  package let day: TradingDay?

  package init(alertID: Int64, revision: Int32, day: TradingDay?) {
    self.alertID = alertID
    self.revision = revision
    self.day = day
  }

  /// As the database has it.
  package var period: String { day?.description ?? "once" }
}

/// How the series stood when an alert was armed: what was so before does not fire it.
package struct AlertArming: Sendable, Hashable {
  /// By the daemon's clock.
  package var at: Timestamp
  package var epoch: Int64
  package var seq: Int64
  /// Of the newest quote then; nil: there was none.
  package var day: TradingDay?
  /// Of that day so far; nil before its first trade.
  package var high: ExactDecimal?
  package var low: ExactDecimal?
  package var last: ExactDecimal?
  package var volume: ExactDecimal?

  package init(at: Timestamp, epoch: Int64, seq: Int64) {
    self.at = at
    self.epoch = epoch
    self.seq = seq
  }
}

/// A series' day, as a quote or its candle shows it.
package struct DayReading: Sendable, Hashable {
  package var day: TradingDay
  package var previousClose: ExactDecimal?
  /// The figures of the whole day so far; nil before its first trade.
  package var high: ExactDecimal?
  package var low: ExactDecimal?
  /// nil of a candle on the day of arming: that trade may be older.
  package var last: ExactDecimal?
  package var volume: ExactDecimal
  /// nil where there is no limit.
  package var limitUp: ExactDecimal?
  /// Of the day, in order, from the arming of the alert on; nil: not read.
  package var minutes: [MinuteExtremes]?

  package init(day: TradingDay, volume: ExactDecimal = .zero) {
    self.day = day
    self.volume = volume
  }

  /// - Parameter limit: by the name of today. A day that went above it had another, or none.
  package mutating func setLimitUp(_ limit: ExactDecimal?) {
    limitUp = limit
    if let limit, let high, high > limit { limitUp = nil }
  }
}

package struct MinuteExtremes: Sendable, Hashable {
  package var openedAt: Timestamp
  package var high: ExactDecimal
  package var low: ExactDecimal

  package init(openedAt: Timestamp, high: ExactDecimal, low: ExactDecimal) {
    self.openedAt = openedAt
    self.high = high
    self.low = low
  }
}
