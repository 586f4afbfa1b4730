import TestTraits
import Testing

@Suite(.ownThread) struct `The command line explains itself` {
  static let subcommands = ["check", "config", "schema"]
  static let commands =
    [[]] + subcommands.map { [$0] } + ["print", "example"].map { ["config", $0] }
    + ["print", "apply", "check"].map { ["schema", $0] }
    + ["status", "check", "upgrade", "discard"].map { ["database", $0] }
    + ["show", "link", "unlink"].map { ["instrument", $0] }
    + ["candles", "why", "disagreements"].map { ["query", $0] }

  @Test func `the root's help lists every subcommand and exits 0`() throws {
    let run = try BuiltBinary.run(["--help"])
    #expect(run.status == 0)
    #expect(run.errors.isEmpty)
    let listed = run.output.split(separator: "\n").compactMap { line in
      line.hasPrefix("  ") ? line.split(separator: " ").first.map(String.init) : nil
    }
    for subcommand in Self.subcommands { #expect(listed.contains(subcommand)) }
  }

  @Test(arguments: commands)
  func `every help has a section with examples`(command: [String]) throws {
    let run = try BuiltBinary.run(command + ["--help"])
    #expect(run.status == 0)
    #expect(run.output.contains("\nEXAMPLES:\n  candled "))
    // ArgumentParser does not wrap the synopsis.
    let lines = run.output.split(separator: "\n").filter { !$0.hasPrefix("USAGE:") }
    #expect(lines.allSatisfy { $0.count <= 80 })
  }

  @Test func `defaults are shown as they are typed`() throws {
    #expect(try BuiltBinary.run(["query", "candles", "--help"]).output.contains("default: 1m)"))
    #expect(try BuiltBinary.run(["backfill", "--help"]).output.contains("default: 1d)"))
  }

  @Test func `an option nobody knows is a usage error`() throws {
    let run = try BuiltBinary.run(["check", "--colour"])
    #expect(run.status == 64)
    #expect(run.output.isEmpty)
    #expect(run.errors.contains("--colour"))
  }

  @Test func `a subcommand nobody knows is a usage error`() throws {
    let run = try BuiltBinary.run(["bake"])
    #expect(run.status == 64)
    #expect(run.output.isEmpty)
    #expect(run.errors.contains("bake"))
  }

  @Test func `the version is one line`() throws {
    let run = try BuiltBinary.run(["--version"])
    #expect(run.status == 0)
    #expect(run.output.hasPrefix("0."))
    #expect(run.output.split(separator: "\n").count == 1)
  }

  @Test(arguments: [["--help"], ["--version"], ["schema", "print"]])
  func `a reader that left is no failure and no noise`(command: [String]) throws {
    let run = try BuiltBinary.runWithoutReader(command)
    #expect(run.status == 0)
    #expect(run.errors.isEmpty)
  }
}
