import Market

/// Whether the exchange trades today, by the rows of all live sources of a series: where no
/// calendar knows it, or the calendar is wrong.
///
///     undecided ──most rows of a response are of today──▶ open
///     undecided ──in trading every source keeps one and the same earlier date──▶ closed
///     closed ──most rows of a response are of today──▶ open
///     open ──no source has a newer stamp──▶ standing still, until one has
///
/// A source that keeps an earlier date while another has today's is stale, and rows that do amid
/// those of today are of suspended instruments. Sans-IO: what it finds is a function of the
/// responses, so that a replay finds the same.
struct DayWatch: Sendable {
  enum State: Sendable, Hashable {
    case undecided, open
    /// Nothing trades, and no calendar said so.
    case closed(keeps: TradingDay)
    /// Rows are of today, and none is newer than this.
    case standingStill(since: Stamp)
  }

  /// A good response with rows.
  struct Response: Sendable {
    var source: Source
    /// The newest stamp in it.
    var newest: Timestamp
    /// Whether most of its rows are of today.
    var isOfToday: Bool
    var receivedAt: Timestamp
  }

  /// The newest stamp of all sources, and when one had a newer stamp than before: the clocks of
  /// sources and ours differ.
  struct Stamp: Sendable, Hashable {
    var at: Timestamp
    var receivedAt: Timestamp
    /// Microseconds from one to the other; none where a standstill may have begun before.
    var lag: Int64 = 0
  }

  private struct Account: Sendable {
    var newest: Timestamp
    var receivedAt: Timestamp
  }

  /// Of today.
  var hours: TradingHours
  private(set) var state = State.undecided
  private var day: TradingDay?
  private var accounts: [Source: Account] = [:]
  private var newest: Stamp?
  private var staleSources: Set<Source> = []
  /// A closed day is over.
  private var isConfirmed = false
  /// The second of today since which there is something to see, and somebody who looks.
  private var watchedFrom = 0
  /// Of several that are configured, one alone confirms no closed day.
  var sourcesConfigured = 1

  /// From then on after the open, and after the close, dates are proof.
  static let openingSeconds = 30
  static let closingSeconds = 600
  /// What one source alone shows is believed once it was watched so long in trading: others are
  /// requested meanwhile.
  static let loneSeconds = 1_800
  /// As `quotes.failover` is by default: a source that stands still for so long is left, if another
  /// does not.
  static let stillSeconds = 12
  /// A source that was not heard of for longer says nothing of now.
  static let freshSeconds: Int64 = 60
  /// Rows of so long ago have come, if there are any.
  static let arrivalSeconds: Int64 = 6

  init(_ hours: TradingHours) { self.hours = hours }

  /// Whether most rows are known to be of that day.
  func isOpen(_ today: TradingDay) -> Bool {
    switch state {
    case .open, .standingStill: day == today
    case .undecided, .closed: false
    }
  }

  /// The date that all sources keep; nil unless they do so on that day.
  func dateKept(on today: TradingDay) -> TradingDay? {
    if case .closed(let keeps) = state, day == today { keeps } else { nil }
  }

  /// While the exchange stands still, the moment up to which nothing has traded.
  func provenThrough(_ receivedAt: Timestamp) -> Timestamp? {
    guard case .standingStill(let since) = state, day == hours.clock.day(at: receivedAt) else {
      return nil
    }
    return Timestamp(microseconds: receivedAt.microseconds - since.lag)
      .adding(seconds: -Self.arrivalSeconds)
  }

  mutating func received(_ response: Response) -> [DayFinding] {
    let today = hours.clock.day(at: response.receivedAt)
    var findings = begin(today, at: response.receivedAt)
    let known = accounts[response.source]?.newest
    accounts[response.source] = Account(
      newest: max(known ?? response.newest, response.newest), receivedAt: response.receivedAt)
    if let before = newest {
      if known ?? before.at < response.newest {
        let at = max(before.at, response.newest)
        newest = Stamp(
          at: at, receivedAt: response.receivedAt,
          lag: response.receivedAt.microseconds(since: at))
      }
    } else {
      newest = Stamp(at: response.newest, receivedAt: response.receivedAt)
    }
    if response.isOfToday, !isOpen(today) {
      state = .open
      findings.append(.opened(today))
    } else if hours.clock.day(at: response.newest) < today {
      findings += keptDate(of: response, on: today)
    }
    return findings + stoodStill(at: response.receivedAt, on: today)
  }

  private mutating func begin(_ today: TradingDay, at now: Timestamp) -> [DayFinding] {
    if today == day { return [] }
    defer {
      day = today
      state = .undecided
      staleSources = []
      isConfirmed = false
      watchedFrom = max(hours.opens, hours.clock.second(of: now, on: today))
    }
    if case .closed = state, !isConfirmed, let day { return [.unproven(day)] }
    return []
  }

  /// The response has no row of today.
  private mutating func keptDate(of response: Response, on today: TradingDay) -> [DayFinding] {
    let second = hours.clock.second(of: response.receivedAt, on: today)
    guard second >= hours.opens + Self.openingSeconds else { return [] }
    // What closed a day in the morning is seen again behind its close.
    let isClosed = dateKept(on: today) != nil
    let since = hours.moment(on: today, secondOfDay: isClosed ? hours.closes : hours.opens)
    let heard = accounts.values.filter { $0.receivedAt >= since }
    switch state {
    case .open, .standingStill:
      guard staleSources.insert(response.source).inserted else { return [] }
      return [.stale(response.source, keeps: hours.clock.day(at: response.newest))]
    case .undecided:
      let dates = Set(heard.map { hours.clock.day(at: $0.newest) })
      let isEnough = heard.count > 1 || second >= watchedFrom + Self.loneSeconds
      guard isEnough, dates.count == 1, let keeps = dates.first, keeps < today else { return [] }
      state = .closed(keeps: keeps)
      return [.closed(today, keeps: keeps)]
    case .closed:
      guard second >= hours.closes + Self.closingSeconds, !isConfirmed,
        heard.count >= min(sourcesConfigured, 2)
      else { return [] }
      isConfirmed = true
      return [.observedClosed(today)]
    }
  }

  private mutating func stoodStill(at now: Timestamp, on today: TradingDay) -> [DayFinding] {
    guard isOpen(today), let newest else { return [] }
    if case .standingStill(let since) = state {
      if newest == since { return [] }
      state = .open
      return [.moves(since: since.at)]
    }
    let second = hours.clock.second(of: now, on: today)
    // Seconds of trading since a newer stamp came.
    let traded = { [hours] (moment: Timestamp) in
      hours.tradingSeconds(before: hours.clock.second(of: moment, on: today))
        - hours.tradingSeconds(before: hours.clock.second(of: newest.receivedAt, on: today))
    }
    guard traded(now) >= Self.stillSeconds,
      !hours.silentMinutes.contains(hours.minute(of: second)), second < hours.closes
    else { return [] }
    let heard = accounts.values.count {
      hours.clock.day(at: $0.newest) == today
        && $0.receivedAt >= now.adding(seconds: -Self.freshSeconds)
        && traded($0.receivedAt) >= Self.stillSeconds / 2
    }
    guard heard > 1 else { return [] }
    state = .standingStill(since: newest)
    return [.standsStill(since: newest.at)]
  }
}
