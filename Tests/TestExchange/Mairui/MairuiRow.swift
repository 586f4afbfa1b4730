import ExchangeSimulator
import Market

/// One share of a list.
struct MairuiRow {
  var code: String
  let exchange: Exchange
  /// UTF-8.
  var name: [UInt8]

  func object(code: String, board: String) -> [UInt8] {
    Array("{\"dm\":\"\(code)\",\"mc\":\"".utf8) + name
      + Array("\",\"jys\":\"\(board)\"}".utf8)
  }

  /// - Parameters:
  ///   - rowsMin: invented shares are added up to so many rows of Shanghai and Shenzhen.
  ///   - beijingRowsMin: the same of Beijing.
  static func rows(
    of market: SimulatedMarket, list: LicensedMairui.List, rowsMin: Int, beijingRowsMin: Int
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
  fileprivate func isOn(_ list: LicensedMairui.List) -> Bool {
    kind == .stock && behaviour != .delisted && behaviour != .notListed
      && (exchange == .beijing) == (list == .beijing)
  }
}
