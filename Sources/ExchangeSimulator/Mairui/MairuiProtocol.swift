import Market

/// Mairui's lists: `/hslt/list/<licence>` (Shanghai and Shenzhen) and `/bj/list/all/<licence>`.
///
/// Any licence will do. The rows come in no order, and their names are those of the day.
package struct MairuiProtocol: UpstreamProtocol {
  package func response(
    _ request: SimulatedRequest, from exchange: inout SimulatedExchange
  ) -> SimulatedResponse? {
    let target = RequestTarget(request.target)
    guard let (list, _) = MairuiProtocol.listRequest(target.path) else { return nil }
    let moment = exchange.moment(requested: target.milliseconds)
    let observers = exchange.observers
    let rows = exchange.timeline.show(at: moment, watchedBy: observers) { market in
      MairuiRow.rows(of: market, list: list)
    }
    return .json(MairuiProtocol.body(rows.map(\.text)))
  }

  package enum List { case mainland, beijing }

  package static func listRequest(_ path: Substring) -> (List, licence: String)? {
    let lists: [(String, List)] = [("/hslt/list/", .mainland), ("/bj/list/all/", .beijing)]
    for (prefix, list) in lists where path.hasPrefix(prefix) {
      return (list, RequestTarget.unescaped(path.dropFirst(prefix.count)))
    }
    return nil
  }

  package static func body(_ rows: [[UInt8]]) -> [UInt8] {
    Array("[".utf8) + Array(rows.joined(separator: [UInt8(ascii: ",")])) + Array("]".utf8)
  }
}

/// One share of a list.
package struct MairuiRow {
  package var code: String
  package let exchange: Exchange
  /// UTF-8.
  package var name: [UInt8]

  package init(code: String, exchange: Exchange, name: [UInt8]) {
    self.code = code
    self.exchange = exchange
    self.name = name
  }

  /// `{"dm":"000001.SZ","mc":"…","jys":"SZ"}`
  var text: [UInt8] {
    let board = exchange.prefix.uppercased()
    return object(code: "\(code).\(board)", board: board)
  }

  package func object(code: String, board: String) -> [UInt8] {
    Array("{\"dm\":\"\(code)\",\"mc\":\"".utf8) + name
      + Array("\",\"jys\":\"\(board)\"}".utf8)
  }

  /// - Parameters:
  ///   - rowsMin: invented shares are added up to so many rows of Shanghai and Shenzhen.
  ///   - beijingRowsMin: the same of Beijing.
  package static func rows(
    of market: SimulatedMarket, list: MairuiProtocol.List, rowsMin: Int = 4_800,
    beijingRowsMin: Int = 270
  ) -> [MairuiRow] {
    var rows = market.listings.filter { $0.isOn(list) }.map { listing in
      MairuiRow(
        code: String(listing.symbol.description.dropFirst(2)), exchange: listing.exchange,
        name: GB18030.decodedToUTF8(listing.name) ?? [])
    }
    let isBeijing = list == .beijing
    rows += fillers(
      (isBeijing ? beijingRowsMin : rowsMin) - rows.count, isBeijing: isBeijing,
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

extension DemoUpstream {
  static let mairui = DemoUpstream(
    name: "mairui", key: "demo-licence", protocols: [MairuiProtocol()])
}
