import Market

/// Mairui's lists: `/hslt/list/<licence>` (Shanghai and Shenzhen) and `/bj/list/all/<licence>`.
///
/// Every request counts against its licence before anything else happens to it. The rows come in no
/// order, and their names are those of the day.
package struct MairuiProtocol: UpstreamProtocol {
  private let options: MairuiOptions
  package private(set) var ledger = MairuiLedger()

  package init(_ options: MairuiOptions = MairuiOptions()) { self.options = options }

  package mutating func response(
    _ request: SimulatedRequest, from exchange: inout SimulatedExchange
  ) -> SimulatedResponse? {
    let target = RequestTarget(request.target)
    guard let (list, licence) = MairuiProtocol.listRequest(target.path) else { return nil }
    let moment = exchange.moment(requested: target.milliseconds)
    let uses = ledger.count(licence, on: moment.shanghaiDay)
    let faults = exchange.faults.active(on: .mairui, at: moment, symbols: [])
    if let refused = SimulatedResponse.refusal(faults) { return refused }
    switch options.licences[licence] {
    case nil: return SimulatedResponse(.mairuiInvalid)
    case .expired: return SimulatedResponse(.mairuiExpired)
    case .valid(let limit) where uses > limit:
      ledger.refused()
      return SimulatedResponse(options.exhausted)
    case .valid, .demonstration: break
    }
    let isDemonstration = options.licences[licence] == .demonstration
    let observers = exchange.observers
    let rows = exchange.timeline.show(at: moment, watchedBy: observers) { [options] market in
      MairuiRow.rows(of: market, list: list, options: options, isDemonstration: isDemonstration)
    }
    return SimulatedResponse.json(MairuiProtocol.body(rows, shape: options.shape, faults: faults))
      .suffering(
        faults)
  }

  enum List { case mainland, beijing }

  private static func listRequest(_ path: Substring) -> (List, licence: String)? {
    let lists: [(String, List)] = [("/hslt/list/", .mainland), ("/bj/list/all/", .beijing)]
    for (prefix, list) in lists where path.hasPrefix(prefix) {
      return (list, RequestTarget.unescaped(path.dropFirst(prefix.count)))
    }
    return nil
  }

  private static func body(
    _ rows: [MairuiRow], shape: MairuiOptions.Shape, faults: [ActiveFault]
  ) -> [UInt8] {
    var rows = rows[...]
    for fault in faults {
      if case .shortList(let count) = fault.kind { rows = rows.prefix(count) }
    }
    var body = Array("[".utf8)
    for (number, row) in rows.enumerated() {
      let fault = faults.first { $0.kind.isAboutRows && $0.strikes(row: Int64(number)) }
      for text in row.texts(shape, struckBy: fault?.kind) {
        if body.count > 1 { body.append(UInt8(ascii: ",")) }
        body += text
      }
    }
    return body + Array("]".utf8)
  }
}

/// One share of a list.
struct MairuiRow {
  var code: String
  var exchange: Exchange
  /// UTF-8.
  var name: [UInt8]

  func texts(_ shape: MairuiOptions.Shape, struckBy fault: Fault.Kind?) -> [[UInt8]] {
    var row = self
    var board = exchange.prefix
    switch fault {
    case .missingRow: return []
    case .notANumber: row.code = "60A0" + code.suffix(2)
    case .brokenName: row.name = [0xFF] + name.dropFirst()
    case .wrongExchange: board = exchange == .shanghai ? "sz" : "sh"
    case .garbageRow: return [Array("{\"dm\":".utf8)]
    default: break
    }
    let suffix = shape == .bare ? "" : "." + exchange.prefix.uppercased()
    let text =
      Array("{\"dm\":\"\(row.code)\(suffix)\",\"mc\":\"".utf8) + row.name
      + Array("\",\"jys\":\"\(shape == .bare ? board : board.uppercased())\"}".utf8)
    return fault == .duplicateRow ? [text, text] : [text]
  }

  static func rows(
    of market: SimulatedMarket, list: MairuiProtocol.List, options: MairuiOptions,
    isDemonstration: Bool
  ) -> [MairuiRow] {
    if isDemonstration {
      return [MairuiRow(code: "000001", exchange: .shenzhen, name: Array("平安银行".utf8))]
    }
    var rows = market.listings.filter { $0.isOn(list) }.map { listing in
      MairuiRow(
        code: String(listing.symbol.description.dropFirst(2)), exchange: listing.exchange,
        name: GB18030.decodedToUTF8(listing.name) ?? [])
    }
    let isBeijing = list == .beijing
    rows += fillers(
      (isBeijing ? options.beijingRowsMin : options.rowsMin) - rows.count, isBeijing: isBeijing,
      beside: Set(rows.map(\.code)))
    return shuffled(rows, seed: market.seed)
  }

  /// Invented shares, the same for every market.
  private static func fillers(_ count: Int, isBeijing: Bool, beside taken: Set<String>)
    -> [MairuiRow]
  {
    var rows: [MairuiRow] = []
    var number = 0
    while rows.count < count {
      let isShanghai = !isBeijing && number % 2 == 0
      let code =
        isBeijing ? 920_999 - number : isShanghai ? 603_999 - number / 2 : 301_999 - number / 2
      number += 1
      if taken.contains(String(code)) { continue }
      let name = names.stock(2_000 + number)
      rows.append(
        MairuiRow(
          code: String(code),
          exchange: isBeijing ? .beijing : isShanghai ? .shanghai : .shenzhen,
          name: GB18030.decodedToUTF8(name) ?? []))
    }
    return rows
  }

  private static let names = Names()

  private static func shuffled(_ rows: [MairuiRow], seed: UInt64) -> [MairuiRow] {
    var rows = rows
    var random = Randomness(seed: seed, stream: 0x3A1E)
    for place in rows.indices.dropFirst() {
      rows.swapAt(place, Int(random.below(Int64(place + 1))))
    }
    return rows
  }
}

extension Listing {
  fileprivate func isOn(_ list: MairuiProtocol.List) -> Bool {
    kind == .stock && behaviour != .delisted && behaviour != .notListed
      && (exchange == .beijing) == (list == .beijing)
  }
}
