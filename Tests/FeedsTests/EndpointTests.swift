import Feeds
import Market
import TestSupport
import Testing

@Suite struct EndpointTests {
  private let moment = Timestamp(microseconds: 1_783_301_400_123_456)

  @Test func `a request is a path with milliseconds, raw commas and the Referer`() throws {
    let symbols = try ["sh000001", "sh600519", "gb_brk$b"].map { try #require(Symbol($0)) }
    let endpoint = SinaQuotes.endpoint(symbols: symbols, at: moment)
    #expect(endpoint.path == "/rn=1783301400123&list=sh000001,sh600519,gb_brk$b")
    #expect(endpoint.route == "/list={symbols}")
    #expect(endpoint.headers.map(\.name) == ["Referer"])
    #expect(endpoint.headers.map(\.value) == ["https://finance.sina.com.cn/"])
  }

  @Test func `a full batch fits one request`() throws {
    let symbols = try (0..<SinaQuotes.batchSymbolsMax).map {
      try #require(Symbol("sh\(600_000 + $0)"))
    }
    let endpoint = SinaQuotes.endpoint(symbols: symbols, at: moment)
    #expect(endpoint.path.split(separator: ",").count == 800)
    #expect(endpoint.path.utf8.count < 8000)
  }

  @Test(arguments: [
    "sh600519", "sz000001", "bj920000", "s_sh000001", "s_bj899050", "sh600036_i", "gb_aapl",
    "gb_$ixic", "gb_brk$b", "rt_hk00700", "rt_hkHSI", "rt_hkHSTECH", "hk00700", "hkHSI",
    "int_hangseng", "int_sp500", "b_DAX", "b_KOSPI", "usr_nvda",
  ])
  func `a symbol of a known family may be asked for`(_ text: String) throws {
    #expect(SinaQuotes.isRequestable(try #require(Symbol(text))))
  }

  @Test(arguments: [
    "61666", "600519", "600519sh", "sh60051", "sh6005190", "SH600519", "hs600519", "sh60051a",
    "s_600519", "s_s_sh600519", "sh600519_x", "sh600519_", "gb_", "gb_$", "gb_AAPL", "gb_brk$",
    "gb_brk.b", "hk0700", "hk", "rt_hk", "hkhsi", "rt_hk700", "int_", "int_Dji", "b_", "b_dax",
    "AAPL", "nf_IF0", "a-b", "BTC/USD", "sys_auth",
  ])
  func `a token that could void its batch is never sent`(_ text: String) throws {
    #expect(!SinaQuotes.isRequestable(try #require(Symbol(text))))
  }
}
