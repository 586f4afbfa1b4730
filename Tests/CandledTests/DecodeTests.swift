import Testing

@Suite struct `candled decode` {
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

  @Test func `judges the answer by the HTTP status it came with`() throws {
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
