import TestTraits
import Testing

@Suite(.ownThread) struct `candled decode of K-lines` {
  private let body = #"""
    /*<script>location.href='//sina.com';</script>*/
    =([{"day":"2026-09-03 09:31:00","open":"11.870","high":"11.900","low":"11.850","close":"11.88",
    "volume":"1204300","amount":"14304872.0000"},{"day":"2026-09-03 09:31:30"}]);
    """#

  private func decode(_ options: String...) throws -> BuiltBinary.Run {
    try BuiltBinary.run(["decode", "sina-kline", "-"] + options, input: Array(body.utf8))
  }

  @Test func `prints the bars and what was refused of the rows`() throws {
    let run = try decode("--symbol", "600519.SH", "--timeframe", "1m")
    #expect(run.status == 0)
    let lines = run.output.split(separator: "\n")
    try #require(lines.count == 2)
    #expect(
      lines[0].hasPrefix(
        #"{"symbol":"sh600519","timeframe":"1m","opened_at":"2026-09-03T09:30:00+08:00","#))
    #expect(lines[0].contains(#""turnover":"14304872.0000""#))
    #expect(lines[1].contains(#""outcome":"rejected","reason":"malformed""#))
  }

  @Test func `a day that only the daemon's database knows is taken as it comes`() throws {
    let next = body.replacing("2026-09-03", with: "2031-09-03")
    let run = try BuiltBinary.run(
      ["decode", "sina-kline", "-", "--symbol", "sh600519", "--timeframe", "1m"],
      input: Array(next.utf8))
    #expect(run.status == 0)
    #expect(run.output.contains(#""opened_at":"2031-09-03T09:30:00+08:00""#), "\(run.output)")
  }

  @Test func `exits 65 when no row is a bar of the timeframe`() throws {
    let run = try decode("--symbol", "sh600519", "--timeframe", "1d")
    #expect(run.status == 65)
    #expect(run.output.hasPrefix(#"{"outcome":"malformed","#))
  }

  @Test(arguments: [
    ([], "--symbol"), (["--symbol", "sh600519"], "--timeframe"),
    (["--symbol", "AAPL", "--timeframe", "1m"], "Sina has no bars of it"),
    (["--symbol", "sh600519", "--timeframe", "2h"], "2h"),
  ])
  func `says which option is missing or wrong`(_ options: [String], _ words: String) throws {
    let run = try BuiltBinary.run(["decode", "sina-kline", "-"] + options, input: [])
    #expect(run.status == 64)
    #expect(run.output.isEmpty)
    #expect(run.errors.contains(words))
  }

  @Test func `a list takes no timeframe`() throws {
    let run = try BuiltBinary.run(["decode", "mairui-list", "-", "--timeframe", "1m"], input: [])
    #expect(run.status == 64)
    #expect(run.errors.contains("takes no --timeframe"))
  }
}
