/// Executes what users ask of their paper accounts: the one broker of a database.
///
///     lead → load → (commands, rows, time → step → COMMIT) …
///
/// It leads as long as its session lasts: an advisory lock is of the session that also writes the
/// steps, so that nobody needs to renew anything. What a step changes is known once it is stored;
/// after any failure everything is read again.

import AppStore
import Logging
import Market
import PaperTrading
import Platform
import Postgres
import Reader

/// Blocking; it belongs to one thread.
package final class Broker {
  struct Session {
    let connection: PostgresConnection
    let reader: StoreReader
    let table: BrokerTable
    let books: LedgerTable
    var term: Int64?
    var isFollowing = false
  }

  private let options: BrokerOptions
  let log: Logger
  private(set) var session: Session?
  var state: BrokerState?
  /// By the state: whose rows are asked for.
  var watched: Set<Symbol> = []
  /// Until the database refuses one of them.
  var booksActions = true
  /// Corporate actions that wait for their ex-day; nil: not read since something was notified.
  var unbooked: [CorporateAction]?
  private var clock = ServerClock()
  /// With the days that the daemon has learnt.
  private(set) var calendar = TradingCalendar.shanghai
  package internal(set) var figures = BrokerFigures()

  static let context = "broker"
  /// Of a step: what more waits is for the next one.
  private static let commandsMax = 256

  package init(_ options: BrokerOptions, log: Logger) {
    self.options = options
    self.log = log
  }

  // MARK: Lead

  /// Takes the lead, connecting if need be; on a standby nobody leads before it is promoted.
  /// - Returns: whether this broker leads.
  package func lead() throws(AppStoreError) -> Bool {
    if session == nil { session = try connect() }
    guard var session else { return false }
    if session.term != nil { return true }
    do throws(StoreError) {
      if try session.connection.isStandby() { return false }
    } catch {
      throw .store(error)
    }
    guard let term = try session.table.takeLead(holder: options.holder) else { return false }
    try session.table.listen()
    session.term = term
    self.session = session
    figures.term = term
    log.notice("this gateway executes paper orders", metadata: ["term": "\(term)"])
    return true
  }

  private func connect() throws(AppStoreError) -> Session {
    do throws(StoreError) {
      let connection = try PostgresConnection(
        url: options.url, application: "candled gateway broker",
        unacknowledgedMilliseconds: Self.unacknowledgedMilliseconds)
      let app = try AppConnection(brokerOn: connection)
      return Session(
        connection: connection, reader: try StoreReader(on: connection), table: BrokerTable(app),
        books: LedgerTable(app))
    } catch {
      throw .store(error)
    }
  }

  /// Another leads within ten seconds of the end of this machine.
  private static let unacknowledgedMilliseconds = 8_000

  /// Ends the session, and the lead with it; nothing is known any more.
  package func drop() {
    session = nil
    (state, watched) = (nil, [])
    clock = ServerClock()
    booksActions = true
    figures = BrokerFigures()
  }

  /// Blocks until there may be something to do.
  package func wait(milliseconds: Int32, interrupt: Int32) throws(AppStoreError) -> WakeReason {
    do throws(StoreError) {
      return try session?.connection.wait(milliseconds: milliseconds, interrupt: interrupt)
        ?? .interrupted
    } catch {
      throw .store(error)
    }
  }

  // MARK: Look

  /// Executes what waits, and looks at what changed.
  /// - Returns: whether more waits.
  package func look() throws(AppStoreError) -> Bool {
    guard let session, session.term != nil else { return false }
    do throws(AppStoreError) {
      unbooked = nil
      try readClock(session)
      guard try load(session) else { return false }
      let commands = try session.table.pending(limit: Self.commandsMax)
      let changes = try readChanges(session, isNeeded: !commands.isEmpty)
      let isPosted = try isActionDue(session)
      if changes != nil || !commands.isEmpty || isPosted || needsClock {
        try run(commands, changes: changes ?? .timeAlone)
      }
      figures.quoteSequence = watched.isEmpty ? nil : state?.feed.sequence
      let isNew = try follow()
      return isNew || commands.count == Self.commandsMax
    } catch {
      // Whether the step was stored may not be known, so nothing else is.
      state = nil
      throw error
    }
  }

  /// What time alone brings.
  package func tick() throws(AppStoreError) {
    guard let session, state != nil else {
      _ = try look()
      return
    }
    guard needsClock else { return }
    do throws(AppStoreError) {
      if clock.isOld(at: MonotonicClock.microseconds()) { try readClock(session) }
      try run([], changes: .timeAlone)
      _ = try follow()
    } catch {
      state = nil
      throw error
    }
  }

  var now: Timestamp {
    let time =
      options.clock?() ?? clock.time(at: MonotonicClock.microseconds())
      ?? Timestamp(microseconds: SystemClock.realMicroseconds())
    return Timestamp(microseconds: time.microseconds + figures.clockOffsetMicroseconds)
  }

  private func readClock(_ session: Session) throws(AppStoreError) {
    if options.clock != nil { return }
    let asked = MonotonicClock.microseconds()
    let time = try session.table.serverTime()
    clock.synchronize(time, asked: asked, answered: MonotonicClock.microseconds())
  }

  func readCalendar(_ session: Session) throws(AppStoreError) {
    do throws(StoreError) {
      let learnt = try session.reader.learntCalendar { reason in
        log.warning("learnt trading days are not known", metadata: ["reason": "\(reason)"])
      }
      if let learnt { calendar = learnt }
    } catch {
      throw .store(error)
    }
  }

  /// - Returns: false while the clock to go by is not known.
  func load(_ session: Session) throws(AppStoreError) -> Bool {
    if state != nil { return true }
    if options.followsDaemonClock {
      let feed = try readFeed(session, of: [], after: 0)
      // Its day, once taken, is never an earlier one.
      if feed.lastSeq == 0 { return false }
      figures.clockOffsetMicroseconds = feed.clockOffsetMicroseconds
    }
    try readCalendar(session)
    state = try BrokerState(
      from: session.table, ledgers: session.books, at: now, calendar: calendar)
    state?.uncovered.inputsMax = options.uncoveredInputsMax
    watched = state?.watched ?? []
    return true
  }

  private func readFeed(
    _ session: Session, of symbols: Set<Symbol>, after seq: Int64
  ) throws(AppStoreError) -> WatchedChanges {
    do throws(StoreError) {
      return try session.reader.changes(of: symbols, after: seq)
    } catch {
      throw .store(error)
    }
  }

  /// nil where no instrument is watched and nothing waits: then a sweep costs nothing.
  private func readChanges(
    _ session: Session, isNeeded: Bool
  ) throws(AppStoreError) -> WatchedChanges? {
    guard let state else { return nil }
    if watched.isEmpty, !isNeeded { return nil }
    let changes = try readFeed(session, of: watched, after: state.feed.sequence)
    if options.followsDaemonClock {
      figures.clockOffsetMicroseconds = changes.clockOffsetMicroseconds
    }
    return changes
  }

  /// Whether time alone may bring something.
  private var needsClock: Bool {
    guard let state else { return false }
    return state.step.day != nil || !state.purchases.isEmpty || state.openCount > 0
      || BrokerState.day(at: now, calendar: calendar) > state.day
  }

  /// Hints of the feed are wanted only while they matter.
  /// - Returns: whether they come from now on, so that what came before was not hinted at.
  private func follow() throws(AppStoreError) -> Bool {
    guard var session, state != nil else { return false }
    let isWanted = !watched.isEmpty
    if isWanted == session.isFollowing { return false }
    do throws(StoreError) {
      try session.connection.execute(
        isWanted ? "listen candled" : "unlisten candled", context: Self.context)
    } catch {
      throw .store(error)
    }
    session.isFollowing = isWanted
    self.session = session
    return isWanted
  }
}
