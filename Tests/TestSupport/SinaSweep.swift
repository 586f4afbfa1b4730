/// A made-up answer of hq.sinajs.cn for a whole market: every field varied, every row consistent,
/// names in GB18030. For benchmarks and property tests; no line of it was ever served.
///
/// It renders text itself and shares nothing with the decoder it is fed to.

package struct SinaSweep {
  private var random: SplitMix
  package var date = "2026-07-06"

  package init(seed: UInt64) { random = SplitMix(seed: seed) }

  /// A row before it is written: prices in thousandths, money in thousandths of a yuan.
  package struct Row: Sendable {
    package var symbol: String
    /// GB18030 bytes.
    package var name: [UInt8]
    package var open, previousClose, last, high, low: Int64
    package var volume, turnover: Int64
    /// Best first: volume and price in thousandths.
    package var bids, asks: [(volume: Int64, price: Int64)]
    package var date: String
    package var time: String
    package var afterHours: (volume: Int64, turnover: Int64)?
  }

  /// A body of `count` lines in the market's mixture: Shanghai, Shenzhen, Beijing, funds.
  package mutating func body(lines count: Int) -> [UInt8] {
    var body: [UInt8] = []
    body.reserveCapacity(count * 280)
    for index in 0..<count { body += SinaSweep.line(row(index: index)) }
    return body
  }

  package mutating func row(index: Int) -> Row {
    let symbol = SinaSweep.symbol(index)
    let isFund = symbol.hasPrefix("sh5") || symbol.hasPrefix("sz15")
    let tick: Int64 = isFund ? 1 : 10
    let close = between(2_000, index % 40 == 0 ? 1_900_000 : 90_000) / tick * tick
    let spread = max(close / 200 / tick * tick, 5 * tick)
    let low = close - between(0, 4) * spread / 4 / tick * tick
    let high = close + between(1, 4) * spread / 4 / tick * tick
    let last = low + between(0, (high - low) / tick) * tick
    let open = low + between(0, (high - low) / tick) * tick
    let volume = between(1, 400_000) * 100 + between(0, 99)
    let turnover = between(low * volume, high * volume) / tick * tick
    return Row(
      symbol: symbol, name: name(), open: open, previousClose: close, last: last, high: high,
      low: low, volume: volume, turnover: turnover, bids: book(from: last, step: -tick),
      asks: book(from: last + tick, step: tick), date: date, time: time(), afterHours: nil)
  }

  private mutating func between(_ least: Int64, _ most: Int64) -> Int64 {
    Int64.random(in: least...most, using: &random)
  }

  private static func symbol(_ index: Int) -> String {
    let place = index / 20
    switch index % 20 {
    case 0...7: return "sh" + padded(Int64(600_000 + place * 8 + index % 20), 6)
    case 8...15: return "sz" + padded(Int64(1 + place * 8 + index % 20 - 8), 6)
    case 16: return "bj" + padded(Int64(920_000 + place), 6)
    case 17: return "sh" + padded(Int64(688_000 + place), 6)
    case 18: return "sz" + padded(Int64(300_000 + place), 6)
    default: return "sh" + padded(Int64(510_000 + place), 6)
    }
  }

  /// Three or four characters of GB2312's first level.
  private mutating func name() -> [UInt8] {
    var bytes: [UInt8] = []
    for _ in 0..<between(3, 4) {
      bytes.append(UInt8(between(0xB0, 0xD6)))
      bytes.append(UInt8(between(0xA1, 0xFE)))
    }
    return bytes
  }

  private mutating func time() -> String {
    "10:\(SinaSweep.padded(between(0, 59), 2)):\(SinaSweep.padded(between(0, 59), 2))"
  }

  private mutating func book(from best: Int64, step: Int64) -> [(volume: Int64, price: Int64)] {
    (0..<5).map { level in (between(1, 9_999) * 100, best + Int64(level) * step) }
  }
}

extension SinaSweep {
  /// The row as Sina writes it, line feed included.
  package static func line(_ row: Row) -> [UInt8] {
    var fields: [[UInt8]] = [row.name]
    let prices = [row.open, row.previousClose, row.last, row.high, row.low]
    fields += (prices + [row.bids[0].price, row.asks[0].price]).map { thousandths($0) }
    fields += [Array(String(row.volume).utf8), thousandths(row.turnover)]
    for level in row.bids + row.asks {
      fields += [Array(String(level.volume).utf8), thousandths(level.price)]
    }
    fields += [Array(row.date.utf8), Array(row.time.utf8), Array("00".utf8)]
    if row.symbol.hasPrefix("bj") {
      fields += ["21.0776", "0.0000", "0", "8300000", "B", "T"].map { Array($0.utf8) }
    } else if let afterHours = row.afterHours {
      let money = thousandths(afterHours.turnover)
      fields.append(Array("D|\(afterHours.volume)|".utf8) + money)
    } else if row.symbol.hasPrefix("sh") {
      fields.append([])
    }
    let joined = fields.joined(separator: [UInt8(ascii: ",")])
    return Array("var hq_str_\(row.symbol)=\"".utf8) + joined + Array("\";\n".utf8)
  }

  private static func thousandths(_ number: Int64) -> [UInt8] {
    Array("\(number / 1000).\(padded(number % 1000, 3))".utf8)
  }

  private static func padded(_ number: Int64, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(width - digits.utf8.count, 0)) + digits
  }
}
