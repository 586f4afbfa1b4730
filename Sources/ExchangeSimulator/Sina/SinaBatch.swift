import Market

/// One answer in the making: lines, what faults did to them, and which are still worth believing.
struct SinaBatch {
  private let observer: (any DayObserver)?
  private let rowFaults: [ActiveFault]
  private let bodyFaults: [ActiveFault]
  private var body: [UInt8] = []
  /// Instruments in the answer with the bytes of the body that end their lines.
  private var rows: [(place: Int32, end: Int)] = []
  private var invalid: Set<Int32> = []
  private var replaced: [Int] = []

  init(faults: [ActiveFault], observer: (any DayObserver)?) {
    self.observer = observer
    rowFaults = faults.filter(\.kind.isAboutRows)
    bodyFaults = faults.filter { !$0.kind.isAboutRows }
  }

  mutating func append(_ symbol: Symbol, of market: inout SimulatedMarket) {
    guard let place = market.place(of: symbol) else {
      SinaOverview.appendLine(symbol, of: market, to: &body)
      return
    }
    let start = body.count
    market.appendLine(at: place, to: &body)
    if let number = observer?.replaceLine(at: place, of: &market, in: &body, from: start) {
      invalid.insert(place)
      replaced.append(number)
    } else if !rowFaults.isEmpty {
      corrupt(symbol, at: place, from: start, of: market)
    }
    rows.append((place, body.count))
  }

  /// Applies the row faults that fall on this line.
  private mutating func corrupt(
    _ symbol: Symbol, at place: Int32, from start: Int, of market: SimulatedMarket
  ) {
    for fault in rowFaults where fault.strikes(symbol) {
      var line = RowCorruption(Array(body[start...]))
      let served = observer?.lastServedStamp(at: place) ?? Int32.max
      let outcome = line.apply(
        fault, state: market.states[Int(place)], traits: market.traits[Int(place)],
        now: Int32(market.second), servedStamp: served)
      if outcome == .invalid { invalid.insert(place) }
      if outcome != .untouched {
        body.replaceSubrange(start..., with: line.bytes)
        return
      }
    }
  }

  /// The finished answer, shown to the observer.
  mutating func response(of market: SimulatedMarket) -> SimulatedResponse {
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
      rows.map(\.place), of: market, except: invalid, replaced: replaced)
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

extension SimulatedMarket {
  /// The lines of `symbols` as a server would send them, shown to `observer`.
  package mutating func body(for symbols: [Symbol], shownTo observer: any DayObserver) -> [UInt8] {
    var batch = SinaBatch(faults: [], observer: observer)
    for symbol in symbols { batch.append(symbol, of: &self) }
    return batch.response(of: self).body
  }
}
