/// What the feed follower knows, as a value: each event makes the next state and the news of it.
/// It does no input or output, so that tests go through every order of events.

import CandledClient
import Market
import Reader

struct FeedAssembler: Sendable {
  private(set) var state = MarketState()
  private var connectionLostAt: Timestamp?
  private var leaderLostAt: Timestamp?
  /// The newest day of each market: its 52 weeks are read anew with the first quote of a day.
  private var days: [MarketZone: TradingDay] = [:]
  /// When the first change came behind the directory.
  private var directoryUsedAt: Timestamp?

  /// Of factors that change by day, and the 52 weeks with them, no change says anything.
  private static let directorySecondsMax: Int64 = 900

  /// Whether the change names a series that the directory lacks, or another name of one, or
  /// changes codes, or begins a day, or comes a quarter of an hour later.
  func needsDirectory(for change: FeedChange) -> Bool {
    if let since = directoryUsedAt?.adding(seconds: Self.directorySecondsMax),
      since <= change.committedAt
    {
      return true
    }
    for case .codesChanged in change.events { return true }
    return change.quotes.contains { quote in
      guard let place = place(of: quote.quote.symbol, source: quote.source) else { return true }
      let series = state.directory[place]
      return series.name != quote.name || isNewDay(quote.quote, in: series.zone)
    } || change.candles.contains { state.directory.place(of: $0.candle) == nil }
  }

  private func isNewDay(_ quote: Quote, in zone: MarketZone) -> Bool {
    days[zone].map { $0 < quote.tradingDay } ?? true
  }

  mutating func setDirectory(_ records: [SeriesRecord]) {
    directoryUsedAt = nil
    state.directory = state.directory.updated(with: records)
    state.listVersion += 1
    let missing = state.directory.series.count - state.stocks.count
    state.stocks += Array(repeating: nil, count: missing)
  }

  mutating func setOverview(_ rows: [OverviewRow]) { state.overview = rows }

  mutating func setCalendars(of sessions: [MarketSession]) {
    state.calendar = TradingCalendar.shanghai.extended(byStored: sessions)
    state.americanCalendar = TradingCalendar(of: .unitedStates, stored: sessions)
  }

  /// Everything anew. The directory must be set before.
  mutating func load(_ snapshot: FeedSnapshot) {
    state.stocks = Array(repeating: nil, count: state.directory.series.count)
    (state.epoch, state.seq) = (snapshot.epoch, snapshot.seq)
    state.overview = snapshot.overview
    (state.committedAt, state.knownAt) = (snapshot.committedAt, snapshot.knownAt)
    state.stalled = [:]
    connectionLostAt = nil
    state.lostAt = leaderLostAt
    var text = JSONWriter()
    for quote in snapshot.quotes { store(quote, with: &text) }
  }

  mutating func apply(_ change: FeedChange) -> FeedUpdate {
    directoryUsedAt = directoryUsedAt ?? change.committedAt
    state.seq = change.seq
    (state.committedAt, state.knownAt) = (change.committedAt, change.knownAt)
    for event in change.events {
      switch event {
      case .feedStalled(let source, let since): state.stalled[source] = since
      case .feedRecovered(let source, _): state.stalled[source] = nil
      case .minuteComplete, .dayComplete, .codesChanged, .dispute: break
      }
    }
    var text = JSONWriter()
    var places: [SeriesPlace] = []
    for quote in change.quotes {
      if let place = store(quote, with: &text) { places.append(place) }
    }
    places.sort()
    return FeedUpdate(
      epoch: state.epoch, seq: change.seq, committedAt: change.committedAt,
      stocks: places.compactMap { state.stocks[$0.index] }, messages: messages(of: change))
  }

  /// The log of a change that a snapshot contains.
  func log(of change: FeedChange, epoch: Int64) -> FeedUpdate {
    FeedUpdate(
      epoch: epoch, seq: change.seq, committedAt: change.committedAt, stocks: [],
      messages: messages(of: change))
  }

  /// The connection is lost since then; nil: it is restored.
  mutating func setConnection(lostAt moment: Timestamp?) {
    // The first moment counts.
    connectionLostAt = moment.map { connectionLostAt ?? $0 }
    markStale()
  }

  /// No daemon leads since then; nil: one does.
  mutating func setLeader(lostAt moment: Timestamp?) {
    leaderLostAt = moment
    markStale()
  }

  private mutating func markStale() {
    let wasStale = state.lostAt != nil
    state.lostAt = connectionLostAt ?? leaderLostAt
    guard wasStale != (state.lostAt != nil) else { return }
    var text = JSONWriter()
    for case let stock? in state.stocks { store(stock.latest, with: &text) }
  }

  @discardableResult
  private mutating func store(
    _ quote: LatestQuote, with text: inout JSONWriter
  ) -> SeriesPlace? {
    guard let place = place(of: quote.quote.symbol, source: quote.source) else { return nil }
    let zone = state.directory[place].zone
    if isNewDay(quote.quote, in: zone) { days[zone] = quote.quote.tradingDay }
    let stock = EncodedStock(
      quote, place: place, identity: state.directory.identity(of: place, named: quote.name),
      isStale: state.lostAt != nil, with: &text)
    if state.figures(of: place)?.isListed != stock.figures.isListed { state.listVersion += 1 }
    state.stocks[place.index] = stock
    return place
  }

  private func place(of symbol: Symbol, source: Source) -> SeriesPlace? {
    state.directory.place(of: symbol, source: source)
  }
}

// MARK: - Messages

extension FeedAssembler {
  private func messages(of change: FeedChange) -> [FeedMessage] {
    var messages: [FeedMessage] = []
    for stored in change.candles { messages.append(message(of: stored, isRevised: false)) }
    for stored in change.revisions { messages.append(message(of: stored, isRevised: true)) }
    for (gap, kind) in change.gaps.map({ ($0, FeedMessage.Kind.gap) })
      + change.closedGaps.map({ ($0, .closedGap) })
    {
      let place = place(of: gap.symbol, source: gap.source)
      messages.append(message(kind, place) { $0.write(gap, as: Gap.shape, in: zone(of: place)) })
    }
    for certificate in change.certificates {
      let place = place(of: certificate.symbol, source: certificate.source)
      messages.append(
        message(.certificate, place) { $0.write(certificate, as: DayCertificate.shape) })
    }
    for event in change.events {
      var kind = FeedMessage.Kind.event
      if case .minuteComplete = event { kind = .minuteComplete }
      messages.append(message(kind, nil) { $0.write(event) })
    }
    return messages
  }

  private func message(of stored: StoredCandle, isRevised: Bool) -> FeedMessage {
    let place = state.directory.place(of: stored.candle)
    let series = place.map { state.directory[$0] }
    let json = JSONWriter.encode {
      $0.write(stored, state: isRevised ? "revised" : "final", series: series)
    }
    return FeedMessage(
      kind: .candle(stored.candle.timeframe), place: place, json: json,
      candle: CandleFigures(stored.candle, isRevised: isRevised, series: series))
  }

  private func zone(of place: SeriesPlace?) -> MarketZone {
    place.map { state.directory[$0].zone } ?? .utc
  }

  private func message(
    _ kind: FeedMessage.Kind, _ place: SeriesPlace?, body: (inout JSONWriter) -> Void
  ) -> FeedMessage {
    FeedMessage(kind: kind, place: place, json: JSONWriter.encode(object: body))
  }
}
