import Alerts
import Market
import Postgres

/// Alerts of one user in the database.
package struct AlertTable: AppTable, NumberedTable {
  let connection: AppConnection
  private let userID: Int64
  static let context = "alerts"

  /// Of a user, those that have fired included.
  package static let alertsMax = 1_000

  package init(_ connection: AppConnection, userID: Int64) {
    self.connection = connection
    self.userID = userID
  }

  /// What a user says of an alert.
  package struct Request: Sendable, Hashable {
    package var subject: AlertSubject
    package var condition: AlertCondition
    package var threshold: ExactDecimal?
    package var repeats: Alert.Repeats

    package init(
      subject: AlertSubject, condition: AlertCondition, threshold: ExactDecimal? = nil,
      repeats: Alert.Repeats = .once
    ) {
      self.subject = subject
      self.condition = condition
      self.threshold = threshold
      self.repeats = repeats
    }

    fileprivate func validate() throws(AppStoreError) {
      guard (threshold == nil) == (condition.threshold == nil) else {
        throw .invalid(
          field: "threshold",
          expected: condition.threshold == nil
            ? "none: the condition has no threshold" : "a decimal number")
      }
      guard (subject.symbol == nil) == (condition == .sourceStale) else {
        throw .invalid(field: "symbol", expected: "a series, or a source for sourceStale")
      }
      if condition.threshold == .amount, let threshold, !threshold.isPositive {
        throw .invalid(field: "threshold", expected: "a number above 0")
      }
    }

    fileprivate var parameters: [WireParameter] {
      [
        .text(subject.symbol?.description), .text(subject.source), .text(condition.rawValue),
        .numeric(threshold), .text(repeats.rawValue),
      ]
    }
  }

  private static let readAll = Statement(
    name: "read_alerts",
    sql: """
      select \(AlertColumns.list)
      from alert a
      where a.user_id = $1::bigint
        and a.state <> 'deleted'
        and ($2::bigint is null or a.id = $2::bigint)
      order by a.id
      """)

  /// In the order they were made.
  package func all() throws(AppStoreError) -> [Alert] { try alerts(nil) }

  /// - Throws: `unknown`, `store`.
  package func one(_ id: Int64) throws(AppStoreError) -> Alert {
    guard let alert = try alerts(id).first else { throw .unknown(.alert, id) }
    return alert
  }

  private func alerts(_ id: Int64?) throws(AppStoreError) -> [Alert] {
    return try read(Self.readAll, with: [.int64(userID), .int64(id)]) { (row) throws(StoreError) in
      try row.alert()
    }
  }

  // MARK: Changes

  private static let count = Statement(
    name: "count_alert_change",
    sql: """
      insert into user_day as u (user_id, day, commands, payments, alerts)
      values ($1::bigint, \(DayLimits.today), 0, 0, 1)
      \(DayLimits.counting)
      returning alerts
      """)

  /// One more alert that may fire.
  /// - Throws: `tooManyOfDay`, `store`.
  private func countChange() throws(AppStoreError) {
    let counts = try numbers(Self.count, with: [.int64(userID)])
    let limit = DayLimits.standard.alerts
    if counts.contains(where: { $0 > limit }) {
      throw .tooManyOfDay("alerts made or changed", limit: limit)
    }
  }

  private static let insert = Statement(
    name: "insert_alert",
    sql: """
      insert into alert (
        user_id, symbol, source, condition, threshold, repeats, armed_at, armed_epoch, armed_seq,
        armed_day, armed_high, armed_low, armed_last, armed_volume)
      select
        $1::bigint, $2::text, $3::text, $4::text, $5::numeric, $6::text,
        \(AlertColumns.arming)
      from \(AlertColumns.standing(symbol: "$2::text", source: "$3::text"))
      where (select count(*) from alert where user_id = $1::bigint and state <> 'deleted')
        < \(alertsMax)
      returning id
      """)

  /// Armed as the series stands now.
  /// - Throws: `limitReached`, `tooManyOfDay`, `invalid`, `store`.
  package func create(_ request: Request) throws(AppStoreError) -> Alert {
    try request.validate()
    return try connection.inTransaction(ofUser: userID, Self.context) { () throws(AppStoreError) in
      let ids = try numbers(Self.insert, with: [.int64(userID)] + request.parameters)
      guard let id = ids.first else {
        throw .limitReached("more than \(Self.alertsMax) alerts: delete some")
      }
      try countChange()
      return try one(id)
    }
  }

  private static let update = Statement(
    name: "update_alert",
    sql: """
      update alert a
      set (symbol, source, condition, threshold, repeats, revision, state, armed_at, armed_epoch,
          armed_seq, armed_day, armed_high, armed_low, armed_last, armed_volume) = (
        select $3::text, $4::text, $5::text, $6::numeric, $7::text, a.revision + 1, 'armed',
          \(AlertColumns.arming)
        from \(AlertColumns.standing(symbol: "$3::text", source: "$4::text")))
      where a.user_id = $1::bigint
        and a.id = $2::bigint
        and a.state <> 'deleted'
      """)

  /// Makes another alert of it, armed anew.
  /// - Throws: `unknown`, `tooManyOfDay`, `invalid`, `store`.
  package func replace(_ id: Int64, with request: Request) throws(AppStoreError) -> Alert {
    try request.validate()
    return try connection.inTransaction(ofUser: userID, Self.context) { () throws(AppStoreError) in
      let rows = try write(Self.update, with: place(of: id) + request.parameters)
      if rows == 0 { throw .unknown(.alert, id) }
      try countChange()
      return try one(id)
    }
  }

  private static let delete = Statement(
    name: "delete_alert",
    sql: """
      update alert
      set state = 'deleted'
      where user_id = $1::bigint
        and id = $2::bigint
        and state <> 'deleted'
      """)

  /// What fired of it stays; one that is not there is no fault.
  package func delete(_ id: Int64) throws(AppStoreError) {
    try write(Self.delete, with: place(of: id))
  }

  private func place(of id: Int64) -> [WireParameter] { [.int64(userID), .int64(id)] }
}

enum AlertColumns {
  /// As `PostgresRow.alert()` reads them.
  static let list = """
    a.id, a.user_id, a.symbol, a.source, a.condition, a.threshold, a.repeats, a.revision,
    a.state = 'armed', a.armed_at, a.armed_epoch, a.armed_seq, a.armed_day, a.armed_high,
    a.armed_low, a.armed_last, a.armed_volume, a.state = 'ended'
    """

  /// The values of `armed_at` to `armed_volume` from a `standing`.
  static let arming = """
    case when isfinite(p.known_at) then p.known_at else now() end, coalesce(p.epoch, 0),
    coalesce(p.last_seq, 0), q.trading_day, nullif(q.high, 0), nullif(q.low, 0),
    case when q.high > 0 then q.last end, q.volume
    """

  /// The feed, and the newest quote of a series, of one moment.
  static func standing(symbol: String, source: String) -> String {
    """
    (select) one
    left join candled.feed_position() p on true
    left join (
      select i.symbol, s.name, k.*
      from candled.feed_quotes k
      join candled.feed_instruments i on i.id = k.instrument_id
      join candled.source s on s.code = i.source
      where i.reused_on is null
    ) q on q.symbol = \(symbol) and q.name = \(source)
    """
  }
}

extension PostgresRow {
  mutating func alert() throws(StoreError) -> Alert {
    let (id, userID) = (try int64(), try int64())
    let (symbol, source) = (try optionalText().flatMap { Symbol($0) }, try text())
    var alert = Alert(
      id: id, userID: userID, symbol: symbol, source: source,
      condition: try named(\AlertCondition.rawValue), threshold: try optionalNumeric(),
      repeats: try named(\Alert.Repeats.rawValue), revision: try int32(), isArmed: try bool(),
      arming: try arming())
    alert.hasEnded = try bool()
    return alert
  }

  private mutating func arming() throws(StoreError) -> AlertArming {
    var arming = AlertArming(at: try timestamp(), epoch: try int64(), seq: try int64())
    arming.day = try optionalDay()
    arming.high = try optionalNumeric()
    arming.low = try optionalNumeric()
    arming.last = try optionalNumeric()
    arming.volume = try optionalNumeric()
    return arming
  }
}
