import AppStore
import Logging
import Market
import PaperTrading
import Reader

/// What one step does, and what becomes of it where the database does not take it.
extension Broker {
  /// As one step; where the database takes that for none, each part as one, and what it does not
  /// take alone is refused or left out, so that it never holds up the others.
  func run(
    _ commands: [PendingCommand], changes: WatchedChanges
  ) throws(AppStoreError) {
    do throws(AppStoreError) {
      try perform(commands, changes: changes)
    } catch {
      guard error.isOfData, let session else { throw error }
      log.error("a step of the broker was refused", metadata: ["reason": "\(error)"])
      state = nil
      guard try load(session), try isTakenAlone(session) else { return }
      let parts = changes.parts(at: state?.feed.sequence ?? 0)
      if commands.count + parts.count > 1 {
        for command in commands { try run([command], changes: .timeAlone) }
        for part in parts { try run([], changes: part) }
        try run([], changes: changes.withoutRows)
      } else if let command = commands.first {
        try refuse(command)
      } else if parts.isEmpty {
        throw error
      } else {
        try leaveOut(changes)
      }
    }
  }

  /// What follows from a row that the database does not take is lost; the rows behind it count what
  /// it counted.
  private func leaveOut(_ changes: WatchedChanges) throws(AppStoreError) {
    let quote = changes.quotes.first?.quote
    let certified = changes.certified.first
    let row =
      quote.map { "the quote of \($0.quote.symbol) of change \($0.seq)" }
      ?? certified.map { "the certificate of \($0.symbol) of \($0.day)" } ?? ""
    log.error("a row of the feed is left out", metadata: ["row": "\(row)"])
    try perform([], changes: changes.withoutRows)
  }

  /// Does what time and corporate actions bring, without the latter if the database refuses them:
  /// then they wait for the next session.
  private func isTakenAlone(_ session: Session) throws(AppStoreError) -> Bool {
    do throws(AppStoreError) {
      try perform([], changes: .timeAlone)
      return true
    } catch {
      guard error.isOfData, booksActions else { throw error }
      log.error("corporate actions are not booked", metadata: ["reason": "\(error)"])
      (state, booksActions) = (nil, false)
      return try load(session)
    }
  }

  private func refuse(_ command: PendingCommand) throws(AppStoreError) {
    guard var next = state.take() else { return }
    let refusal = CommandRefusal("internal", "the database refused what follows from the command")
    next.step.finish(command, .refused(refusal))
    try store(next)
  }

  private func perform(
    _ commands: [PendingCommand], changes: WatchedChanges
  ) throws(AppStoreError) {
    guard let session, var next = state.take() else { return }
    let begun = ContinuousClock.now
    next.clock = BrokerState.Clock(now: now, isConfirmed: isClockConfirmed)
    next.clock.isDayUncertain =
      !isClockConfirmed && BrokerState.day(at: now, calendar: calendar) != next.day
    var appliedOn: TradingDay?
    if next.dueDay(calendar: calendar) != nil {
      try readCalendar(session)
      // What the day still had comes before its end.
      appliedOn = next.day
      apply(changes, to: &next)
      next.beginDay(calendar: calendar)
    }
    try next.addAccounts(Set(commands.map(\.accountID)), from: session.table)
    // They are for what is stored: behind rows and settlements they wait for the next step.
    if next.step.postings.isEmpty { try bookActions(on: &next, over: session) }
    let rows = try newestRows(of: commands, in: next, over: session)
    for command in commands {
      let result = next.execute(command) { rows[$0] }
      next.step.finish(command, result)
    }
    if appliedOn != next.day { apply(changes, to: &next) }
    // Rows that are known to be there come before what time brings.
    if behindSince == nil { next.advance() }
    next.writePlaces()
    for complaint in next.complaints { log.error("\(complaint)") }
    next.complaints = []
    figures.decisions.record(begun.duration(to: .now))
    try store(next)
  }

  /// Whether there is one whose ex-day has begun, and of which something is left to do now.
  func isActionDue(_ session: Session) throws(AppStoreError) -> Bool {
    guard let state else { return false }
    let today = now.shanghaiDay
    return try unfinishedActions(session).contains { state.isDue($0, today: today) }
  }

  private func unfinishedActions(_ session: Session) throws(AppStoreError) -> [CorporateAction] {
    if !booksActions { return [] }
    if let unfinished { return unfinished }
    let actions = try session.table.unfinishedActions()
    unfinished = actions
    return actions
  }

  private func bookActions(
    on next: inout BrokerState, over session: Session
  ) throws(AppStoreError) {
    let (actions, areAll) = next.due(of: try unfinishedActions(session))
    for action in actions {
      if action.withdrawnAt == nil, action.terms.successor != nil {
        var holders = try session.table.costs(of: action.symbol)
        if action.bookedOn != nil { holders = holders.filter { action.failed.contains($0.key) } }
        try next.addAccounts(Set(holders.keys), from: session.table)
        next.succeed(action, of: holders)
      } else if action.withdrawnAt == nil {
        var holders = try session.table.holders(of: action.symbol, before: action.exDay)
        if action.bookedOn != nil { holders = holders.filter { action.failed.contains($0.key) } }
        try next.addAccounts(Set(holders.keys), from: session.table)
        next.book(action, for: holders)
      } else {
        let postings = try session.table.postings(ofAction: action.id)
        let accounts = Set(postings.map(\.accountID))
        try next.addAccounts(accounts, from: session.table)
        next.reverse(action, of: postings)
      }
    }
    if areAll { next.rules.triesFailedActions = false }
  }

  private func newestRows(
    of commands: [PendingCommand], in state: BrokerState, over session: Session
  ) throws(AppStoreError) -> [Symbol: FeedRow] {
    let symbols = Set(commands.compactMap { state.symbol(of: $0) })
    if symbols.isEmpty { return [:] }
    let quotes = try AppStoreError.ofStore { () throws(StoreError) in
      try session.reader.quotes(of: symbols)
    }
    var rows: [Symbol: FeedRow] = [:]
    for quote in quotes {
      if let row = FeedRow(quote, on: state.day) { rows[row.symbol] = rows[row.symbol] ?? row }
    }
    return rows
  }

  private func apply(_ changes: WatchedChanges, to next: inout BrokerState) {
    if changes.lastSeq < 0 { return }
    next.feed.watch(changes.symbols)
    for quote in changes.quotes {
      guard let row = FeedRow(quote, on: next.day) else { continue }
      next.apply(row: row, isCorrected: changes.corrected[row.symbol] != nil)
    }
    for certified in changes.certifiedInOrder where certified.day == next.day {
      next.certify(certified)
    }
    next.feed.sequence = changes.lastSeq
  }

  /// Stores a step, if there is one, and knows what it says from then on.
  private func store(_ next: BrokerState) throws(AppStoreError) {
    var next = next
    guard let session, let term = session.lease.term else { return }
    var step = next.step
    next.step = BrokerStep()
    if step.isEmpty {
      state = next
      return
    }
    var move = CursorMove()
    (move.quoteSequence, move.day) = (next.feed.sequence, step.day)
    move.isDurable = !step.booksNothing
    let begun = ContinuousClock.now
    try session.table.step(term: term, move: move) { (sequence) throws(AppStoreError) in
      for index in step.outcomes.indices {
        step.outcomes[index].outcome.sequence = sequence + Int64(index) + 1
      }
      try session.table.write(step)
    }
    if !step.actions.isEmpty { unfinished = nil }
    state = next
    watched = next.watched
    figures.openOrders = next.openCount
    figures.steps.record(begun.duration(to: .now))
  }
}

extension WatchedChanges {
  /// No look at the feed.
  static let timeAlone = WatchedChanges(lastSeq: -1, clockOffsetMicroseconds: 0)

  fileprivate var certifiedInOrder: [CertifiedDay] {
    certified.sorted { ($0.day, $0.symbol) < ($1.day, $1.symbol) }
  }

  /// The same look: it moves the cursor alone.
  fileprivate var withoutRows: WatchedChanges {
    var rest = self
    (rest.quotes, rest.certified) = ([], [])
    return rest
  }

  /// Each row alone. The cursor stays: who takes over in between must find the others.
  fileprivate func parts(at sequence: Int64) -> [WatchedChanges] {
    var none = withoutRows
    none.lastSeq = sequence
    var parts: [WatchedChanges] = []
    for quote in quotes {
      parts.append(none)
      parts[parts.count - 1].quotes = [quote]
    }
    for day in certifiedInOrder {
      parts.append(none)
      parts[parts.count - 1].certified = [day]
    }
    return parts
  }
}
