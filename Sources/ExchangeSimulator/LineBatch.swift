import Market

/// One answer of quote lines in the making: what faults did to its lines, and which are still worth
/// believing.
struct LineBatch {
  let observer: (any DayObserver)?
  private let layout: LineLayout
  private let rowFaults: [ActiveFault]
  private let bodyFaults: [ActiveFault]
  var body: [UInt8] = []
  /// Instruments in the answer with the bytes of the body that end their lines.
  private var rows: [(place: Int32, end: Int)] = []
  private var invalid: Set<Int32> = []
  private var replaced: [Int] = []

  init(faults: [ActiveFault], layout: LineLayout, observer: (any DayObserver)?) {
    self.observer = observer
    self.layout = layout
    rowFaults = faults.filter(\.kind.isAboutRows)
    bodyFaults = faults.filter { !$0.kind.isAboutRows }
  }

  /// The line of an instrument stands in the body from `start` to the end.
  mutating func finishLine(
    of place: Int32, from start: Int, state: InstrumentState, in market: SimulatedMarket
  ) {
    if !rowFaults.isEmpty { corrupt(place, from: start, state: state, in: market) }
    rows.append((place, body.count))
  }

  /// Others' bytes stand there.
  mutating func finishReplacedLine(of place: Int32, number: Int) {
    invalid.insert(place)
    replaced.append(number)
    rows.append((place, body.count))
  }

  /// Applies the row faults that fall on this line.
  private mutating func corrupt(
    _ place: Int32, from start: Int, state: InstrumentState, in market: SimulatedMarket
  ) {
    for fault in rowFaults where fault.strikes(market.symbols[Int(place)]) {
      var line = RowCorruption(Array(body[start...]), layout)
      let served = observer?.lastServedStamp(at: place) ?? Int32.max
      let outcome = line.apply(
        fault, state: state, traits: market.traits[Int(place)], now: market.now,
        servedStamp: served)
      if outcome == .invalid { invalid.insert(place) }
      if outcome != .untouched {
        body.replaceSubrange(start..., with: line.bytes)
        return
      }
    }
  }

  /// The finished answer, shown to the observer.
  /// - Parameter refreshed: what it shows where that is not the market's last state.
  mutating func response(
    of market: SimulatedMarket, refreshed: RefreshedLines.Response? = nil
  ) -> SimulatedResponse {
    var delivery = SimulatedResponse.Delivery.whole
    for fault in bodyFaults {
      switch fault.kind {
      case .truncated(let byte): truncate(at: byte ?? fault.number(below: body.count))
      case .utf8Names: body = GB18030.decodedToUTF8(body) ?? body
      case .slowBody(let bytesPerSecond): delivery = .slow(bytesPerSecond: bytesPerSecond)
      case .wire(let script): delivery = .wire(script)
      case .cutConnection(let byte):
        delivery = .cut(afterBytes: min(byte, max(body.count - 1, 0)))
      default: continue
      }
    }
    var response = SimulatedResponse(body: body)
    response.delivery = delivery
    if case .cut = delivery { return response }
    response.ticket = observer?.observed(
      ServedLines(
        places: rows.map(\.place), invalid: invalid, replaced: replaced, refreshed: refreshed),
      of: market)
    return response
  }

  /// Cuts the body so that the line it hits is plainly unfinished: a cut between the closing quote
  /// and the line's end would leave it to taste whether the line still counts.
  private mutating func truncate(at byte: Int) {
    var end = min(max(byte, 0), body.count)
    if let hit = rows.first(where: { end < $0.end && end >= $0.end - 2 }) { end = hit.end - 3 }
    body.removeLast(body.count - end)
    for row in rows where row.end > end { invalid.insert(row.place) }
  }
}

/// The lines of one answer, for who observes the day.
package struct ServedLines {
  /// Instruments in the order of the answer.
  package var places: [Int32]
  /// Those whose lines are damaged beyond belief, replaced or missing.
  package var invalid: Set<Int32> = []
  /// The numbers of the lines that stand in the place of others.
  package var replaced: [Int] = []
  /// nil if the lines are those of the market's last state, with its stamps.
  package var refreshed: RefreshedLines.Response?

  package init(
    places: [Int32], invalid: Set<Int32> = [], replaced: [Int] = [],
    refreshed: RefreshedLines.Response? = nil
  ) {
    self.places = places
    self.invalid = invalid
    self.replaced = replaced
    self.refreshed = refreshed
  }
}
