import TestTraits
import Testing

@Suite(.ownThread) struct `candled decode` {
  private func decode(_ body: [UInt8], _ more: String...) throws -> BuiltBinary.Run {
    try BuiltBinary.run(["decode", "sina-quotes", "-"] + more, input: body)
  }

  @Test func `prints one object a record in the order of the body`() throws {
    let run = try decode(SinaFixture.body)
    #expect(run.status == 0)
    #expect(run.errors.isEmpty)
    let lines = run.output.split(separator: "\n")
    try #require(lines.count == 3)
    #expect(lines[0].hasPrefix(#"{"symbol":"sh600519","#))
    #expect(lines[1].hasPrefix(#"{"symbol":"sz000001","#))
    #expect(lines[2] == #"{"symbol":"sh600999","outcome":"unknown_symbol"}"#)
  }

  @Test func `prints GB18030 names in UTF-8 and numbers digit for digit`() throws {
    let lines = try decode(SinaFixture.body).output.split(separator: "\n")
    let stock = try #require(lines.first)
    #expect(stock.contains(#""name":"贵州茅台""#))
    #expect(stock.contains(#""last":"1769.040""#))
    #expect(stock.contains(#""turnover":"55407060.000""#))
    #expect(stock.contains(#""at":"2026-07-06T10:42:18+08:00""#))
    #expect(stock.contains(#""trading":"normal""#))
  }

  @Test func `derives that a stock is halted`() throws {
    let lines = try decode(SinaFixture.body).output.split(separator: "\n")
    #expect(lines.dropFirst().first?.contains(#""trading":"halted""#) == true)
  }

  @Test func `exits 65 when the answer was refused as a whole`() throws {
    let run = try decode(SinaFixture.refused)
    #expect(run.status == 65)
    #expect(run.output.hasPrefix(#"{"outcome":"#))
    #expect(run.output.split(separator: "\n").count == 1)
  }

  @Test func `classifies the response by its HTTP status`() throws {
    let run = try decode(SinaFixture.body, "--status", "403")
    #expect(run.status == 65)
    #expect(run.output.split(separator: "\n").count == 1)
  }

  @Test func `refuses a number that is no HTTP status`() throws {
    let run = try decode(SinaFixture.body, "--status", "42")
    #expect(run.status == 64)
    #expect(run.errors.contains("HTTP status"))
  }

  @Test func `exits 66 with the reason when the file is not there`() throws {
    let run = try BuiltBinary.run(["decode", "sina-quotes", "/nonexistent/body.txt"])
    #expect(run.status == 66)
    #expect(run.output.isEmpty)
    #expect(
      run.errors == "candled: cannot read /nonexistent/body.txt: No such file or directory\n")
  }

  @Test func `exits 66 with the reason when the file is a folder`() throws {
    let run = try BuiltBinary.run(["decode", "sina-quotes", "/"])
    #expect(run.status == 66)
    #expect(run.errors == "candled: cannot read /: Is a directory\n")
  }

  @Test func `a kind nobody knows is a usage error that names the kinds`() throws {
    let run = try BuiltBinary.run(["decode", "sina-bars", "-"])
    #expect(run.status == 64)
    #expect(run.errors.contains("sina-quotes"))
  }

  @Test func `nothing at all is an answer refused as a whole`() throws {
    let run = try decode([])
    #expect(run.status == 65)
  }
}

@Suite(.ownThread) struct `candled decode of lists and bars` {
  private func decode(_ kind: String, _ body: String, _ more: String...) throws -> BuiltBinary.Run {
    try BuiltBinary.run(["decode", kind, "-"] + more, input: Array(body.utf8))
  }

  private static let bars =
    #"{"bars":{"OAKX":[{"t":"2026-09-03T04:00:00Z","o":41.10,"h":42,"l":40.9,"c":41.5,"v":12}]},"#
    + #""next_page_token":"a="}"#

  @Test func `a list prints symbol, name and exchange`() throws {
    let run = try decode("mairui-list", #"[{"dm":"000903.SZ","mc":"东 湖Ａ","jys":"SZ"}]"#)
    #expect(run.status == 0)
    #expect(run.output == #"{"symbol":"sz000903","name":"东 湖Ａ","exchange":"shenzhen"}"# + "\n")
  }

  @Test func `a list refused as a whole is one object and exits 65`() throws {
    let run = try decode("mairui-list", "101:Licence证书当日次数已超出")
    #expect(run.status == 65)
    #expect(run.output.hasPrefix(#"{"outcome":"quota_exhausted","#))
    #expect(run.output.split(separator: "\n").count == 1)
  }

  @Test func `bars print every digit and then the token of the next page`() throws {
    let run = try decode("alpaca-bars", Self.bars)
    #expect(run.status == 0)
    #expect(
      run.output
        == #"{"symbol":"OAKX","timeframe":"1d","opened_at":"2026-09-03T04:00:00Z","#
        + #""closed_at":"2026-09-04T04:00:00Z","open":"41.10","high":"42","low":"40.9","#
        + #""close":"41.5","volume":"12","turnover":null,"trades":null,"vwap":null}"# + "\n"
        + #"{"next_page_token":"a="}"# + "\n")
  }

  @Test func `the timeframe of bars can be given`() throws {
    let run = try decode("alpaca-bars", Self.bars, "--timeframe", "60m")
    #expect(run.output.contains(#""timeframe":"60m""#))
    #expect(run.output.contains(#""closed_at":"2026-09-03T05:00:00Z""#))
  }

  @Test func `the symbol of bars can be given where the response lacks it`() throws {
    let body = #"{"bars":[{"t":"2026-09-03T04:01:00Z","o":1,"h":1,"l":1,"c":1,"v":1}]}"#
    #expect(try decode("alpaca-bars", body).output.contains(#"{"symbol":null,"outcome""#))
    let printed = try decode("alpaca-bars", body, "--symbol", "OAKX")
    #expect(printed.output.contains(#"{"symbol":"OAKX","timeframe":"1m""#))
  }

  @Test func `bars refused as a whole are judged by status and message`() throws {
    let body = #"{"message":"invalid symbol: X4Y"}"#
    let run = try decode("alpaca-bars", body, "--status", "400")
    #expect(run.status == 65)
    #expect(run.output.hasPrefix(#"{"outcome":"invalid_symbol","symbol":"X4Y","#))
  }

  @Test(arguments: [
    ["mairui-list", "--timeframe", "1m"], ["sina-quotes", "--symbol", "sh600519"],
    ["alpaca-bars", "--timeframe", "after_hours"], ["alpaca-bars", "--symbol", "no symbol"],
  ])
  func `an option that means nothing there is a usage error`(_ words: [String]) throws {
    let run = try BuiltBinary.run(["decode", words[0], "-"] + words.dropFirst())
    #expect(run.status == 64)
    #expect(run.output.isEmpty)
  }
}
