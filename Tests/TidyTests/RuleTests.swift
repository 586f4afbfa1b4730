import Testing

@testable import candled_tidy

/// Every rule is shown to bite, and to leave alone what only looks alike.
@Suite struct RuleTests {
  @Test(arguments: Case.broken)
  func `a rule finds what breaks it`(_ broken: Case) {
    #expect(broken.foundLines == broken.lines)
  }

  @Test(arguments: Case.kept)
  func `a rule leaves alone what keeps it`(_ kept: Case) {
    #expect(kept.foundLines == [])
  }

  @Test func `no rule goes without a case that breaks it and one that keeps it`() {
    let names = Set(Rule.all.map(\.name))
    #expect(names.count == Rule.all.count)
    #expect(Set(Case.broken.map(\.rule.name)) == names)
    #expect(Set(Case.kept.map(\.rule.name)) == names)
  }
}

struct Case: Sendable, CustomTestStringConvertible {
  let rule: Rule
  let path: String
  let source: String
  /// Where the rule must find something, counted from 1.
  let lines: [Int]

  init(
    _ rule: Rule, _ source: String, at lines: [Int] = [], in path: String = "Sources/Feeds/A.swift"
  ) {
    self.rule = rule
    self.path = path
    self.source = source
    self.lines = lines
  }

  var testDescription: String { "\(rule.name): \(source.prefix(60))" }

  var foundLines: [Int] {
    rule.violations(SourceFile(path: path, source: source)).map(\.line)
  }
}

private func repeated(_ line: String, _ count: Int) -> String {
  String(repeating: line + "\n", count: count)
}

extension Case {
  static let broken: [Case] =
    brokenShape + brokenSafety + brokenBoundaries + brokenWording + brokenReferences
  static let kept: [Case] =
    keptShape + keptSafety + keptBoundaries + keptWording + keptReferences

  private static let brokenShape: [Case] = [
    Case(.columns, "short\n" + String(repeating: "x", count: 101), at: [2]),
    Case(.columns, "// " + String(repeating: "线", count: 98), at: [1]),
    Case(.fileLength, repeated("let x = 1", 401), at: [401]),
    Case(.functionLength, "func f() {\n" + repeated("  g()", 69) + "}", at: [1]),
    Case(.functionLength, "struct A {\n  init() {\n" + repeated("  g()", 69) + "}\n}", at: [2]),
    Case(.functionLength, "var a: Int {\n" + repeated("  g()", 69) + "}", at: [1]),
    Case(
      .functionLength, "func f(\n  a: Int = { 1 }()\n) {\n" + repeated("g()", 67) + "}", at: [1]),
    Case(
      .functionLength, "func f() {\n  g(\"}\\(h { 1 })\")\n" + repeated("g()", 68) + "}", at: [1]),
    Case(.whitespace, "let a = 1\n\tlet b = 2\nlet c = 3 ", at: [2, 3]),
    Case(.header, "import Market\n\nstruct A {}\n", at: [3]),
    Case(.header, "extension A {\n  // too late\n}\n", at: [1]),
    Case(.header, "\n", at: [1]),
    Case(.unfinished, "// TODO: more\nlet a = 1 /* FIXME */", at: [1, 2]),
    Case(.placeholder, "// A stand-in.", at: [1], in: "Tests/FeedsTests/Placeholder.swift"),
  ]

  private static let keptShape: [Case] = [
    Case(.columns, "// " + String(repeating: "线", count: 97)),
    Case(.fileLength, repeated("let x = 1", 400)),
    Case(.functionLength, "func f() {\n" + repeated("  g()", 68) + "}"),
    Case(.functionLength, "struct A {\n  var a: Int\n" + repeated("  let b = 1", 80) + "}"),
    Case(.functionLength, "struct A {\n  var a: Int\n  struct B {\n" + repeated("", 80) + "  }\n}"),
    Case(.functionLength, "let a = {\n" + repeated("  1", 80) + "}"),
    Case(.functionLength, "func f() {\n  a.init { g() }\n}\nenum A {\n" + repeated("", 80) + "}"),
    Case(.functionLength, "protocol P {\n  func f()\n}\nextension A {\n" + repeated("", 80) + "}"),
    Case(.whitespace, "let a = \"\\t\"\n\nlet b = 2\n"),
    Case(.header, "/// Why.\nstruct A {}"),
    Case(.header, "import Glibc\npublic import Market\n\n/// Why.\nstruct A {}"),
    Case(.header, "struct A {}", in: "Tests/FeedsTests/A.swift"),
    Case(.unfinished, "let a = \"TODO\" // nothing to do"),
    Case(.placeholder, "// A file.", in: "Sources/Feeds/Placeholders.swift"),
  ]

  private static let brokenSafety: [Case] = [
    Case(.forcing, "let a = b!\nlet c = try! d()\nlet e = f as! G\nvar h: Int!", at: [1, 2, 3, 4]),
    Case(.forcing, "a[0]!.b()\nf()!\nlet s = \"\\(x!)\"\na! += 1", at: [1, 2, 3, 4]),
    Case(.forcing, "// It is there.\nlet a = b!", at: [2]),
    Case(.forcing, "// Safe: it is set above.\n\nlet a = b!", at: [3]),
    Case(.printing, "print(1)\n  debugPrint(2)\nif a { dump(3) }", at: [1, 2, 3]),
    Case(.detached, "Task.detached { }\nlet t = Task\n", at: [1]),
    Case(.unchecked, "/// A box.\nfinal class A: @unchecked Sendable {}", at: [2]),
    Case(.unsafe, "nonisolated(unsafe) var a = 1", at: [1]),
    Case(.floating, "let a: Double = 1\nlet b = [Float32](c)\nlet d = 1.5", at: [1, 2]),
  ]

  private static let keptSafety: [Case] = [
    Case(.forcing, "if !a, b != c, (!d) { e = [!f] }\nlet s = \"really!\" // yes!\n/* b! */"),
    Case(.forcing, "func `never x!`() {}\nlet r = #\"b!\"#\nlet t = \"\"\"\n  b!\n  \"\"\""),
    Case(.forcing, "// Safe: the literal is a number.\nlet a = Int(\"1\")!"),
    Case(.forcing, "let a = b!  // Safe: checked two lines up."),
    Case(.printing, "description.print(to: x)\nlet fingerprint = print\nblueprint(1)"),
    Case(.printing, "func print(_ a: Int) {}\nlet b = print(1)"),
    Case(.printing, "struct A {\n  let print: (Int) -> Int\n  var b: Int { print(1) }\n}"),
    Case(.printing, "dump(a, to: &text)"),
    Case(.printing, "// Safe: a command's result is its standard output.\nprint(1)"),
    Case(.detached, "// `Task.detached`: the work outlives its caller.\nTask.detached {}"),
    Case(
      .unchecked, "/// `@unchecked Sendable`: under `lock`.\n@frozen\nclass A: @unchecked B {}"),
    Case(.unsafe, "// Safe: written once, before any thread.\nnonisolated(unsafe) var a = 1"),
    Case(.floating, "let doubled = 2 * a // a Double"),
    Case(.floating, "let a: Double = 1", in: "Sources/Admin/A.swift"),
    Case(.floating, "let a: Double = 1", in: "Tests/FeedsTests/A.swift"),
  ]

  private static let brokenBoundaries: [Case] = [
    Case(.imports, "import Market\nimport Store", at: [2]),
    Case(.imports, "public import struct Store.Row\n@testable import Ingest", at: [1, 2]),
    Case(.imports, "import Glibc", at: [1], in: "Sources/Market/A.swift"),
    Case(.imports, "import Market", at: [1], in: "Sources/Transport/A.swift"),
    Case(.imports, "import Market", at: [1], in: "Sources/Platform/A.swift"),
    Case(.imports, "import Logging", at: [1], in: "Sources/Store/A.swift"),
    Case(.imports, "let a = 1", at: [1], in: "Sources/Unheard/A.swift"),
    Case(.foundation, "import Foundation\nimport FoundationEssentials", at: [1, 2]),
    Case(.sql, "f(\"select a from b\")\nlet s = \"INSERT INTO a\"", at: [1, 2]),
    Case(
      .sql, "let s = \"\"\"\n  select a\n  from b\n  \"\"\"\nlet t = \"select f(1)\"", at: [1, 5]),
    Case(.sql, "f(\"update quote set last = $1\")\nf(\"create temp table a\")", at: [1, 2]),
    Case(.sql, "f(\"copy candle from stdin\")\nf(\"call pg_notify(a)\")", at: [1, 2]),
    Case(.addresses, "let a = \"https://a.cn/list=\"\nlet b = \"http://\\(h)/x\"", at: [1, 2]),
    Case(.addresses, "let a = \"http://a.cn?x=1\"", at: [1]),
  ]

  private static let keptBoundaries: [Case] = [
    Case(.imports, "import Glibc\nprivate import Market\nlet a = \"import Store\" // import Store"),
    Case(.imports, "import Store\nimport Ingest", in: "Tests/FeedsTests/A.swift"),
    Case(.imports, "import ArgumentParser\nimport Ingest", in: "Sources/candled/A.swift"),
    Case(.foundation, "import Foundation", in: "Sources/Operations/A.swift"),
    Case(.sql, "f(\"selected rows come from the table\")\n// select a from b"),
    Case(.sql, "f(\"cannot create \\(table)\")\nf(\"cannot listen on 1\")\nf(\"drop a row\")"),
    Case(.sql, "f(\"select a from b\")", in: "Sources/Store/A.swift"),
    Case(.sql, "f(\"select a from b\")", in: "Tests/IngestTests/A.swift"),
    Case(.sql, "// Safe: shown to people, never sent.\nf(\"select a from b\")"),
    Case(.addresses, "let a = \"https://a.cn/\"\nlet b = \"http://127.0.0.1:\\(port)\""),
    Case(.addresses, "let a = \"https://\" + b // https://a.cn/list="),
    Case(.addresses, "let a = \"https://a.cn/list=\"", in: "Sources/Transport/A.swift"),
  ]

  private static let brokenWording: [Case] = [
    Case(.words, "let a = 1\nlet b = \"the source tells \\(c)\"", at: [2]),
    Case(.words, "let a = \"\"\"\n  A list that is\n  rows.\n  \"\"\"", at: [1]),
    Case(.words, "f(\"\"\"\n  select 'it is told' from told\n  \"\"\")", at: [1]),
  ]

  private static let keptWording: [Case] = [
    Case(.words, "// It tells.\nlet told = \"a workshop\"\nlet b = \"\\(told)\""),
    Case(.words, "f(\"\"\"\n  with told as (select 'a' from b)\n  select 1 from told\n  \"\"\")"),
    Case(.words, "let a = \"it tells\"", in: "Tests/FeedsTests/A.swift"),
  ]

  private static let brokenReferences: [Case] = [
    Case(.citations, "// As sina.md says.\n/// (docs/no-such-page.md)\nlet a = 1", at: [1, 2]),
    Case(.citations, "let a = 1  // docs/sources/sina.md#no-such-heading", at: [1]),
    Case(.citations, "// (DESIGN, rule 2)\n// issue 4: two\n// upstreams/a", at: [1, 2, 3]),
    Case(.citations, "/// See `NoSuchFile+Aspect.swift`.", at: [1]),
  ]

  private static let keptReferences: [Case] = [
    Case(.citations, "// docs/candle-rules.md, rule 2a; docs/sources/sina.md#k-lines; README.md"),
    Case(.citations, "// `SourceTree.swift` and schema.sql; the upstreams of a design\nlet a = 1"),
    Case(.citations, "let a = \"docs/no-such-page.md\""),
  ]
}
