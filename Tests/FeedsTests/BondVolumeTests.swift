import Market
import Testing

@testable import Feeds

/// Turnover ÷ volume of a convertible bond is its price, or its volume is in lots of ten.
@Suite struct BondVolumeTests {
  private func line(volume: String, turnover: String, symbol: String = "sh113050") -> String {
    "var hq_str_\(symbol)=\"A,120.100,120.000,120.500,121.000,119.900,120.500,120.510,\(volume),"
      + "\(turnover),10,120.500" + String(repeating: ",0,0.000", count: 4) + ",20,120.510"
      + String(repeating: ",0,0.000", count: 4) + ",2026-07-06,10:30:00,00,\";\n"
  }

  @Test func `pieces are taken as they are`() {
    let quotes = decode(line(volume: "1000", turnover: "120450.000")).recorder.quotes
    #expect(quotes.map(\.volume) == [ExactDecimal(1_000)])
    #expect(quotes.map(\.rounding) == [.exact])
  }

  @Test(arguments: ["sh113050", "sz123001"])
  func `lots are made pieces, and rounded`(_ symbol: String) {
    let text = line(volume: "100", turnover: "120450.000", symbol: symbol)
    let quotes = decode(text).recorder.quotes
    #expect(quotes.map(\.volume) == [ExactDecimal(1_000)])
    #expect(quotes.map(\.rounding.volume) == [5])
  }

  @Test(arguments: ["200", "5000", "10"])
  func `a volume that neither explains is refused with its numbers`(_ volume: String) throws {
    let records = decode(line(volume: volume, turnover: "120450.000")).recorder.records
    guard case .rejected(_, .inconsistent, let detail, _) = try #require(records.first) else {
      throw MissingFile(path: "\(records)")
    }
    #expect(detail.hasPrefix("turnover 120450.000 is "))
  }

  @Test func `without money nothing is said of a volume`() {
    #expect(decode(line(volume: "117", turnover: "0")).recorder.quotes.count == 1)
  }

  @Test(arguments: [("1000", "1000"), ("100", "1000")])
  func `a bar's volume is in pieces`(_ volume: String, _ pieces: String) throws {
    let page = try bars(volume: volume, amount: "120450.0")
    #expect(page.candles.map(\.volume.description) == [pieces])
  }

  @Test func `a bar whose volume neither explains is refused`() {
    #expect(throws: FeedRefusal.self) { try bars(volume: "300", amount: "120450.0") }
  }

  private func bars(volume: String, amount: String) throws -> CandlePage {
    let body = Array(
      (#"[{"day":"2026-02-25 14:57:00","open":"120.1","high":"121","low":"119.9","#
        + #""close":"120.5","volume":"\#(volume)","amount":"\#(amount)"}]"#).utf8)
    let symbol = try #require(Symbol("sh113050"))
    return try body.withUnsafeBytes {
      try SinaKline.decode($0, status: 200, symbol: symbol, timeframe: .minute1)
    }
  }
}
