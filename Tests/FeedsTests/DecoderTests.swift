import Feeds
import Market
import TestSupport
import Testing

@Suite struct DecoderTests {
  private func sweep(_ count: Int, seed: UInt64 = 1) -> [SinaSweep.Row] {
    var sweep = SinaSweep(seed: seed)
    return (0..<count).map { index in
      var row = sweep.row(index: index)
      if index % 3 == 0, !row.symbol.hasPrefix("bj") {
        row.afterHours = (Int64(index) * 100, Int64(index) * 123_450)
      }
      return row
    }
  }

  private func thousandths(_ number: Int64) -> ExactDecimal {
    ExactDecimal(units: number, scale: 3)
  }

  @Test(arguments: [1, 2, 3] as [UInt64])
  func `a rendered row comes back with every digit`(_ seed: UInt64) {
    let rows = sweep(1000, seed: seed)
    let recorder = decode(rows.flatMap(SinaSweep.line)).recorder
    #expect(recorder.quotes.count == rows.count, "seed \(seed)")
    for (row, quote) in zip(rows, recorder.quotes) {
      #expect(quote.symbol.description == row.symbol, "seed \(seed)")
      let prices = [quote.open, quote.previousClose, quote.last, quote.high, quote.low]
      let wanted = [row.open, row.previousClose, row.last, row.high, row.low].map(thousandths)
      #expect(prices.map(\.description) == wanted.map(\.description), "seed \(seed)")
      #expect(quote.volume == ExactDecimal(row.volume), "seed \(seed)")
      #expect(quote.turnover == thousandths(row.turnover), "seed \(seed)")
      for level in 0..<5 {
        #expect(quote.bids[level].price == thousandths(row.bids[level].price), "seed \(seed)")
        #expect(quote.bids[level].volume == ExactDecimal(row.bids[level].volume), "seed \(seed)")
        #expect(quote.asks[level].price == thousandths(row.asks[level].price), "seed \(seed)")
        #expect(quote.asks[level].volume == ExactDecimal(row.asks[level].volume), "seed \(seed)")
      }
      #expect(quote.at.description == "\(row.date)T\(row.time)+08:00", "seed \(seed)")
      let afterHours = row.afterHours.map {
        AfterHours(volume: ExactDecimal($0.volume), turnover: thousandths($0.turnover))
      }
      #expect(quote.afterHours == afterHours, "seed \(seed)")
    }
    #expect(recorder.rawNames == rows.map(\.name), "seed \(seed)")
  }

  @Test func `a line alone decodes as it does in a sweep`() {
    let rows = sweep(60)
    let together = decode(rows.flatMap(SinaSweep.line)).recorder.records
    let alone = rows.flatMap { decode(SinaSweep.line($0)).recorder.records }
    #expect(together == alone)
  }

  @Test func `line ends, blank lines and a byte order mark make no difference`() throws {
    let plain = try Files.fixture("stocks.gb18030.txt")
    let wanted = decode(plain).recorder.records
    let carriage = plain.flatMap { $0 == 10 ? [13, 10] : [$0] }
    #expect(decode(carriage).recorder.records == wanted)
    #expect(decode([10, 13, 10] + plain + [10, 10]).recorder.records == wanted)
    #expect(decode(Array(plain.dropLast())).recorder.records == wanted)
    let utf8 = try Files.fixture("stocks.utf8.txt")
    let marked = decode([0xEF, 0xBB, 0xBF] + utf8).recorder.records
    #expect(marked == decode(utf8).recorder.records)
  }

  @Test func `a line feed that was lost costs its own line and no other`() throws {
    let lines = sweep(4).map(SinaSweep.line)
    let wanted = decode(lines.flatMap { $0 }).recorder.records
    for replacement in ["", "X", ";", ",", "\""] {
      let body = lines[0] + lines[1].dropLast() + Array(replacement.utf8) + lines[2] + lines[3]
      let records = decode(body).recorder.records.filter(\.isQuote)
      #expect(records.contains(wanted[0]), "line feed replaced by `\(replacement)`")
      #expect(records.contains(wanted[2]), "line feed replaced by `\(replacement)`")
      #expect(records.contains(wanted[3]), "line feed replaced by `\(replacement)`")
    }
  }

  @Test func `two lines that lost the quotation marks between them are not one`() {
    let lines = sweep(20).map(SinaSweep.line)
    let beijing = lines[16].dropLast(3) + [59, 10]
    let second = lines[17].prefix(19) + lines[17].dropFirst(21)  // without its opening =\"
    let body = lines[0] + beijing + second + lines[18] + lines[19]
    let symbols = decode(body).recorder.quotes.map(\.symbol.description)
    #expect(symbols == ["sh600000", "sz300000", "sh510000"])
  }

  @Test func `a decoder carries nothing from one body to the next`() throws {
    var decoder = SinaQuoteDecoder()
    for name in ["session", "bad-rows", "indexes", "stocks"] {
      let body = try Files.fixture("\(name).gb18030.txt")
      var reused = Recorder()
      _ = body.withUnsafeBytes { decoder.decode($0, status: 200, into: &reused) }
      #expect(reused.records == decode(body).recorder.records)
    }
  }

  @Test func `money may be off by the one yuan it is rounded to and not by more`() throws {
    let text = String(decoding: try Files.fixture("stocks.utf8.txt"), as: UTF8.self)
    let line = String(text.split(separator: "\n")[0]) + "\n"
    func isAccepted(volume: String, turnover: String) -> Bool {
      let changed = line.replacing(
        "2500136,3086487646.000", with: "\(volume),\(turnover)")
      return decode(changed).recorder.records.first?.isQuote == true
    }
    #expect(isAccepted(volume: "100", turnover: "123444.000"))
    #expect(isAccepted(volume: "100", turnover: "123443.000"))
    #expect(!isAccepted(volume: "100", turnover: "123442.999"))
    #expect(isAccepted(volume: "100", turnover: "123468.000"))
    #expect(!isAccepted(volume: "100", turnover: "123468.001"))
    #expect(isAccepted(volume: "100", turnover: "123450"))
    #expect(!isAccepted(volume: "100", turnover: "123469"))
    #expect(!isAccepted(volume: "0", turnover: "5.000"))
    #expect(!isAccepted(volume: "100", turnover: "0.000"))
    #expect(!isAccepted(volume: "999999999999999999", turnover: "123450"))
  }
}
