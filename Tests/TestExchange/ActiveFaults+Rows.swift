import ExchangeSimulator
import Market

/// Single rows; their neighbours are untouched.
extension ActiveFaults {
  /// The fault that strikes a row of a list or a series, told apart by any number of its own.
  func kind(strikingRow number: Int) -> Fault.Kind? {
    rowFaults.first { $0.strikes(row: Int64(number)) }?.kind
  }

  func damageLine(
    at place: Int32, showing state: InstrumentState, of market: SimulatedMarket, served: Int32,
    in body: inout [UInt8], from start: Int
  ) -> Bool {
    guard let layout = LineLayout.of[upstream] else { return true }
    var counts = true
    for fault in rowFaults where fault.strikes(market.symbols[Int(place)]) {
      var line = RowCorruption(Array(body[start...]), layout)
      let outcome = line.apply(
        fault, state: state, traits: market.traits[Int(place)], now: market.now,
        servedStamp: served)
      if outcome == .invalid { counts = false }
      if outcome != .untouched {
        body.replaceSubrange(start..., with: line.bytes)
        return counts
      }
    }
    return counts
  }

  func texts(of row: KlineRow, number: Int) -> [String] {
    var struck = row
    switch kind(strikingRow: number) {
    case .missingRow: return []
    case .duplicateRow: return [row.text, row.text]
    case .garbageRow: return ["{\"day\":\"\(row.day)\",\"open\":"]
    case .notANumber: struck.prices[3] = "NaN"
    case .negative: struck.prices[3] = "-1.000"
    case .highBelowLow: (struck.prices[1], struck.prices[2]) = ("1.000", "2.000")
    case .priceTimesThousand: struck.prices[1].replace(".", with: "")
    case .volumeTimesThousand: struck.volume += "000"
    case .futureStamp: struck.day = "2199" + row.day.dropFirst(4)
    case .openAboveHigh: struck.prices[0] = "9" + row.prices[0]
    default: break
    }
    return [struck.text]
  }

  func texts(of row: NodeRow, number: Int) -> [String] {
    var struck = row
    switch kind(strikingRow: number) {
    case .missingRow: return []
    case .duplicateRow: return [row.text, row.text]
    case .garbageRow: return ["{\"symbol\":"]
    case .brokenName: struck.name = "\\ud842"
    case .notANumber: struck.code = "60A000"
    default: break
    }
    return [struck.text]
  }
}

/// What Alpaca's pages and lists suffer.
extension ActiveFaults {
  /// `null` instead of an object.
  var hasNoBars: Bool { bodyFaults.contains { $0.kind == .nullBars } }

  /// - Parameter number: of the request; what makes an endless chain of tokens differ.
  func damage(_ page: inout AlpacaPage, of query: AlpacaQuery, number: Int) {
    let kinds = Set(bodyFaults.map(\.kind))
    if kinds.contains(.repeatedToken), let first = page.rows.first {
      page.token = AlpacaPageToken(symbol: first.symbol, start: first.bar.start, kind: "M").text
    }
    if kinds.contains(.endlessPages), page.token == nil, let last = query.symbols.last {
      let beyond = min(query.end, AlpacaPageToken.latest).adding(milliseconds: Int64(number))
      page.token = AlpacaPageToken(symbol: last, start: beyond, kind: "M").text
    }
  }

  /// A bar as it is served: none, one or two objects.
  func texts(of bar: USMarket.Bar, symbol: Symbol) -> [String] {
    var struck = bar
    let fault = rowFaults.first {
      $0.strikes(symbol) && $0.strikes(row: bar.start.seconds)
    }
    switch fault?.kind {
    case .missingRow: return []
    case .duplicateRow: return [bar.text(), bar.text()]
    case .garbageRow: return ["{\"c\":\"?\"}"]
    case .notANumber: return [bar.text(close: "NaN")]
    case .negative: struck.close = -10_000
    case .highBelowLow: (struck.high, struck.low) = (10_000, 20_000)
    case .priceTimesThousand: struck.high *= 1000
    case .volumeTimesThousand: struck.volume *= 1000
    case .futureStamp: struck.start = bar.start.adding(seconds: 100 * 365 * 86_400)
    case .openAboveHigh: struck.open = bar.high + 10_000
    default: break
    }
    return [struck.text()]
  }

  /// The JSON of an asset's symbol; nil if the row is missing.
  func assetSymbol(_ symbol: String, number: Int) -> String? {
    switch kind(strikingRow: number) {
    case .missingRow: nil
    case .notANumber: "null"
    default: symbol
    }
  }
}
