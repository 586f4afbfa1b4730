import Commits
import Market
import Postgres
import Store
import TestSupport
import TestTraits
import Testing

@testable import Alerts
@testable import AppStore

/// Alerts of users, and what evaluators write, over a database that a daemon's writer fills.
@Suite(.ownThread) struct AlertTableTests {
  private let database: AppDatabase
  private let connection: AppConnection
  private let user: Int64
  private let table: AlertTable
  private let subject: AlertSubject

  init() throws {
    database = try AppDatabase()
    connection = try database.connection()
    user = try database.user()
    table = AlertTable(connection, userID: user)
    subject = AlertSubject(symbol: StoreSamples.symbol(0), source: "sina")
  }

  private func request(_ threshold: Int64, _ repeats: Alert.Repeats = .once) -> AlertTable.Request {
    AlertTable.Request(
      subject: subject, condition: .above, threshold: ExactDecimal(threshold), repeats: repeats)
  }

  private func notice(_ alert: Alert, on day: TradingDay = StoreSamples.day) -> AlertNotice {
    AlertNotice(
      kind: .fired, key: alert.key(on: day), day: day,
      evidence: AlertEvidence(.high, ExactDecimal(units: 12_340, scale: 3)),
      position: FeedPosition(epoch: 1, seq: 7, at: StoreSamples.start))
  }

  private func inbox() throws -> [InboxItem] {
    try NotificationTable(connection).inbox(of: user, before: nil, isUnread: false, limit: 100)
  }

  @Test func `an alert is made, read, replaced and deleted by its user alone`() throws {
    let made = try table.create(request(10))
    #expect(made.isArmed && made.revision == 1 && made.threshold == ExactDecimal(10))
    #expect(try table.all() == [made])
    let replaced = try table.replace(made.id, with: request(11, .daily))
    #expect(replaced.revision == 2 && replaced.repeats == .daily)
    let other = AlertTable(connection, userID: try database.user("bob"))
    #expect(try other.all() == [])
    #expect(throws: AppStoreError.unknown(.alert, made.id)) {
      try other.replace(made.id, with: request(1))
    }
    try other.delete(made.id)
    #expect(try table.all().count == 1)
    try table.delete(made.id)
    try table.delete(made.id)
    #expect(try table.all() == [])
    #expect(throws: AppStoreError.unknown(.alert, made.id)) {
      try table.replace(made.id, with: request(1))
    }
  }

  @Test func `what makes no sense is refused`() throws {
    var wrong = request(0)
    #expect(throws: AppStoreError.self) { try table.create(wrong) }
    wrong = request(1)
    wrong.threshold = nil
    #expect(throws: AppStoreError.self) { try table.create(wrong) }
    wrong.condition = .gap
    wrong.subject = AlertSubject(symbol: nil, source: "sina")
    #expect(throws: AppStoreError.self) { try table.create(wrong) }
    wrong.condition = .sourceStale
    #expect(try table.create(wrong).subject.symbol == nil)
  }

  @Test func `a user has so many alerts and no more`() throws {
    try database.store.execute(
      """
      insert into candled_app.alert (
        user_id, symbol, source, condition, threshold, repeats, armed_at, armed_epoch, armed_seq)
      select \(user), 'sh600000', 'sina', 'above', n, 'once', now(), 1, 1
      from generate_series(1, \(AlertTable.alertsMax - 1)) n
      """)
    let last = try table.create(request(10))
    #expect(throws: AppStoreError.limitReached("more than 1000 alerts: delete some")) {
      try table.create(request(10))
    }
    try table.delete(last.id)
    _ = try table.create(request(10))
  }

  @Test func `of two evaluators that saw the same one writes`() throws {
    let alert = try table.create(request(10))
    let other = NoticeTable(try database.connection())
    #expect(try NoticeTable(connection).write([notice(alert)]) == 1)
    #expect(try other.write([notice(alert)]) == 0)
    let rows = try inbox()
    #expect(rows.count == 1)
    #expect(rows.first?.alert?.alertID == alert.id && rows.first?.alert?.condition == .above)
    #expect(rows.first?.alert?.evidence.value?.description == "12.340")
    #expect(try table.one(alert.id).isArmed == false)
    #expect(try other.book(from: StoreSamples.day).armedCount == 0)
  }

  @Test func `of two evaluators at once one writes each of a thousand notices`() async throws {
    try database.store.execute(
      """
      insert into candled_app.alert (
        user_id, symbol, source, condition, threshold, repeats, armed_at, armed_epoch, armed_seq)
      select \(user), 'sh600000', 'sina', 'above', n, 'once', now(), 1, 1
      from generate_series(1, 1000) n
      """)
    let notices = try table.all().map { notice($0) }
    let url = database.url
    let written = try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<2 {
        group.addTask {
          let table = NoticeTable(try AppConnection(url: url, application: "test"))
          return try stride(from: 0, to: notices.count, by: 10).reduce(0) {
            try $0 + table.write(Array(notices[$1..<$1 + 10]))
          }
        }
      }
      return try await group.reduce(0, +)
    }
    #expect(written == 1_000)
    let stored = try database.store.value(
      "select count(distinct alert_id) || ' ' || count(*) from candled_app.notification")
    #expect(stored == "1000 1000")
  }

  @Test func `many notices are written in parts, so that nobody waits for all of them`() throws {
    try database.store.execute(
      """
      insert into candled_app.alert (
        user_id, symbol, source, condition, threshold, repeats, armed_at, armed_epoch, armed_seq)
      select \(user), 'sh600000', 'sina', 'above', n, 'once', now(), 1, 1
      from generate_series(1, 2001) n
      """)
    let alerts = try table.all()
    // Of an older day, and last: it is written first.
    let early = notice(alerts[1_500], on: StoreSamples.day.advanced(by: -1))
    let notices = NoticeTable(connection)
    #expect(try notices.write(alerts.map { notice($0) } + [early]) == 2_001)
    let parts = "select count(distinct xmin::text) from candled_app.notification"
    #expect(try database.store.value(parts) == "3")
    let day = "select trading_day from candled_app.notification where alert_id = "
    #expect(try database.store.value("\(day)\(alerts[1_500].id)") == "\(early.day)")
    #expect(try notices.write(alerts.map { notice($0) }) == 0)
  }

  @Test func `the server ends a session that is idle in a transaction`() throws {
    let limit = Statement(
      name: "limit", sql: "select current_setting('idle_in_transaction_session_timeout')")
    let found = try connection.inSnapshot { () throws(AppStoreError) in
      try connection.read(limit, context: "test") { (row) throws(StoreError) in try row.text() }
    }
    #expect(found == ["5s"])
  }

  @Test func `a daily alert fires once a day, and stays armed`() throws {
    let alert = try table.create(request(10, .daily))
    let notices = NoticeTable(connection)
    let next = StoreSamples.day.advanced(by: 1)
    #expect(try notices.write([notice(alert, on: next), notice(alert)]) == 2)
    #expect(try notices.write([notice(alert, on: next)]) == 0)
    // The older day first, so that the newest notification is the newest day's.
    #expect(try inbox().map(\.alert?.day) == [next, StoreSamples.day])
    #expect(try table.one(alert.id).isArmed)
  }

  @Test func `an alert that was edited or deleted meanwhile does not fire as it was`() throws {
    let alert = try table.create(request(10))
    let edited = try table.replace(alert.id, with: request(11))
    let notices = NoticeTable(connection)
    #expect(try notices.write([notice(alert)]) == 0)
    #expect(try notices.write([notice(edited)]) == 1)
    let rearmed = try table.replace(alert.id, with: request(12))
    #expect(try notices.write([notice(rearmed)]) == 1)
    try table.delete(alert.id)
    #expect(try notices.write([notice(rearmed)]) == 0)
  }

  @Test func `a firing is withdrawn once, names what it takes back, and arms the alert again`()
    throws
  {
    let alert = try table.create(request(10))
    let notices = NoticeTable(connection)
    try notices.write([notice(alert)])
    let firing = try #require(try inbox().first)
    let fired = try #require(firing.alert)
    let withdrawal = AlertNotice(
      kind: .withdrawn(firing: firing.id), key: alert.key(on: fired.day), day: fired.day,
      evidence: AlertEvidence(.correction, nil), position: fired.position)
    #expect(try notices.write([withdrawal]) == 1)
    #expect(try notices.write([withdrawal]) == 0)
    #expect(try inbox().map(\.alert?.withdraws) == [firing.id, nil])
    let again = try table.one(alert.id)
    #expect(again.isArmed && again.revision == 2)
    #expect(try notices.write([notice(again)]) == 1)
    #expect(try inbox().count == 3)
  }

  @Test func `a firing that is withdrawn arms no alert that has ended`() throws {
    let alert = try table.create(request(10))
    let notices = NoticeTable(connection)
    try notices.write([notice(alert)])
    let firing = try #require(try inbox().first)
    let fired = try #require(firing.alert)
    try database.store.execute("update candled_app.alert set state = 'ended'")
    let withdrawal = AlertNotice(
      kind: .withdrawn(firing: firing.id), key: alert.key(on: fired.day), day: fired.day,
      evidence: AlertEvidence(.correction, nil), position: fired.position)
    #expect(try notices.write([withdrawal]) == 1)
    #expect(try table.one(alert.id).hasEnded)
  }

  @Test func `notifications are read and hidden by their user, and say what they said`() throws {
    try NoticeTable(connection).write([notice(try table.create(request(10)))])
    let notifications = NotificationTable(connection)
    let id = try #require(try inbox().first).id
    let other = try database.user("bob")
    try notifications.markRead(id, of: other)
    try notifications.delete(id, of: other)
    #expect(try inbox().first?.readAt == nil)
    try notifications.markRead(id, of: user)
    #expect(try inbox().first?.readAt != nil)
    #expect(
      try notifications.inbox(of: user, before: nil, isUnread: true, limit: 9).isEmpty)
    try notifications.delete(id, of: user)
    #expect(try inbox().isEmpty)
    for change in ["set value = 1", "set user_id = user_id + 1", "set at = now()"] {
      #expect(throws: StoreError.self) {
        try SQLProbe.run("update candled_app.notification \(change)", url: database.url)
      }
    }
    #expect(throws: StoreError.self) {
      try database.store.execute("delete from candled_app.notification")
    }
  }

  // MARK: What the daemon stored

  private func commit(_ commit: Commit) async throws {
    let writer = StoreWriter(url: database.store.url)
    try await writer.connect()
    _ = try await writer.load()
    _ = try await writer.commit(commit)
    await writer.disconnect()
  }

  @Test func `an alert is armed as its series stands, and reads days, minutes and gaps since`()
    async throws
  {
    var samples = StoreSamples(seed: 3)
    var sweep = samples.minute(3, position: 1, instruments: 1)
    sweep.quotes[0].quote.high = ExactDecimal(units: 12_500, scale: 3)
    sweep.quotes[0].quote.low = ExactDecimal(units: 11_500, scale: 3)
    sweep.quotes[0].quote.last = ExactDecimal(units: 12_000, scale: 3)
    sweep.quotes[0].forming = nil
    sweep.candles[0].flags = []
    sweep.candles += Self.twoDays(&samples)
    sweep.gaps = [
      Gap(
        symbol: StoreSamples.symbol(0), tradingDay: StoreSamples.day, from: StoreSamples.start,
        to: StoreSamples.start.adding(seconds: 60), volume: ExactDecimal(5),
        turnover: ExactDecimal(1), cause: .outage)
    ]
    sweep.events = [.feedStalled(source: "sina", since: StoreSamples.start)]
    try await commit(sweep)
    let alert = try table.create(request(13))
    #expect(alert.arming.day == StoreSamples.day && alert.arming.seq == 1)
    #expect(alert.arming.high?.description == "12.500")
    #expect(alert.arming.last?.description == "12.000")
    #expect(alert.arming.at == sweep.knownAt)
    let evidence = AlertEvidenceTable(connection)
    let id = Int32(try database.store.value("select id from candled.instrument") ?? "") ?? 0
    let wanted = [id: StoreSamples.day.advanced(by: -2)]
    let days = try evidence.days(of: wanted).map(\.reading)
    #expect(days.map(\.day.description) == ["2026-07-04", "2026-07-05"])
    #expect(days.map(\.previousClose) == [nil, ExactDecimal(10)])
    #expect(days.map(\.last) == [ExactDecimal(10), ExactDecimal(20)])
    let minutes = try evidence.minutes(
      of: id, day: StoreSamples.day, since: sweep.candles[0].openedAt)
    #expect(minutes.map(\.high) == [sweep.candles[0].high])
    #expect(
      try evidence.minutes(
        of: id, day: StoreSamples.day, since: sweep.candles[0].openedAt.adding(seconds: 1)
      ).isEmpty)
    #expect(try evidence.gaps(of: wanted).map(\.day) == [StoreSamples.day])
    let stalls = try evidence.stalls(of: ["sina"], since: Timestamp(microseconds: 0))
    #expect(stalls.map(\.source) == ["sina"] && stalls.map(\.day) == [StoreSamples.day])
    #expect(try evidence.stalls(of: ["sina"], since: sweep.knownAt).isEmpty)
  }

  /// The closes 10 and 20 of the days before the sample's.
  private static func twoDays(_ samples: inout StoreSamples) -> [Candle] {
    [(2, Int64(10)), (1, 20)].map { back, close in
      var day = samples.candle(0, minute: 1)
      day.timeframe = .day1
      day.flags = []
      day.tradingDay = StoreSamples.day.advanced(by: -back)
      day.openedAt = Timestamp(day: day.tradingDay, secondOfDay: 0)
      day.closedAt = Timestamp(day: day.tradingDay, secondOfDay: 54_000)
      (day.open, day.high, day.low) = (ExactDecimal(close), ExactDecimal(25), ExactDecimal(5))
      day.close = ExactDecimal(close)
      return day
    }
  }

  @Test func `the reference price of a past day is the exchange's, else what factors make of it`()
    async throws
  {
    var samples = StoreSamples(seed: 4)
    var sweep = samples.minute(3, position: 1, instruments: 1)
    sweep.candles += Self.twoDays(&samples)
    try await commit(sweep)
    let evidence = AlertEvidenceTable(connection)
    let id = Int32(try database.store.value("select id from candled.instrument") ?? "") ?? 0
    let wanted = [id: StoreSamples.day.advanced(by: -2)]
    #expect(try evidence.days(of: wanted).last?.reading.previousClose == ExactDecimal(10))
    // As the reference price of a day on which the shares were split in two.
    try database.store.execute(
      """
      insert into candled.adjustment_factor (instrument_id, kind, from_day, factor, known_from)
      values (\(id), 2, '2026-07-01', 1, now()), (\(id), 2, '2026-07-05', 2, now())
      """)
    #expect(try evidence.days(of: wanted).last?.reading.previousClose == ExactDecimal(5))
    // What is not known is not 1.
    try database.store.execute(
      "update candled.adjustment_factor set factor = null where from_day = '2026-07-01'")
    #expect(try evidence.days(of: wanted).last?.reading.previousClose == nil)
    // The exchange's own comes first.
    try database.store.execute(
      """
      insert into candled.day_audit
        (instrument_id, trading_day, minute_volume, minute_turnover, gap_volume, gap_turnover,
        after_hours_volume, after_hours_turnover, minutes_traded, minutes_untraded,
        minutes_missing, known_from, previous_close)
      values (\(id), '2026-07-05', 0, 0, 0, 0, 0, 0, 0, 0, 0, now(), 4.90)
      """)
    #expect(
      try evidence.days(of: wanted).last?.reading.previousClose
        == ExactDecimal(units: 490, scale: 2))
  }
}
