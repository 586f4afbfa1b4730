import Market
import TestSupport
import Testing

@testable import Operations

/// Lines of keys, and texts that once ended the process, each found by `script/fuzz configuration`.
@Suite struct TOMLScanTests {
  private func problems(_ text: String) -> [ConfigurationProblem] {
    do throws(ConfigurationError) {
      _ = try ConfigurationFile.parse(text, origin: "test", table: .candled)
      return []
    } catch {
      return error.problems
    }
  }

  @Test(arguments: [
    ("[?]\n", 1), ("\n[[?]]\n", 2), ("[ \t=]", 1), ("a = 1\n  [.b]\n", 2), ("[\n]\n", 1),
    ("[[\n", 1), ("\u{FEFF}[é]\n", 1), ("#\n\u{A0}[#]\n", 2), ("#\r\n[ü]\n", 2),
    ("#\n[\u{7F}]", 2), ("[a]\n\0[b]\n", 2),
    ("[alpaca]\nsymbols = [ }\n", 2), ("a = [1, }", 1), ("a = [\"}\",\n# }\n}]", 3),
    ("a = { b = [ 1 } ]", 1), ("}", 1), ("a = 1 ]", 1), ("a = \"\\\"\" }", 1),
  ])
  func `what would end the process is refused with its line`(_ text: String, _ line: Int) {
    let found = problems(text)
    #expect(found.map(\.line) == [line])
    #expect(found.allSatisfy { $0.sentence.hasPrefix("not TOML: ") })
  }

  @Test(arguments: [
    "", "[", "[[", "[]", "[[]]", "[ [a]]", "[a", "[[a]", "[a].b", "[\"", "['a", "[-_-]x",
  ])
  func `what is left to the parser is refused by it`(_ text: String) {
    let found = problems(text)
    #expect(text.isEmpty == found.isEmpty)
  }

  @Test func `a header in every legal form passes`() {
    let text = "[sina]\n[ journal ]\n\t[\"alpaca\"]\n['mairui'] # [?]\r\n\n[log]\n"
    #expect(problems(text) == [])
  }

  @Test func `keys are found behind sections, dots, strings, comments and long values`() {
    let scan = TOMLScan(
      """
      top = "a # no comment = [x"
      "quoted.key" = 'c:\\'
      a.b.c = 1 # c = 2
      list = [
        "x]", # ]
        'y',
        [1, { z = 2 }],
      ]
      text = \"""
      fake = 1
      \\\""" still
      \"""
      raw = '''
      [fake]
      '''
      [ section . "sub" ]
      key=1
      [[tables]]
      key = true
      last = {a = 1, b = "}"}
      """)
    #expect(
      scan.lines == [
        "top": 1, "quoted.key": 2, "a": 3, "a.b": 3, "a.b.c": 3, "list": 4, "text": 9, "raw": 13,
        "section": 16, "section.sub": 16, "section.sub.key": 17, "tables": 18, "tables.key": 19,
        "tables.last": 20,
      ])
  }

  @Test func `any bytes at all end the scan without a trap`() {
    let seed = UInt64.random(in: .min ... .max)
    var generator = SplitMix(seed: seed)
    let alphabet = Array("a.=[]{}\"'#\\\n \t,1")
    for _ in 0..<5_000 {
      let length = Int.random(in: 0..<40, using: &generator)
      let text = String((0..<length).map { _ in alphabet.randomElement(using: &generator) ?? "a" })
      let count = text.utf8.count { $0 == 10 } + 1
      #expect(TOMLScan(text).lines.values.allSatisfy { $0 <= count }, "seed \(seed)")
    }
  }
}
