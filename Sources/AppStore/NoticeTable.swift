import Alerts
import Market
import Postgres

/// What evaluators read and write. A write is one transaction under the lock of `alert_cursor`:
/// of several gateways that saw the same, the first writes and the others find it written.
package struct NoticeTable: AppTable {
  let connection: AppConnection
  static let context = "notices"

  package init(_ connection: AppConnection) { self.connection = connection }

  // MARK: Reading

  private static func readArmed(_ name: String, where condition: String = "true") -> Statement {
    Statement(
      name: "read_\(name)",
      sql: """
        select \(AlertColumns.list)
        from alert a
        where a.state = 'armed'
          and \(condition)
        order by a.id
        """)
  }

  private static func readFirings(_ name: String, where condition: String = "true") -> Statement {
    Statement(
      name: "read_\(name)",
      sql: """
        select n.id, n.alert_id, n.revision, n.period, n.trading_day, n.symbol, n.source,
          n.condition, n.threshold, n.feed_epoch, n.feed_seq, exists (
            select
            from notification w
            where w.alert_id = n.alert_id
              and w.revision = n.revision
              and w.period = n.period
              and w.kind = 'withdrawn')
        from notification n
        where n.kind = 'fired'
          and n.trading_day >= $1::date
          and \(condition)
        order by n.id
        """)
  }

  private static let readAllArmed = readArmed("armed_alerts")
  private static let readAllFirings = readFirings("firings")
  private static let readArmedOf = readArmed(
    "armed_alerts_of", where: "a.id = any ($1::bigint[])")
  private static let readFiringsOf = readFirings(
    "firings_of", where: "n.alert_id = any ($2::bigint[])")

  /// - Parameter day: firings of days before it are neither withdrawn nor looked for again.
  package func book(from day: TradingDay) throws(AppStoreError) -> AlertBook {
    let (alerts, firings) = try load(nil, from: day)
    return AlertBook(alerts: alerts, firings: firings)
  }

  /// As `book`, of some alerts alone.
  package func part(
    of ids: Set<Int64>, from day: TradingDay
  ) throws(AppStoreError) -> AlertBook.Part {
    let (alerts, firings) = try load(ids.sorted(), from: day)
    return AlertBook.Part(ids: ids, alerts: alerts, firings: firings)
  }

  /// - Parameter ids: of alerts; nil: all.
  private func load(
    _ ids: [Int64]?, from day: TradingDay
  ) throws(AppStoreError) -> (alerts: [Alert], firings: [AlertFiring]) {
    let some: [WireParameter] = ids.map { [.int64s($0)] } ?? []
    let alerts = try read(ids == nil ? Self.readAllArmed : Self.readArmedOf, with: some) {
      (row) throws(StoreError) in try row.alert()
    }
    let firings = try read(
      ids == nil ? Self.readAllFirings : Self.readFiringsOf, with: [.day(day)] + some
    ) { (row) throws(StoreError) in try row.firing() }
    return (alerts, firings)
  }

  private static let readCursor = Statement(
    name: "read_alert_cursor",
    sql: """
      select examined_day
      from alert_cursor
      """)

  /// Days before it were examined by some gateway; nil: none was yet.
  package func examinedDay() throws(AppStoreError) -> TradingDay? {
    try read(Self.readCursor) { (row) throws(StoreError) in
      try row.optionalDay()
    }.first ?? nil
  }

  private static let moveCursor = Statement(
    name: "move_alert_cursor",
    sql: """
      update alert_cursor
      set examined_day = $1::date
      where examined_day is null
        or examined_day < $1::date
      """)

  package func examined(before day: TradingDay) throws(AppStoreError) {
    try write(Self.moveCursor, with: [.day(day)])
  }

  // MARK: Writing

  static let lock = Statement(
    name: "lock_alert_cursor",
    sql: """
      select
      from alert_cursor
      for update
      """)

  /// Of one transaction: until it ends, whoever adds to an outbox waits, the broker too.
  package static let noticesAtOnce = 1_000

  /// What was taken back first, then the oldest, so that one that fires once fires with the
  /// earliest of what was missed. If it ends in between, what is written is not written again.
  /// - Returns: how many were new.
  @discardableResult
  package func write(_ notices: [AlertNotice]) throws(AppStoreError) -> Int {
    let sorted = notices.sorted { $0.writingOrder < $1.writingOrder }
    var written = 0
    for start in stride(from: 0, to: sorted.count, by: Self.noticesAtOnce) {
      written += try writeAtOnce(Array(sorted[start...].prefix(Self.noticesAtOnce)))
    }
    return written
  }

  private func writeAtOnce(_ notices: [AlertNotice]) throws(AppStoreError) -> Int {
    try connection.inTransaction(Self.context) { () throws(AppStoreError) in
      _ = try read(Self.lock) { (_) throws(StoreError) in () }
      let withdrawn = try withdraw(notices)
      return try fire(notices) + withdrawn
    }
  }

  private static let insertFired = Statement(
    name: "insert_fired",
    sql: """
      with fired as (
        insert into notification (
          user_id, alert_id, revision, period, kind, symbol, source, condition, threshold,
          trading_day, basis, value, feed_epoch, feed_seq, observed_at)
        select
          a.user_id, a.id, a.revision, n.period, 'fired', a.symbol, a.source, a.condition,
          a.threshold, n.day::date, n.basis, nullif(n.value, '')::numeric, n.epoch::bigint,
          n.seq::bigint, \(TextColumns.moment("n.at"))
        from \(TextColumns.unnest(9))
          as n (alert, revision, period, day, basis, value, epoch, seq, at)
        join alert a
          on a.id = n.alert::bigint
          and a.revision = n.revision::integer
          and a.state = 'armed'
        order by n.day::date, n.seq::bigint, a.id
        on conflict on constraint notification_is_once do nothing
        returning alert_id, revision, period
      ),
      spent as (
        update alert a
        set state = 'fired'
        from fired f
        where a.id = f.alert_id
          and a.revision = f.revision
          and a.state = 'armed'
          and f.period = 'once'
      )
      select count(*) from fired
      """)

  private func fire(_ notices: [AlertNotice]) throws(AppStoreError) -> Int {
    var rows = TextColumns(9)
    for notice in notices where notice.kind == .fired {
      rows.append(
        [
          "\(notice.key.alertID)", "\(notice.key.revision)", notice.key.period,
          notice.day.description, notice.evidence.basis.rawValue, notice.evidence.value.text,
          "\(notice.position.epoch)", "\(notice.position.seq)",
          "\(notice.position.at.microseconds)",
        ])
    }
    return try count(Self.insertFired, of: rows)
  }

  /// The alert is armed again if it would fire no more because of the false row: one that fires
  /// once, or that fired on the day that the series is still in. It is armed as it was, but by rows
  /// behind the one that took the firing back: what the series did since then, and may be stored
  /// already, fires.
  private static let insertWithdrawn = Statement(
    name: "insert_withdrawn",
    sql: """
      with withdrawn as (
        insert into notification (
          user_id, alert_id, revision, period, kind, refers_to, symbol, source, condition,
          threshold, trading_day, basis, feed_epoch, feed_seq, observed_at)
        select
          f.user_id, f.alert_id, f.revision, f.period, 'withdrawn', f.id, f.symbol, f.source,
          f.condition, f.threshold, f.trading_day, 'correction', n.epoch::bigint, n.seq::bigint,
          \(TextColumns.moment("n.at"))
        from \(TextColumns.unnest(4)) as n (firing, epoch, seq, at)
        join notification f on f.id = n.firing::bigint and f.kind = 'fired'
        order by f.id
        on conflict on constraint notification_is_once do nothing
        returning alert_id, revision, period, trading_day, feed_epoch, feed_seq
      ),
      standing as (
        select
          w.*,
          case when w.period = 'once' then b.armed_day else w.trading_day end as day,
          w.period = 'once' or w.trading_day = b.armed_day as is_same
        from withdrawn w
        join alert b on b.id = w.alert_id
        cross join lateral (
          select q.trading_day as day
          from \(AlertColumns.standing(symbol: "b.symbol", source: "b.source"))
        ) s
        where w.period = 'once'
          or w.trading_day = s.day
      ),
      rearmed as (
        update alert a
        set
          revision = a.revision + 1,
          state = 'armed',
          armed_epoch = s.feed_epoch,
          armed_seq = s.feed_seq,
          armed_day = s.day,
          armed_high = case when s.is_same then a.armed_high end,
          armed_low = case when s.is_same then a.armed_low end,
          armed_last = case when s.is_same then a.armed_last end,
          armed_volume = case when s.is_same then a.armed_volume end
        from standing s
        where a.id = s.alert_id
          and a.revision = s.revision
          and a.state not in ('ended', 'deleted')
      )
      select count(*) from withdrawn
      """)

  private func withdraw(_ notices: [AlertNotice]) throws(AppStoreError) -> Int {
    var rows = TextColumns(4)
    for notice in notices {
      guard case .withdrawn(let firing) = notice.kind else { continue }
      rows.append(
        [
          "\(firing)", "\(notice.position.epoch)", "\(notice.position.seq)",
          "\(notice.position.at.microseconds)",
        ])
    }
    return try count(Self.insertWithdrawn, of: rows)
  }

  private func count(_ statement: Statement, of rows: TextColumns) throws(AppStoreError) -> Int {
    if rows.count == 0 { return 0 }
    let counts = try numbers(statement, with: rows.parameters)
    return Int(counts.first ?? 0)
  }
}

extension AlertNotice {
  /// As the statements of a write have it, over all writes.
  fileprivate var writingOrder: (Int, TradingDay, Int64, Int64) {
    if case .withdrawn(let firing) = kind { return (0, AlertBook.firstDay, 0, firing) }
    return (1, day, position.seq, key.alertID)
  }
}

extension PostgresRow {
  fileprivate mutating func firing() throws(StoreError) -> AlertFiring {
    let (id, alertID, revision, period) = (try int64(), try int64(), try int32(), try text())
    let (day, symbol) = (try day(), try optionalText().flatMap { Symbol($0) })
    return AlertFiring(
      id: id,
      key: FiringKey(alertID: alertID, revision: revision, day: period == "once" ? nil : day),
      day: day, symbol: symbol, source: try text(),
      condition: try named(\AlertCondition.rawValue), threshold: try optionalNumeric(),
      epoch: try int64(), seq: try int64(), isWithdrawn: try bool())
  }
}
