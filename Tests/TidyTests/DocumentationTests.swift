import Admin
import Foundation
import Ingest
import Operations
import Testing

@testable import candled_tidy

/// What README.md and the pages of docs/ list, held to the code in both directions. A failure
/// prints what belongs there.
@Suite struct DocumentationTests {
  private let pages: [DocumentPage]

  init() throws { pages = try DocumentPage.all() }

  /// All pages, one below the other.
  private var texts: String { pages.map(\.text).joined(separator: "\n\n") }

  private func text(of path: String) throws -> String {
    try #require(pages.first { $0.path == path }, "no page \(path)").text
  }

  @Test func `the page of settings has the generated reference`() throws {
    let page = try text(of: "docs/reference/settings.md")
    let table = SettingTable.candled.reference
    #expect(page.hasSuffix("\n\n" + table), "\(table)")
  }

  @Test func `every setting that is declared is in the table`() throws {
    let declared = try SourceTree.files().filter(\.isProduct).flatMap { file in
      file.text.lines.map(\.raw).joined(separator: "\n")
        .matches(of: /\bSetting\.\w+\(\s*"([a-z_.]+)"/).map { String($0.output.1) }
    }
    #expect(declared.sorted() == SettingTable.candled.keys.sorted())
  }

  @Test func `the page of metrics has the generated reference`() throws {
    let table = MetricTable.families.reference()
    let page = try text(of: "docs/reference/metrics.md")
    #expect(page.hasSuffix("\n\n" + table), "\(table)")
  }

  @Test func `the page of exit codes has every one and no other`() throws {
    let table =
      "| code | meaning |\n|---|---|\n"
      + Operations.ExitCode.allCases.map { "| \($0.rawValue) | \($0.meaning) |\n" }.joined()
    let page = try text(of: "docs/reference/exit-codes.md")
    #expect(page.hasSuffix("\n\n" + table), "\(table)")
  }

  @Test func `the page of commands has every subcommand and no other`() throws {
    let table =
      "| command | what it does |\n|---|---|\n"
      + (try CommandTree.leaves()).map { "| `\($0.path)` | \($0.abstract) |\n" }.joined()
    let page = try text(of: "docs/reference/commands.md")
    #expect(page.hasSuffix("\n\n" + table), "\(table)")
  }

  @Test func `the documents name no command that is not there`() throws {
    let known = Set(
      try CommandTree.leaves().map { leaf in
        leaf.path.split(separator: " ").prefix(2).joined(separator: " ")
      })
    let named = texts.matches(of: /(?:`|\n\$ |\$ |sudo )(candled(?:-gateway)? [a-z][a-z-]*)/)
      .map { String($0.output.1) }
    #expect(named.count > 10)
    #expect(named.filter { !known.contains($0) }.isEmpty)
  }

  @Test func `the page of the architecture has every module and no other`() throws {
    let package = try String(
      contentsOf: SourceTree.root.appending(path: "Package.swift"), encoding: .utf8)
    let folders = try FileManager.default.contentsOfDirectory(
      atPath: SourceTree.root.appending(path: "Sources").path)
    let page = try text(of: "docs/architecture.md")
    let rows =
      page.split(separator: "| module | contents |").last?
      .split(separator: "\n\n").first?.split(separator: "\n").dropFirst(1) ?? []
    let listed = rows.flatMap { row in
      (row.split(separator: "|").first ?? "").matches(of: /`([\w-]+)`/).map { String($0.output.1) }
    }
    #expect(listed.sorted() == folders.sorted())
    for module in listed { #expect(package.contains("\"\(module)\""), "\(module)") }
  }

  @Test func `the proofs that the documents name are there`() throws {
    let tests = try SourceTree.files().filter { !$0.isProduct }
    let proof = /`(\w+Tests)`/
    #expect(try text(of: "README.md").matches(of: proof).count >= 5)
    let names = texts.matches(of: proof).map(\.output.1)
    #expect(names.count > 60)
    for name in Set(names) {
      #expect(tests.contains { $0.name == "\(name).swift" }, "no file \(name).swift")
    }
  }

  @Test func `the scripts that the documents name are there`() {
    let names = Set(texts.matches(of: /\bscript\/([a-z-]+)/).map { String($0.output.1) })
    #expect(names.count > 5)
    for name in names {
      let file = SourceTree.root.appending(path: "script/\(name)")
      #expect(FileManager.default.isExecutableFile(atPath: file.path), "no script/\(name)")
    }
  }

  @Test func `README has at most 160 lines and 1200 words`() throws {
    let readme = try text(of: "README.md")
    let lines = readme.split(separator: "\n", omittingEmptySubsequences: false).dropLast().count
    let words = readme.split(whereSeparator: \.isWhitespace).count
    #expect(lines <= 160)
    #expect(words <= 1_200)
  }

  @Test func `every page of docs is linked from README`() throws {
    let readme = try #require(pages.first { $0.path == "README.md" })
    let linked = Set(readme.links.compactMap { $0.file })
    let missing = pages.map(\.path).filter { $0.hasPrefix("docs/") && !linked.contains($0) }
    #expect(missing.isEmpty)
  }

  @Test func `every relative link leads to a file and a heading that are there`() {
    #expect(pages.flatMap(\.links).count > 40)
    for page in pages {
      for link in page.links {
        let file = SourceTree.root.appending(path: link.file ?? "outside the tree")
        #expect(
          FileManager.default.fileExists(atPath: file.path), "\(page.path): \(link.written)")
        guard let anchor = link.anchor else { continue }
        let target = pages.first { $0.path == link.file }
        #expect(target?.anchors.contains(anchor) == true, "\(page.path): \(link.written)")
      }
    }
  }

  @Test func `a page gives its links and headings, those in code left out`() {
    let page = DocumentPage(
      path: "docs/reference/made-up.md",
      text: """
        # What `as_of` sees: a "view"
        [a](../follow.md#start) [b](#what-as_of-sees-a-view) [c](https://swift.org) ![d](/e.svg)
        `[f](g.md)` [h](../../../i.md)
        ```sh
        # no heading
        echo [j](k.md)
        ```
        ## Start
        ## Start
        """)
    #expect(page.anchors == ["what-as_of-sees-a-view", "start", "start-1"])
    #expect(page.links.map(\.file) == ["docs/follow.md", page.path, nil, nil])
    #expect(page.links.map(\.anchor) == ["start", "what-as_of-sees-a-view", nil, nil])
  }
}

/// The subcommands as the sources declare them, in the order of the help.
private struct CommandTree {
  var name: String
  var abstract: String
  var children: [String]

  static func leaves() throws -> [(path: String, abstract: String)] {
    try leaves(of: "Candled", in: "candled") + leaves(of: "CandledDemo", in: "candled-demo")
      + leaves(of: "CandledGateway", in: "candled-gateway")
  }

  private static func leaves(
    of root: String, in target: String
  ) throws -> [(path: String, abstract: String)] {
    let files = try SourceTree.files().filter { $0.target == target }
    let commands = files.map { file in
      declared(in: file.text.lines.map(\.raw).joined(separator: "\n"))
    }
    let everywhere = commands.reduce(into: [:]) { $0.merge($1) { first, _ in first } }
    return commands.flatMap { local -> [(path: String, abstract: String)] in
      guard let tree = local[root] else { return [] }
      return tree.leaves(path: [], in: local, everywhere, commands)
    }
  }

  private func leaves(
    path: [String], in local: [String: CommandTree], _ everywhere: [String: CommandTree],
    _ files: [[String: CommandTree]]
  ) -> [(path: String, abstract: String)] {
    let path = path + [name]
    if children.isEmpty { return [(path.joined(separator: " "), abstract)] }
    return children.flatMap { child -> [(path: String, abstract: String)] in
      // A nested type is meant before one of the same name elsewhere.
      guard let command = local[child] ?? everywhere[child] else { return [] }
      let home = files.first { $0[child]?.abstract == command.abstract } ?? local
      return command.leaves(path: path, in: home, everywhere, files)
    }
  }

  /// By type name.
  private static func declared(in source: String) -> [String: CommandTree] {
    let starts = source.matches(of: /struct (\w+): (?:Async)?ParsableCommand/)
    var commands: [String: CommandTree] = [:]
    for (index, start) in starts.enumerated() {
      let end = index + 1 < starts.count ? starts[index + 1].range.lowerBound : source.endIndex
      let text = source[start.range.lowerBound..<end]
      let type = String(start.output.1)
      let list = text.firstMatch(of: /subcommands: \[([^\]]*)\]/)?.output.1 ?? ""
      commands[type] = CommandTree(
        name: text.firstMatch(of: /commandName: "([^"]+)"/).map { String($0.output.1) }
          ?? type.lowercased(),
        abstract: text.firstMatch(of: /abstract: "([^"]+)"/).map { String($0.output.1) } ?? "",
        children: list.matches(of: /(\w+)\.self/).map { String($0.output.1) })
    }
    return commands
  }
}
