import Testing

@testable import candled_tidy

@Suite struct SourceTextTests {
  private func code(_ source: String) -> [String] { SourceText(source).lines.map(\.code) }

  @Test func `comments nest and end where they end`() {
    let text = SourceText("a /* b /* c\n*/ d */ e // f \"g\n\"h\"")
    #expect(text.lines.map(\.code) == ["a ", " e ", "\"\""])
    #expect(text.lines.map(\.comment) == ["/* b /* c", "*/ d */// f \"g", ""])
    #expect(text.lines.map(\.literals) == [[], [], ["h"]])
  }

  @Test func `literals are emptied and their interpolations are code`() {
    let text = SourceText(#"f("a // \(b("c)", { $0 })) \" d", e)"#)
    #expect(text.lines.map(\.code) == [#"f( b("", { $0 }) "", e)"#])
    #expect(text.lines.map(\.literals) == [["c)", "a // \u{FFFC} \\\" d"]])
  }

  @Test func `raw literals end at their own mark`() {
    let text = SourceText(##"f(#"a " \(b) \#(c) "#, d)"##)
    #expect(text.lines.map(\.code) == [#"f( c "", d)"#])
    #expect(text.lines.map(\.literals) == [["a \" \\(b) \u{FFFC} "]])
  }

  @Test func `a multi-line literal belongs to the line it begins on`() {
    let text = SourceText("let a = \"\"\"\n  \"b\" // c\n  \"\"\"\nd")
    #expect(text.lines.map(\.code) == ["let a = ", "", "\"\"", "d"])
    #expect(text.lines.map(\.literals) == [["\n  \"b\" // c\n  "], [], [], []])
  }

  @Test func `raw identifiers and patterns are emptied`() {
    #expect(code("func `a ( \" // b`() { #/\"// `x/# }") == ["func ``() { \"\" }"])
  }

  @Test func `lines are counted as an editor counts them`() {
    #expect(SourceText("a\nb\n").lines.map(\.raw) == ["a", "b"])
    #expect(SourceText("a\n\nb").lines.map(\.raw) == ["a", "", "b"])
  }

  @Test(arguments: ["\"", "\"\"\"", "/*", "`", "#\"", "\"\\(", "#/", "\"\\", "\"a\nb"])
  func `what never ends does not trap`(_ source: String) {
    #expect(SourceText(source).lines.isEmpty == false)
  }
}
