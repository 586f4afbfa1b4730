import Market
import Testing

@testable import ExchangeSimulator
@testable import TestExchange

/// What the tests of the simulator share: a day, its clock, and lines taken apart.
enum Fixture {
  static let seed: UInt64 = 11

  /// A Tuesday after the rules of 2026-07-06.
  static func day() throws -> TradingDay { try #require(TradingDay("2026-07-07")) }

  static func market(
    _ seed: UInt64 = seed, instruments: Int = 100, stamps: SimulatedMarket.Stamps = .own
  ) throws -> SimulatedMarket {
    SimulatedMarket(seed: seed, day: try day(), instruments: instruments, stamps: stamps)
  }

  static func moment(_ hour: Int, _ minute: Int, _ second: Int = 0) throws -> Timestamp {
    Timestamp(day: try day(), secondOfDay: hour * 3600 + minute * 60 + second)
  }

  static func symbol(_ text: String) throws -> Symbol { try #require(Symbol(text)) }

  static func first(_ market: SimulatedMarket, _ behaviour: Behaviour) throws -> Symbol {
    try #require(symbols(market, behaviour).first)
  }

  static func place(_ market: SimulatedMarket, _ symbol: Symbol) throws -> Int {
    Int(try #require(market.place(of: symbol)))
  }

  /// A path that asks for `symbols` at a moment, as candled does.
  static func path(_ symbols: [Symbol], at moment: Timestamp) -> String {
    "/rn=\(moment.microseconds / 1000)&list=" + symbols.map(\.description).joined(separator: ",")
  }

  static func symbols(
    _ market: SimulatedMarket, _ matching: (Listing) -> Bool
  ) -> [Symbol] {
    market.listings.filter(matching).map(\.symbol)
  }

  static func symbols(_ market: SimulatedMarket, _ behaviour: Behaviour) -> [Symbol] {
    symbols(market) { $0.behaviour == behaviour }
  }
}

/// A line of the wire, split at its commas; the name stays bytes.
struct WireLine {
  let symbol: String
  let fields: [ArraySlice<UInt8>]

  init?(_ bytes: ArraySlice<UInt8>) {
    let prefix = Array("var hq_str_".utf8)
    guard bytes.starts(with: prefix), bytes.suffix(3).elementsEqual("\";\n".utf8),
      let equals = bytes.firstIndex(of: UInt8(ascii: "="))
    else { return nil }
    symbol = String(decoding: bytes[(bytes.startIndex + prefix.count)..<equals], as: UTF8.self)
    fields = bytes[(equals + 2)..<(bytes.endIndex - 3)].split(
      separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
  }

  static func all(in body: [UInt8]) -> [WireLine?] {
    var lines: [WireLine?] = []
    var start = 0
    for place in body.indices where body[place] == UInt8(ascii: "\n") {
      lines.append(WireLine(body[start...place]))
      start = place + 1
    }
    return lines
  }

  func text(_ field: Int) -> String { String(decoding: fields[field], as: UTF8.self) }

  func number(_ field: Int) throws -> ExactDecimal { try ExactDecimal(text(field)) }

  func isZero(_ fields: some Sequence<Int>) throws -> Bool {
    try fields.allSatisfy { try number($0).isZero }
  }
}

extension SimulatedMarket {
  /// One instrument's line, taken apart.
  mutating func line(_ symbol: Symbol) throws -> WireLine {
    try #require(WireLine(body(for: [symbol])[...]))
  }
}
