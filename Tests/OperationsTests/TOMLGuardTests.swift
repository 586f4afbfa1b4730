import Market
import Testing

@testable import Operations

/// Texts that once ended the process, each found by `script/fuzz configuration`.
@Suite struct TOMLGuardTests {
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
}
