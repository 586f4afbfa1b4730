/// Looks at each commit for alerts: in memory, on the feed follower's thread, and without a word to
/// the database unless something fires.

import Alerts
import Market
import Platform
import Postgres
import Reader

package final class AlertWatch: FeedSink {
  private let memory: MarketMemory
  private let shared = Locked(Shared())
  /// Raised when there is something to do.
  let interrupt = Interrupt()

  package init(memory: MarketMemory) { self.memory = memory }

  private struct Shared: Sendable {
    var book: AlertBook?
    var subjects: [SeriesPlace: AlertSubject] = [:]
    /// How many series there were when places were looked up.
    var seriesCount = 0
    var tasks = AlertTasks()

    var hasStallAlerts: Bool { book.map { !$0.subjects(of: .sourceStale).isEmpty } ?? false }
  }

  // MARK: The feed

  package func receive(_ news: FeedNews) {
    let hasTasks = shared.withLock { shared in
      switch news {
      case .update(let update): Self.look(at: update, of: memory.state, into: &shared)
      case .resync: shared.tasks.isAll = true
      case .connection: break
      }
      return !shared.tasks.isEmpty
    }
    if hasTasks { interrupt.signal() }
  }

  private static func look(at update: FeedUpdate, of state: MarketState, into shared: inout Shared)
  {
    guard shared.book != nil else { return }
    if shared.seriesCount != state.directory.series.count { place(in: state, into: &shared) }
    for stock in update.stocks {
      guard let subject = shared.subjects[stock.place] else { continue }
      look(at: stock.place, of: subject, in: state, into: &shared)
    }
    for message in update.messages {
      let isWatched = message.place.map { shared.subjects[$0] != nil } ?? false
      switch message.kind {
      case .candle(.day1) where isWatched: message.place.map { _ = shared.tasks.days.insert($0) }
      case .gap where isWatched: shared.tasks.hasGaps = true
      case .event where shared.hasStallAlerts: shared.tasks.hasStalls = true
      default: break
      }
    }
  }

  private static func look(
    at place: SeriesPlace, of subject: AlertSubject, in state: MarketState,
    into shared: inout Shared
  ) {
    guard let quote = state.reading(of: place),
      let seen = shared.book?.look(at: quote.reading, of: subject, position: quote.position)
    else { return }
    shared.tasks.notices += seen.notices
    for entry in seen.unsettled {
      shared.tasks.unsettled[entry.alert.key(on: entry.reading.day)] = (entry, place)
    }
  }

  private static func place(in state: MarketState, into shared: inout Shared) {
    shared.seriesCount = state.directory.series.count
    let pairs = shared.book?.subjects.compactMap { subject in
      state.place(of: subject).map { ($0, subject) }
    }
    shared.subjects = Dictionary(pairs ?? []) { first, _ in first }
  }

  // MARK: The thread that writes

  /// From now on this is the book; what the market shows is looked at anew.
  func use(_ book: AlertBook) {
    shared.withLock { shared in
      shared.book = book
      look(at: book.subjects, into: &shared)
      shared.tasks.hasGaps = shared.tasks.hasGaps || !book.subjects(of: .gap).isEmpty
      shared.tasks.hasStalls = shared.tasks.hasStalls || !book.subjects(of: .sourceStale).isEmpty
    }
  }

  /// As `use`, of a book that differs in this part.
  func use(_ part: AlertBook.Part) {
    shared.withLock { shared in
      shared.book?.replace(part)
      look(at: part.subjects, into: &shared)
      let conditions = Set(part.alerts.map(\.condition))
      shared.tasks.hasGaps = shared.tasks.hasGaps || conditions.contains(.gap)
      shared.tasks.hasStalls = shared.tasks.hasStalls || conditions.contains(.sourceStale)
    }
  }

  private func look(at subjects: Set<AlertSubject>, into shared: inout Shared) {
    let state = memory.state
    Self.place(in: state, into: &shared)
    for (place, subject) in shared.subjects where subjects.contains(subject) {
      Self.look(at: place, of: subject, in: state, into: &shared)
    }
  }

  /// nil before it is loaded.
  var book: AlertBook? { shared.withLock { $0.book } }

  func takeTasks() -> AlertTasks {
    interrupt.clear()
    return shared.withLock { shared in
      defer { shared.tasks = AlertTasks() }
      return shared.tasks
    }
  }

  /// Where nothing is to be written before all is read again.
  func forget() {
    shared.withLock { shared in
      (shared.book, shared.tasks) = (nil, AlertTasks())
    }
  }

  var state: MarketState { memory.state }

  /// How many wait to fire; 0 before they are read.
  package var armedCount: Int { shared.withLock { $0.book?.armedCount ?? 0 } }
}

/// An alert that the minutes of its series decide.
typealias PlacedAlert = (alert: UnsettledAlert, place: SeriesPlace)

/// What the feed showed that concerns alerts.
struct AlertTasks: Sendable {
  var notices: [AlertNotice] = []
  /// Of each the newest.
  var unsettled: [FiringKey: PlacedAlert] = [:]
  /// Series whose candle of a day came or changed.
  var days: Set<SeriesPlace> = []
  var hasGaps = false
  var hasStalls = false
  /// The feed was not followed for a while.
  var isAll = false

  mutating func add(_ other: AlertTasks) {
    notices += other.notices
    unsettled.merge(other.unsettled) { $1 }
    days.formUnion(other.days)
    hasGaps = hasGaps || other.hasGaps
    hasStalls = hasStalls || other.hasStalls
  }

  var isEmpty: Bool {
    notices.isEmpty && unsettled.isEmpty && days.isEmpty && !hasGaps && !hasStalls && !isAll
  }
}

extension MarketState {
  func place(of subject: AlertSubject) -> SeriesPlace? {
    subject.symbol.flatMap { directory.place(spelling: $0.description, source: subject.source) }
  }

  var position: FeedPosition {
    FeedPosition(epoch: epoch, seq: seq, at: knownAt ?? Timestamp(microseconds: 0))
  }

  /// The newest quote of a series; nil where it has none.
  func reading(of place: SeriesPlace) -> (reading: DayReading, position: FeedPosition)? {
    guard let stock = stock(at: place) else { return nil }
    let figures = stock.figures
    var reading = DayReading(day: figures.tradingDay, volume: figures.volume)
    reading.previousClose = figures.previousClose
    (reading.high, reading.low, reading.last) = (figures.high, figures.low, figures.price)
    reading.limitUp = limitUp(of: place, in: reading)
    var position = position
    position.seq = stock.seq
    return (reading, position)
  }

  func limitUp(of place: SeriesPlace, in reading: DayReading) -> ExactDecimal? {
    let identity = directory.identity(of: place, named: directory[place].name)
    return reading.previousClose.flatMap {
      identity.band(previousClose: $0, on: reading.day)?.upper
    }
  }
}
