import Admin
import Foundation
import Operations
import Testing

/// What README.md lists, held to the code in both directions. A failure prints what belongs there.
@Suite struct ReadmeTests {
  private let readme: String

  init() throws {
    readme = try String(contentsOf: SourceTree.root.appending(path: "README.md"), encoding: .utf8)
  }

  @Test func `README has the generated reference of settings`() {
    #expect(readme.contains("\n\n" + Settings.reference + "\n"), "\(Settings.reference)")
  }

  @Test func `README has the generated reference of metrics`() {
    let table = MetricTable.families.reference()
    #expect(readme.contains("\n\n" + table + "\n"), "\(table)")
  }

  @Test func `README has every exit code and no other`() {
    let table =
      "| code | meaning |\n|---|---|\n"
      + Operations.ExitCode.allCases.map { "| \($0.rawValue) | \($0.meaning) |\n" }.joined()
    #expect(readme.contains("\n\n" + table + "\n"), "\(table)")
  }

  @Test func `README has every subcommand and no other`() throws {
    let table =
      "| command | what it does |\n|---|---|\n"
      + (try CommandTree.leaves()).map { "| `\($0.path)` | \($0.abstract) |\n" }.joined()
    #expect(readme.contains("\n\n" + table + "\n"), "\(table)")
  }

  @Test func `README speaks of no command that is not there`() throws {
    let known = Set(
      try CommandTree.leaves().compactMap { $0.path.split(separator: " ").dropFirst().first })
    let spoken = readme.matches(of: /(?:`|\n\$ |\$ )candled ([a-z]+)/).map(\.output.1)
    #expect(spoken.count > 10)
    #expect(spoken.filter { !known.contains($0) }.isEmpty)
  }

  @Test func `README has every module of the package and no other`() throws {
    let package = try String(
      contentsOf: SourceTree.root.appending(path: "Package.swift"), encoding: .utf8)
    let folders = try FileManager.default.contentsOfDirectory(
      atPath: SourceTree.root.appending(path: "Sources").path)
    let rows =
      readme.split(separator: "| module | room for |").last?
      .split(separator: "\n\n").first?.split(separator: "\n").dropFirst(1) ?? []
    let listed = rows.flatMap { row in
      (row.split(separator: "|").first ?? "").matches(of: /`(\w+)`/).map { String($0.output.1) }
    }
    #expect(listed.sorted() == folders.sorted())
    for module in listed { #expect(package.contains("\"\(module)\""), "\(module)") }
  }

  @Test func `the proofs README names are there`() throws {
    let targets = try SourceTree.files().filter { !$0.isProduct }
    let names = readme.matches(of: /`(\w+Tests)`/).map(\.output.1)
    #expect(names.count > 10)
    for name in Set(names) {
      #expect(targets.contains { $0.name == "\(name).swift" }, "no file \(name).swift")
    }
  }
}

/// The subcommands as the sources declare them, in the order of the help.
private struct CommandTree {
  var name: String
  var abstract: String
  var children: [String]

  static func leaves() throws -> [(path: String, abstract: String)] {
    let files = try SourceTree.files().filter { $0.target == "candled" }
    let commands = files.map { file in
      declared(in: file.text.lines.map(\.raw).joined(separator: "\n"))
    }
    let everywhere = commands.reduce(into: [:]) { $0.merge($1) { first, _ in first } }
    return commands.flatMap { local -> [(path: String, abstract: String)] in
      guard let root = local["Candled"] else { return [] }
      return root.leaves(path: [], in: local, everywhere, commands)
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
