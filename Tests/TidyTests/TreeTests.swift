import Foundation
import TestTraits
import Testing

@testable import candled_tidy

@Suite(.ownThread) struct TreeTests {
  @Test(arguments: Rule.all)
  func `the whole tree keeps the rule`(_ rule: Rule) throws {
    for violation in try SourceTree.files().flatMap(rule.violations) {
      Issue.record("\(violation)")
    }
  }

  @Test func `the walk finds the files it checks`() throws {
    let paths = try SourceTree.files().map(\.path)
    #expect(paths.contains("Tests/TidyTests/TreeTests.swift"))
    #expect(paths.contains("Sources/Market/ExactDecimal.swift"))
    #expect(Set(paths).count == paths.count)
  }

  @Test func `every product target has a row in the import table, and every row a target`() throws {
    let targets = Set(try SourceTree.files().filter(\.isProduct).map(\.target))
    #expect(targets == Set(Rule.importable.keys))
  }

  @Test func `swift format finds nothing to change`() throws {
    let (status, output) = try Formatter.lint(["--recursive", "--parallel", "Sources", "Tests"])
    #expect(status == 0, "\(output)")
  }

  @Test func `swift format does refuse a badly formatted file`() throws {
    let (status, output) = try Formatter.lint([], standardInput: "struct  A { let a = 1; }\n")
    #expect(status != 0)
    #expect(output.contains("Spacing"), "\(output)")
  }
}

private enum Formatter {
  /// Runs the toolchain's formatter in the package's root.
  /// - Returns: its exit status and what it said.
  static func lint(
    _ arguments: [String], standardInput: String = ""
  ) throws -> (status: Int32, output: String) {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments =
      ["swift", "format", "lint", "--strict", "--configuration", ".swift-format"] + arguments
    process.currentDirectoryURL = SourceTree.root
    let (input, output) = (Pipe(), Pipe())
    process.standardInput = input
    process.standardOutput = output
    process.standardError = output
    try process.run()
    try input.fileHandleForWriting.write(contentsOf: Data(standardInput.utf8))
    try input.fileHandleForWriting.close()
    let printed = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return (process.terminationStatus, String(decoding: printed, as: UTF8.self))
  }
}
