/// Executes what users ask of their paper accounts: the one broker of a database.
///
///     lead → load → (commands, rows, time → step → COMMIT) …
///
/// It leads under a lease, whose term each step asks for: one that was frozen while another took
/// the lease commits nothing. What a step changes is known once it is stored; after any failure
/// everything is read again.

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
    var lease: GatewayLease
    var isFollowing = false
  }

  private let options: BrokerOptions
  let log: Logger
  private(set) var session: Session?
  var state: BrokerState?
  /// The instruments whose rows are asked for, as the state has them.
  var watched: Set<Symbol> = []
  /// Until the database refuses one of them.
  var booksActions = true
  /// Corporate actions of which something is left to do; nil: not read since there was news.
  var unfinished: [CorporateAction]?
  /// The next broker of this process goes on with it.
  private(set) var clock: ServerClock
  /// Since when the process's own feed lacks what the database has; nil: it lacks nothing.
  private(set) var behindSince: Int64?
  /// When the links of instruments were taken last; nil: not since this broker began.
  private var linksTakenAt: Int64?
  /// When no command waited; nil: not since this broker began.
  private var drainedAt: Int64?
  /// The trading days, those included that the daemon has learnt.
  private(set) var calendar = TradingCalendar.shanghai
  package internal(set) var figures = BrokerFigures()

  static let context = "broker"
  /// The commands of a step: what more waits is for the next one.
  private static let commandsMax = 256
  /// A feed that is behind for longer is not waited for.
  private static let behindMicrosecondsMax: Int64 = 1_000_000
  /// A link is known days before it matters, or too late for the day's first row.
  private static let linksMicroseconds: Int64 = 60_000_000

  convenience package init(_ options: BrokerOptions, log: Logger) {
    self.init(options, clock: ServerClock(), log: log)
  }

  /// - Parameter clock: as a broker of this process before it left it.
  init(_ options: BrokerOptions, clock: ServerClock, log: Logger) {
    self.options = options
    self.clock = clock
    self.log = log
  }

  // MARK: Lead

  /// Takes the lead, connecting if need be; on a standby nobody leads before it is promoted.
  /// - Returns: whether this broker leads.
  package func lead() throws(AppStoreError) -> Bool {
    if session == nil { session = try connect() }
    guard var session else { return false }
    if session.lease.term != nil { return true }
    let isStandby = try AppStoreError.ofStore { () throws(StoreError) in
      try session.connection.isStandby()
    }
    if isStandby { return false }
    let isTaken = try session.lease.take(holder: options.holder, at: milliseconds)
    self.session = session
    guard isTaken, let term = session.lease.term else { return false }
    try session.table.listen()
    try session.table.beginEpoch()
    figures.term = term
    log.notice("this gateway executes paper orders", metadata: ["term": "\(term)"])
    return true
  }

  private func connect() throws(AppStoreError) -> Session {
    try AppStoreError.ofStore { () throws(StoreError) -> Session in
      let connection = try PostgresConnection(
        url: options.url, application: "candled gateway broker",
        unacknowledgedMilliseconds: Self.unacknowledgedMilliseconds)
      let app = try AppConnection(brokerOn: connection)
      return Session(
        connection: connection, reader: try StoreReader(on: connection), table: BrokerTable(app),
        lease: GatewayLease(.broker, over: app))
    }
  }

  /// Another leads within ten seconds of the end of this machine.
  private static let unacknowledgedMilliseconds = 8_000

  /// Ends the session, and the lead with it; nothing is known any more.
  package func drop() {
    session = nil
    (state, watched, behindSince, linksTakenAt) = (nil, [], nil, nil)
    options.mailbox?.want(false)
    booksActions = true
    figures = BrokerFigures()
  }

  /// Blocks until there may be something to do.
  package func wait(milliseconds: Int32, interrupt: Int32) throws(AppStoreError) -> WakeReason {
    try AppStoreError.ofStore { () throws(StoreError) in
      try session?.connection.wait(milliseconds: milliseconds, interrupt: interrupt) ?? .interrupted
    }
  }

  // MARK: Look

  /// Executes what waits, and looks at what changed.
  /// - Returns: whether more waits.
  package func look() throws(AppStoreError) -> Bool {
    guard let session, session.lease.term != nil else { return false }
    do throws(AppStoreError) {
      unfinished = nil
      try beat()
      try readClock(session)
      if areLinksOld, booksActions {
        try session.table.takeLinks()
        linksTakenAt = counter
      }
      guard try load(session) else { return false }
      let readAt = counter
      let commands = try waiting(session)
      let changes = try readChanges(session, isNeeded: !commands.isEmpty)
      let isPosted = try isActionDue(session)
      let mayTimePass = needsClock && behindSince == nil
      if changes != nil || !commands.isEmpty || isPosted || mayTimePass {
        try run(commands, changes: changes ?? .timeAlone)
      }
      if commands.count < Self.commandsMax { drainedAt = readAt }
      figures.quoteSequence = watched.isEmpty ? nil : state?.feed.sequence
      let isNew = try follow()
      let isActionLeft = try isActionDue(session)
      return isNew || isActionLeft || commands.count == Self.commandsMax
    } catch {
      // Whether the step was stored may not be known, so nothing else is.
      state = nil
      throw error
    }
  }

  /// What time alone brings.
  package func tick() throws(AppStoreError) {
    guard let session, state != nil, behindSince == nil, !areLinksOld,
      try !isActionDue(session)
    else {
      _ = try look()
      return
    }
    do throws(AppStoreError) {
      try beat()
      guard needsClock else { return }
      // Rows may wait that came while this machine stood still.
      if clock.isOld(at: counter) {
        _ = try look()
        return
      }
      if !clock.isConfirmed { try readClock(session) }
      try run([], changes: .timeAlone)
      _ = try follow()
    } catch {
      state = nil
      throw error
    }
  }

  /// Shows whoever waits for the lease that this broker lives.
  func beat() throws(AppStoreError) { try session?.lease.beat(at: milliseconds) }

  /// What no command waited through, none has waited for, whatever the server's clock says.
  private func waiting(_ session: Session) throws(AppStoreError) -> [PendingCommand] {
    var commands = try session.table.pending(limit: Self.commandsMax)
    guard let drainedAt else { return commands }
    let longest = counter - drainedAt
    for index in commands.indices {
      commands[index].waitedMicroseconds = min(commands[index].waitedMicroseconds, longest)
    }
    return commands
  }

  // MARK: Time

  var now: Timestamp {
    let time =
      clock.time(at: counter) ?? Timestamp(microseconds: SystemClock.realMicroseconds())
    return Timestamp(microseconds: time.microseconds + figures.clockOffsetMicroseconds)
  }

  /// Whether what is irrevocable may go by `now`: a simulated market has no other clock.
  var isClockConfirmed: Bool { options.followsDaemonClock || clock.isConfirmed }

  /// Steady.
  private var counter: Int64 {
    options.counter?() ?? options.clock?().microseconds ?? ServerClock.counter()
  }

  private var milliseconds: Int64 { counter / 1_000 }

  private var areLinksOld: Bool {
    linksTakenAt.map { counter - $0 >= Self.linksMicroseconds } ?? true
  }

  private func readClock(_ session: Session) throws(AppStoreError) {
    let asked = counter
    if let time = options.clock?() {
      clock.synchronize(time, asked: asked, answered: asked)
    } else {
      clock.synchronize(try session.table.serverTime(), asked: asked, answered: counter)
    }
    if isClockConfirmed { return }
    let feed = try readFeed(session, of: [], after: 0)
    if let knownAt = feed.knownAt { clock.witness(change: knownAt, at: counter) }
  }

  /// Rows that have just come.
  func witness(_ quotes: [WatchedQuote]) {
    let counter = self.counter
    for row in quotes {
      let quote = row.quote.quote
      clock.witness(
        row: Timestamp(day: quote.tradingDay, secondOfDay: Int(quote.secondOfDay)), at: counter)
    }
  }

  func readCalendar(_ session: Session) throws(AppStoreError) {
    calendar = try AppStoreError.ofStore { () throws(StoreError) in
      try session.reader.learntCalendar()
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
      from: session.table, at: now, calendar: calendar, schedule: options.schedule
    ) { () throws(AppStoreError) in try self.beat() }
    state?.rules.sameDayFunds = options.sameDayFunds
    for action in try session.table.successions() { state?.rules.follow(action) }
    watched = state?.watched ?? []
    return true
  }

  private func readFeed(
    _ session: Session, of symbols: Set<Symbol>, after seq: Int64
  ) throws(AppStoreError) -> WatchedChanges {
    try AppStoreError.ofStore { () throws(StoreError) in
      try session.reader.changes(of: symbols, after: seq)
    }
  }

  /// nil where nothing came, or no instrument is watched and nothing waits: then a sweep costs
  /// nothing.
  private func readChanges(
    _ session: Session, isNeeded: Bool
  ) throws(AppStoreError) -> WatchedChanges? {
    guard let state else { return nil }
    let since = behindSince
    behindSince = nil
    options.mailbox?.want(!watched.isEmpty)
    if watched.isEmpty, !isNeeded { return nil }
    let seq = state.feed.sequence
    let changes: WatchedChanges
    if let found = try readMailbox(session, after: seq, behindSince: since) {
      guard let newest = found.changes else { return nil }
      changes = newest
    } else {
      changes = try readFeed(session, of: watched, after: seq)
    }
    if options.followsDaemonClock {
      figures.clockOffsetMicroseconds = changes.clockOffsetMicroseconds
    } else {
      witness(changes.quotes)
    }
    return changes
  }

  /// What the process's own feed has; nil: the database is to be read, as before a day ends.
  private func readMailbox(
    _ session: Session, after seq: Int64, behindSince since: Int64?
  ) throws(AppStoreError) -> (changes: WatchedChanges?, isBehind: Bool)? {
    guard let mailbox = options.mailbox, !watched.isEmpty else { return nil }
    let position = try AppStoreError.ofStore { () throws(StoreError) in
      try session.reader.watchedPosition()
    }
    guard let found = mailbox.changes(of: watched, after: seq, at: position) else { return nil }
    if found.isBehind {
      // Time stands still meanwhile, so that progress does not put the end off.
      let since = since ?? counter
      if isDayOver || counter - since >= Self.behindMicrosecondsMax { return nil }
      behindSince = since
    }
    return found
  }

  /// Whether time alone may bring something.
  private var needsClock: Bool {
    guard let state else { return false }
    return state.step.day != nil || !state.purchases.isEmpty || state.openCount > 0 || isDayOver
  }

  private var isDayOver: Bool { BrokerState.day(at: now, calendar: calendar) != state?.day }

  /// Hints of the feed are wanted only while they matter.
  /// - Returns: whether they come from now on, so that what came before was not hinted at.
  private func follow() throws(AppStoreError) -> Bool {
    guard var session, state != nil else { return false }
    let isWanted = !watched.isEmpty
    if isWanted == session.isFollowing { return false }
    try AppStoreError.ofStore { () throws(StoreError) -> Void in
      try session.connection.execute(
        isWanted ? "listen candled" : "unlisten candled", context: Self.context)
    }
    session.isFollowing = isWanted
    self.session = session
    return isWanted
  }
}
