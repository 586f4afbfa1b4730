/// Decoding one sweep of the whole market, against what no decoder can be faster than and against
/// the parser most people use.

import Feeds
import Glibc
import Market
import TestSupport

let decodeSection = BenchSection(
  name: "decode", title: "one Sina sweep of 5,400 lines, bytes in, exact quotes out"
) { _ in
  let body = SinaSweep.wholeMarket()
  printLine("  \(body.count) bytes of GB18030, \(DecodeBench.roundsMax) rounds")
  let rows = DecodeBench.measure(body)
  report(rows)
  check("a sweep", rows[0].median, atMost: 1.0, "ms")
  switch EasyquotationPeer.measure(body) {
  case .measured(let row):
    report([rows[0], row])
  case .skipped(let why):
    printLine("  SKIPPED (1): easyquotation from PyPI: \(why)")
  }
}

extension SinaSweep {
  static func wholeMarket() -> [UInt8] {
    var sweep = SinaSweep(seed: 20_260_706)
    return sweep.body(lines: 5400)
  }
}

private enum DecodeBench {
  static let roundsMax = 301

  static func measure(_ body: [UInt8]) -> [BenchRow] {
    var decode = BenchRow("candled: decode")
    var named = BenchRow("candled: decode and compare names")
    var copy = BenchRow("floor: memcpy")
    var commas = BenchRow("floor: memchr comma by comma")
    var decoder = SinaQuoteDecoder()
    var counter = QuoteCounter()
    var namer = QuoteNamer()
    var target = [UInt8](repeating: 0, count: body.count)
    body.withUnsafeBytes { bytes in
      for _ in 0..<roundsMax {
        decode.measure { consume(decoder.decode(bytes, status: 200, into: &counter)) }
        named.measure {
          namer.index = 0
          consume(decoder.decode(bytes, status: 200, into: &namer))
        }
        copy.measure { target.withUnsafeMutableBytes { $0.copyMemory(from: bytes) } }
        commas.measure { consume(countCommas(bytes)) }
      }
    }
    precondition(counter.quotes == 5400 * roundsMax && counter.others == 0, "a line was refused")
    return [decode, named, copy, commas]
  }

  private static func countCommas(_ bytes: UnsafeRawBufferPointer) -> Int {
    guard var position = bytes.baseAddress else { return 0 }
    let end = position + bytes.count
    var count = 0
    while let found = memchr(position, 0x2C, end - position) {
      count += 1
      position = UnsafeRawPointer(found) + 1
    }
    return count
  }
}

/// Looks at each quote as little as a consumer can.
private struct QuoteCounter: QuoteVisitor {
  var quotes = 0
  var others = 0
  var units: Int64 = 0

  mutating func quote(_ quote: Quote, name: RawName, line: UnsafeRawBufferPointer) {
    quotes += 1
    units &+= quote.last.units
  }
  mutating func overview(_ quote: OverviewQuote) { others += 1 }
  mutating func unknown(_ symbol: Symbol) { others += 1 }
  mutating func rejected(_ row: RejectedRow) { others += 1 }
}

/// The same, and the names compared with those decoded last time.
private struct QuoteNamer: QuoteVisitor {
  var names = NameCache()
  var index = 0

  mutating func quote(_ quote: Quote, name: RawName, line: UnsafeRawBufferPointer) {
    names.update(at: index, raw: name)
    index += 1
  }
  mutating func overview(_ quote: OverviewQuote) {}
  mutating func unknown(_ symbol: Symbol) {}
  mutating func rejected(_ row: RejectedRow) {}
}
