/// One turn of the alerts: reads what decides, makes notices of it, writes them.

import Alerts
import AppStore
import Market
import Reader

/// Which alerts may have changed.
enum AlertChanges: Sendable, Equatable {
  case all
  /// By their ids.
  case some(Set<Int64>)

  static let none = AlertChanges.some([])

  /// - Parameter payloads: of notifications; what is no id, an older schema's, may be any alert.
  mutating func add(_ payloads: [String]) {
    guard case .some(var ids) = self else { return }
    for payload in payloads {
      guard let id = Int64(payload) else {
        self = .all
        return
      }
      ids.insert(id)
    }
    self = .some(ids)
  }
}

struct NoticeWriter {
  let connection: AppConnection
  let watch: AlertWatch
  /// The day that was examined last, by the daemon's clock.
  private var examined: TradingDay?
  /// Up to here the feed's events were looked at, for the alerts that are loaded.
  private var stallsThrough: Timestamp?
  /// Firings of days before it are not loaded; nil: all are.
  private var loadedFrom: TradingDay?

  /// The daemon repairs days for eight; a holiday may lie between.
  static let repairDays = 10

  init(connection: AppConnection, watch: AlertWatch) {
    self.connection = connection
    self.watch = watch
  }

  private var notices: NoticeTable { NoticeTable(connection) }
  private var evidence: AlertEvidenceTable { AlertEvidenceTable(connection) }

  // MARK: Loading

  private func isNewDay(in state: MarketState) -> Bool {
    state.isLoaded && examined != state.knownAt?.shanghaiDay
  }

  /// All alerts as they are now. Once a day, and after a start, days that are over come first: what
  /// fires once fires with the earliest.
  private mutating func loadAll() throws(AppStoreError) {
    stallsThrough = nil
    let state = watch.state
    let from = try notices.examinedDay()?.advanced(by: -Self.repairDays)
    loadedFrom = from
    var book = try notices.book(from: from ?? AlertBook.firstDay)
    if isNewDay(in: state) {
      let places = book.subjects.compactMap { state.place(of: $0) }
      let seen = try examine(places, from: from, in: state, with: &book)
      try write(seen.notices, unsettled: seen.unsettled, with: &book)
      let today = state.knownAt?.shanghaiDay
      if let today, !book.subjects.isEmpty { try notices.examined(before: today) }
      examined = today
    }
    watch.use(book)
  }

  private mutating func load(_ ids: Set<Int64>) throws(AppStoreError) {
    stallsThrough = nil
    watch.use(try notices.part(of: ids, from: loadedFrom ?? AlertBook.firstDay))
  }

  /// Looks at days that are over, and at today's candle if there is one.
  private func examine(
    _ places: some Sequence<SeriesPlace>, from: TradingDay?, in state: MarketState,
    with book: inout AlertBook
  ) throws(AppStoreError) -> (notices: [AlertNotice], unsettled: [PlacedAlert]) {
    let places: [Int32: SeriesPlace] = Dictionary(
      places.map { (state.directory[$0].id, $0) }
    ) { first, _ in first }
    let wanted = places.compactMapValues { place in
      book.firstDay(of: state.subject(of: place)).map { max($0, from ?? $0) }
    }
    if wanted.isEmpty { return ([], []) }
    var (fired, unsettled) = ([AlertNotice](), [PlacedAlert]())
    for (id, row) in try evidence.days(of: wanted) {
      guard let place = places[id] else { continue }
      var reading = row
      reading.setLimitUp(state.limitUp(of: place, in: reading))
      let today = state.reading(of: place)?.reading.day
      if let today, reading.day > today { continue }
      let seen = book.look(
        at: reading, of: state.subject(of: place), position: state.position, isCandle: true,
        withdraws: reading.day != today)
      fired += seen.notices
      unsettled += seen.unsettled.map { ($0, place) }
    }
    return (fired, unsettled)
  }

  // MARK: Tasks

  mutating func turn(_ changes: AlertChanges) throws(AppStoreError) {
    var tasks = watch.takeTasks()
    if tasks.isAll { examined = nil }
    if case .some(let ids) = changes, !tasks.isAll, !isNewDay(in: watch.state) {
      try carryOut(tasks)
      if ids.isEmpty { return }
      tasks = AlertTasks()
      try load(ids)
    } else {
      try loadAll()
    }
    tasks.add(watch.takeTasks())
    try carryOut(tasks)
  }

  private mutating func carryOut(_ tasks: AlertTasks) throws(AppStoreError) {
    let state = watch.state
    guard var book = watch.book else { return }
    // What has fired waits for no reading, but for an older day's, which fires first.
    var (fired, unsettled) = (tasks.notices, Array(tasks.unsettled.values))
    if tasks.days.isEmpty {
      try notices.write(fired)
      fired = []
    } else {
      // Of an older day nothing changes any more.
      let today = state.knownAt?.shanghaiDay
      let seen = try examine(
        tasks.days, from: today?.advanced(by: -Self.repairDays), in: state, with: &book)
      fired += seen.notices
      unsettled += seen.unsettled
    }
    if tasks.hasGaps { fired += try gaps(in: state, with: &book) }
    if tasks.hasStalls { fired += try stalls(in: state, with: &book) }
    try write(fired, unsettled: unsettled, with: &book)
  }

  private func gaps(
    in state: MarketState, with book: inout AlertBook
  ) throws(AppStoreError) -> [AlertNotice] {
    var subjects: [Int32: AlertSubject] = [:]
    var wanted: [Int32: TradingDay] = [:]
    for subject in book.subjects(of: .gap) {
      guard let place = state.place(of: subject) else { continue }
      let id = state.directory[place].id
      subjects[id] = subject
      wanted[id] = max(
        book.firstDay(of: subject) ?? AlertBook.firstDay, loadedFrom ?? AlertBook.firstDay)
    }
    if wanted.isEmpty { return [] }
    var notices: [AlertNotice] = []
    for gap in try evidence.gaps(of: wanted) {
      guard let subject = subjects[gap.instrumentID] else { continue }
      notices += book.happened(
        .gap, to: subject, on: gap.day, at: gap.knownAt, position: state.position)
    }
    return notices
  }

  private mutating func stalls(
    in state: MarketState, with book: inout AlertBook
  ) throws(AppStoreError) -> [AlertNotice] {
    let subjects = book.subjects(of: .sourceStale)
    if subjects.isEmpty { return [] }
    let armed = subjects.flatMap { book.alerts(of: $0) }.map(\.arming.at).min()
    guard let since = armed.map({ max($0, stallsThrough ?? $0) }) else { return [] }
    var notices: [AlertNotice] = []
    for stall in try evidence.stalls(of: subjects.map(\.source), since: since) {
      stallsThrough = max(stall.knownAt, stallsThrough ?? stall.knownAt)
      notices += book.happened(
        .sourceStale, to: AlertSubject(symbol: nil, source: stall.source), on: stall.day,
        at: stall.knownAt, position: state.position)
    }
    return notices
  }

  // MARK: Writing

  /// What the minutes of the unsettled ones say is written with the rest.
  private func write(
    _ notices: [AlertNotice], unsettled: [PlacedAlert], with book: inout AlertBook
  ) throws(AppStoreError) {
    var fired = notices
    // Thousands may wait for the same minutes.
    let days = Dictionary(grouping: unsettled) {
      SeriesDay(place: $0.place, day: $0.alert.reading.day)
    }
    for (series, entries) in days {
      guard let since = entries.map(\.alert.since).min() else { continue }
      let minutes = try evidence.minutes(
        of: watch.state.directory[series.place].id, day: series.day, since: since)
      for (alert, _) in entries {
        var alert = alert
        alert.reading.minutes = minutes.filter { $0.openedAt >= alert.since }
        if let notice = book.settle(alert) { fired.append(notice) }
      }
    }
    try self.notices.write(fired)
  }
}

private struct SeriesDay: Hashable {
  let place: SeriesPlace
  let day: TradingDay
}

extension MarketState {
  fileprivate func subject(of place: SeriesPlace) -> AlertSubject {
    AlertSubject(symbol: directory[place].symbol, source: directory[place].sourceName)
  }
}
